#include "prove/internal/unrecorded.h"

#include "base/path.h"

namespace hallmark::prove {

const BuildGraph* Unrecorded::graph_around(const std::string& path) {
  const std::string parent(path::parent(path));
  const auto [folder, is_new] = folders_.try_emplace(parent);
  if (is_new) folder->second = ninja_folder_above(files_, parent);
  if (!folder->second) return nullptr;
  const auto [graph, is_unread] = graphs_.try_emplace(*folder->second);
  if (is_unread) {
    if (auto read = BuildGraph::read(files_, *folder->second); read.has_value())
      graph->second = std::make_unique<BuildGraph>(*std::move(read));
  }
  return graph->second.get();
}

std::optional<FileStat> Unrecorded::stat(const std::string& path) {
  const auto [known, is_new] = stats_.try_emplace(path);
  if (is_new) {
    if (const auto stat = files_.stat(path); stat.has_value()) known->second = *stat;
  }
  return known->second;
}

std::optional<std::string> Unrecorded::why_outdated(const BuildGraph& graph) {
  const auto [known, is_new] = outdated_.try_emplace(&graph);
  if (!is_new) return known->second;
  for (const auto& edge : graph.edges()) {
    if (!edge.is_generator) continue;
    for (const auto& output : edge.outputs) {
      if (path::base_name(output) != "build.ninja") continue;
      const auto made = stat(output);
      for (const auto& input : graph.without_phony(edge.inputs)) {
        const auto read = stat(input);
        if (made && read && read->mtime_ns > made->mtime_ns)
          return known->second =
                     input + " is newer than build.ninja: the build would be configured again first";
      }
    }
  }
  return known->second;
}

}  // namespace hallmark::prove
