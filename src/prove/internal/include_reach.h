// IncludeReach: which files a compile reads, as far as #include lines and the words of its command tell.
//
// A file is **certain** if it is reached through lines that the compile surely reads; else the compile may
// skip it. Headers of the compiler's own folders, which no word names, are not looked for.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "inspect/includes.h"
#include "os/file_system.h"

namespace hallmark::prove {

struct ReachedFile {
  std::string path;      ///< absolute, as it was found
  std::string includer;  ///< absolute; empty: the command names it
  std::size_t line = 0;  ///< in the includer
  bool certain = false;
};

/// Reads each file once, for however many compiles. Not thread-safe.
class IncludeReach {
 public:
  explicit IncludeReach(os::FileSystem& files) : files_(files) {}

  /// Of a command line of a build tool, started in `cwd`: all headers that its compiles of C, C++, CUDA and
  /// HIP sources reach; empty if it has none. Sources themselves are left out.
  std::vector<ReachedFile> of(std::string_view command_line, const std::string& cwd);

 private:
  struct Unit;
  class Walk;
  const std::vector<inspect::Include>& includes_of(const std::string& path);
  bool is_file(const std::string& path);

  os::FileSystem& files_;
  std::unordered_map<std::string, std::vector<inspect::Include>> includes_;
  std::unordered_map<std::string, bool> is_file_;
};

}  // namespace hallmark::prove
