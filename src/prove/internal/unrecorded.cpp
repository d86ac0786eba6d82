#include "prove/internal/unrecorded.h"

#include "base/limits.h"
#include "base/path.h"

namespace hallmark::prove {

const BuildGraph* Unrecorded::graph_in(const std::string& folder) {
  const auto [graph, is_unread] = graphs_.try_emplace(folder);
  if (is_unread) {
    if (auto read = BuildGraph::read(files_, folder); read.has_value())
      graph->second = std::make_unique<BuildGraph>(*std::move(read));
  }
  return graph->second.get();
}

Status Unrecorded::know(const std::string& folder) {
  HALLMARK_TRY(auto graph, BuildGraph::read(files_, folder));
  graphs_[folder] = std::make_unique<BuildGraph>(std::move(graph));
  return {};
}

const BuildGraph* Unrecorded::graph_of(const std::string& path) {
  const std::string parent(path::parent(path));
  const auto [builds, is_new] = folders_.try_emplace(parent);
  if (is_new) {
    for (auto folder = ninja_folder_above(files_, parent); folder;
         folder = ninja_folder_above(files_, path::parent(*folder))) {
      builds->second.push_back(*folder);
      if (*folder == "/") break;
    }
  }
  for (const auto& folder : builds->second) {
    const auto* graph = graph_in(folder);
    if (graph != nullptr && graph->maker_of(path) != nullptr) return graph;
  }
  for (const auto& [folder, graph] : graphs_) {
    if (graph && graph->maker_of(path) != nullptr) return graph.get();
  }
  return nullptr;
}

std::optional<FileStat> Unrecorded::stat(const std::string& path) {
  const auto [known, is_new] = stats_.try_emplace(path);
  if (is_new) {
    if (const auto stat = files_.stat(path); stat.has_value()) known->second = *stat;
  }
  return known->second;
}

std::optional<Unrecorded::Link> Unrecorded::newest_link(const std::string& path, std::size_t depth) {
  if (path.size() <= 1 || depth > limits::kSymlinkHops) return std::nullopt;
  if (const auto known = links_.find(path); known != links_.end()) return known->second;
  auto newest = newest_link(std::string(path::parent(path)), depth);
  const auto take = [&](std::optional<Link> link) {
    if (link && (!newest || link->changed_ns > newest->changed_ns)) newest = std::move(link);
  };
  const auto stat = files_.lstat(path);
  if (stat.has_value() && *stat && (*stat)->kind == NodeKind::symlink) {
    take(Link{path, (*stat)->ctime_ns});
    if (const auto target = files_.read_link(path); target.has_value())
      take(newest_link(path::join(path::parent(path), *target), depth + 1));
  }
  links_.emplace(path, newest);
  return newest;
}

std::optional<std::string> Unrecorded::why_outdated(const BuildGraph& graph) {
  const auto [known, is_new] = outdated_.try_emplace(&graph);
  if (!is_new) return known->second;
  const auto made = stat(path::join(graph.folder(), "build.ninja"));
  const auto* edge = graph.maker_of(path::join(graph.folder(), "build.ninja"));
  if (edge == nullptr || !made) return known->second;
  for (const auto& input : graph.without_phony(edge->inputs)) {
    const auto read = stat(input);
    if (!read) return known->second = input + " is gone: the build would be configured again first";
    if (read->mtime_ns > made->mtime_ns)
      return known->second = input + " is newer than build.ninja: the build would be configured again first";
  }
  return known->second;
}

}  // namespace hallmark::prove
