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

  /// Of the Ninja build that makes `path`: of those in whose folders it lies the nearest, else one that is
  /// known; nullptr: none does. Valid as long as this.
  const BuildGraph* graph_of(const std::string& path);
  Status know(const std::string& folder);
  /// Of what the name leads to; nullopt: absent.
  std::optional<FileStat> stat(const std::string& path);
  struct Link {
    std::string path;
    std::int64_t changed_ns = 0;  ///< when its node last changed
  };
  /// Of the symbolic links that the name goes through, the one that was changed last: what lies behind it may
  /// be as old as it likes. nullopt: it goes through none.
  std::optional<Link> newest_link(const std::string& path) { return newest_link(path, 0); }
  /// What a compile edge reads by its #include lines.
  std::vector<ReachedFile> includes(const BuildEdge& edge) { return reach_.of(edge); }
  /// Why build.ninja itself is not what a build would use now; nullopt: nothing says so.
  std::optional<std::string> why_outdated(const BuildGraph& graph);

 private:
  os::FileSystem& files_;
  IncludeReach reach_;
  std::optional<Link> newest_link(const std::string& path, std::size_t depth);
  const BuildGraph* graph_in(const std::string& folder);
  std::unordered_map<std::string, std::vector<std::string>>
      folders_;                                                ///< a folder -> those of builds around it
  std::map<std::string, std::unique_ptr<BuildGraph>> graphs_;  ///< nullptr: cannot be read
  std::unordered_map<std::string, std::optional<FileStat>> stats_;
  std::unordered_map<std::string, std::optional<Link>> links_;
  std::map<const BuildGraph*, std::optional<std::string>> outdated_;
};

}  // namespace hallmark::prove
