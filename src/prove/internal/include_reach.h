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

#include "engine/program_search.h"
#include "inspect/includes.h"
#include "os/file_system.h"
#include "prove/build_graph.h"

namespace hallmark::prove {

struct ReachedFile {
  std::string path;      ///< absolute, without links in its folders
  std::string includer;  ///< absolute; empty: the command names it
  std::size_t line = 0;  ///< in the includer
  bool certain = false;
  std::string named = {};  ///< absolute: as the search came to it, through links
};

/// Reads each file once, for however many compiles. Not thread-safe.
class IncludeReach {
 public:
  explicit IncludeReach(os::FileSystem& files) : files_(files), real_(files) {}

  /// All headers that the compiles of an edge reach; empty if it has none. Sources themselves are left out.
  std::vector<ReachedFile> of(const BuildEdge& edge);

 private:
  struct Unit;
  class Walk;
  const inspect::Includes& includes_of(const std::string& path);
  struct Found {
    std::string path;   ///< without links in its folders; empty: no such file
    std::string named;  ///< as it was looked for
  };
  Found file_at(const std::string& folder, const std::string& spelled);
  bool is_file(const std::string& path);

  os::FileSystem& files_;
  engine::RealPaths real_;
  std::unordered_map<std::string, inspect::Includes> includes_;
  std::unordered_map<std::string, std::string> real_folders_;
  std::unordered_map<std::string, bool> is_file_;
};

}  // namespace hallmark::prove
