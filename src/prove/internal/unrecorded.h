// Unrecorded: what can be known of steps that nobody recorded, each thing found out once.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/file_stat.h"
#include "os/file_system.h"
#include "prove/build_graph.h"
#include "prove/internal/include_reach.h"

namespace hallmark::prove {

class Unrecorded {
 public:
  explicit Unrecorded(os::FileSystem& files) : files_(files), reach_(files) {}

  /// Of the Ninja build in whose folder `path` lies; nullptr: of none. Valid as long as this.
  const BuildGraph* graph_around(const std::string& path);
  /// Of what the name leads to; nullopt: absent.
  std::optional<FileStat> stat(const std::string& path);
  /// What a compile edge reads by its #include lines.
  std::vector<ReachedFile> includes(const BuildEdge& edge) { return reach_.of(edge.command, edge.cwd); }
  /// Why build.ninja itself is not what a build would use now; nullopt: nothing says so.
  std::optional<std::string> why_outdated(const BuildGraph& graph);

 private:
  os::FileSystem& files_;
  IncludeReach reach_;
  std::map<std::string, std::optional<std::string>> folders_;  ///< a folder -> that of its build
  std::map<std::string, std::unique_ptr<BuildGraph>> graphs_;  ///< nullptr: cannot be read
  std::unordered_map<std::string, std::optional<FileStat>> stats_;
  std::map<const BuildGraph*, std::optional<std::string>> outdated_;
};

}  // namespace hallmark::prove
