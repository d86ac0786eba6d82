// Patterns of files: `*` and `?` within one part of a path, `**` for any number of parts, `!` before a
// pattern takes away.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "os/file_system.h"

namespace hallmark::manifest {

/// Whether a path (relative, without `.` and `..`) matches one pattern, which has no `!`. As the shell, `*`
/// and `**` match no part that begins with a dot unless the pattern's part does.
bool matches(std::string_view pattern, std::string_view path);

/// Finds files by patterns and remembers which folders that depended on. Reads each folder once. Not
/// thread-safe.
class Globber {
 public:
  explicit Globber(os::FileSystem& files) : files_(files) {}

  /// The files (links to files too) that an absolute pattern matches, sorted. Errors: io, limit
  /// (limits::kGlobbedFiles).
  Result<std::vector<std::string>> find(const std::string& pattern);

  const std::set<std::string>& listed_folders() const { return listed_; }

 private:
  Status walk(const std::string& folder, std::string_view rest, std::size_t depth,
              std::vector<std::string>& found);

  os::FileSystem& files_;
  std::set<std::string> listed_;
};

}  // namespace hallmark::manifest
