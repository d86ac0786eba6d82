// Code generation: runs a generator of the manifest and settles what it made in the build folder.
//
// Both commands run through `hallmark run` and write into an empty folder of their own; the source tree is
// left alone. The result is exactly what the list names: a listed file that was not made and a made file that
// is not listed are errors, a command that fails is an error, and on any error the build folder keeps what it
// had. An unchanged file keeps its time. One caller at a time for each build folder and generator.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "manifest/manifest.h"
#include "os/file_system.h"

namespace hallmark::kernels {

/// Starts commands; room app has the real one.
class Commands {
 public:
  virtual ~Commands() = default;
  struct Ended {
    int exit_code = 0;  ///< as a shell gives it
    std::string out;    ///< of stdout; stderr is the caller's
  };
  /// `environment` is added to the caller's. Errors: no_command, limit (it said more than
  /// limits::kGeneratorListBytes), io.
  virtual Result<Ended> run(const std::vector<std::string>& argv,
                            const std::map<std::string, std::string>& environment,
                            const std::string& cwd) = 0;
};

struct CodegenRequest {
  const manifest::Manifest& manifest;
  const manifest::Codegen& codegen;
  std::map<std::string, std::string> source_folders;
  std::vector<std::string> archs;  ///< identifiers, for `{archs}`
  std::string build_folder;        ///< absolute
  std::string program;             ///< hallmark, absolute
  std::string run_root;            ///< --root of its runs; empty: by its own rule
  std::string copier;              ///< the program that has copy_files() as a verb, absolute
};

/// Copies files (relative to the working folder, with their folders) into a folder; each appears whole. Reads
/// nothing that is there: so an observed copy depends on what it copies alone. Errors: not_found, io,
/// no_space.
Status copy_files(os::FileSystem& files, const std::vector<std::string>& paths, const std::string& from,
                  const std::string& into);

struct Generated {
  std::size_t files = 0;
  std::size_t written = 0;
  std::size_t removed = 0;
};

/// Runs it. Writes gen/NAME/, gen/NAME.list (only if it changed) and gen/NAME.list.d, the dependency file.
/// Errors: invalid (list and files differ, a path leaves the folder), unsupported (the command failed; the
/// message names it and its exit code), limit, io.
Result<Generated> run_codegen(const CodegenRequest& request, os::FileSystem& files, Commands& commands);

/// What each of these generators (by name) made last, by its list. A list whose files are not as they were
/// settled (edited, cut short, removed) is taken away, so that Ninja runs that generator again, and is not in
/// the result.
Result<std::map<std::string, std::vector<std::string>>> generated_lists(
    os::FileSystem& files, const std::string& build_folder, const std::vector<std::string>& codegens);

}  // namespace hallmark::kernels
