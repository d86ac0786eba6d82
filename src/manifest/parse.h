// Reads hallmark.toml. The only place that knows TOML.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "manifest/manifest.h"
#include "os/file_system.h"

namespace hallmark::manifest {

/// Something wrong in the file. The message is for people: what, and what to do.
struct Problem {
  Place place;
  std::string what;
  std::string hint;  ///< may be empty
};

/// What parse() found: a manifest if `problems` is empty. All problems of the file, in its order, at most
/// limits::kManifestProblems.
struct Parsed {
  Manifest manifest;
  std::vector<Problem> problems;
};

/// `file` is the absolute path that messages name. Touches no disk.
Parsed parse(std::string_view text, std::string file);

/// "FILE:LINE:COLUMN: what; hint", a line for each.
std::string rendered(const std::vector<Problem>& problems, std::string_view file);

/// The absolute path of the manifest that a person means: `where` is a hallmark.toml, or a folder that holds
/// one, or empty: the nearest at or above `cwd`. Error: not_found (says where it looked).
Result<std::string> find(os::FileSystem& files, const std::string& where, const std::string& cwd);

/// Finds and reads it. Errors: not_found, invalid (the rendered problems), limit.
Result<Manifest> load(os::FileSystem& files, const std::string& where, const std::string& cwd);

}  // namespace hallmark::manifest
