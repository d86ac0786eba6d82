#include "observe/internal/path_resolver.h"

#include "base/limits.h"

namespace hallmark::observe {
namespace {

constexpr std::uint64_t kFolderSeed = 0x5be1;
constexpr std::string_view kThreadSelf = "thread-self";

Disk disk_from(const FileStat& stat) {
  switch (stat.kind) {
    case NodeKind::file:
      return Disk::file;
    case NodeKind::directory:
      return Disk::folder;
    case NodeKind::symlink:
      return Disk::link;
    case NodeKind::other:
      break;
  }
  return Disk::other;
}

std::string_view without_trailing_slashes(std::string_view path) {
  while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  return path;
}

}  // namespace

std::optional<FileStat> PathResolver::look(NodeId id) {
  tree_.path_of(id, path_);
  const auto answer = files_.lstat(path_);
  // What cannot be looked at (no permission on the way) is absent to the command as well.
  const std::optional<FileStat> stat = answer ? *answer : std::nullopt;
  Node& node = tree_[id];
  node.disk = stat ? disk_from(*stat) : Disk::absent;
  if (node.disk == Disk::link) {
    const auto target = files_.read_link(path_);
    if (!target) {
      node.disk = Disk::unknown;
      return stat;
    }
    if (tree_.text(node.target) != *target) node.target = tree_.keep(*target);
  }
  return stat;
}

Disk PathResolver::disk_of(NodeId id, std::optional<FileStat>* stat) {
  const Node& node = tree_[id];
  // Links below /proc/<number> lead elsewhere at any time.
  if (node.disk == Disk::unknown || node.zone == Zone::process) {
    auto now = look(id);
    if (stat != nullptr) *stat = now;
  }
  return tree_[id].disk;
}

bool PathResolver::names_its_reader(NodeId id) const {
  const Node& node = tree_[id];
  if (node.zone != Zone::kernel || node.parent == kRootNode || tree_[node.parent].parent != kRootNode)
    return false;
  const std::string_view name = tree_.text(node.name);
  return (name == "self" || name == kThreadSelf) && tree_.text(tree_[node.parent].name) == "proc";
}

NodeId PathResolver::self_folder(NodeId id, pid_t thread) {
  if (!names_its_reader(id)) return kNone;
  const Node& node = tree_[id];
  const bool of_thread = tree_.text(node.name) == kThreadSelf;
  NodeId folder = tree_.child(node.parent, std::to_string(processes_.process_of(thread)));
  if (of_thread) folder = tree_.child(tree_.child(folder, "task"), std::to_string(thread));
  return folder;
}

Resolved PathResolver::resolve(std::string_view path, bool follow, pid_t thread,
                               const std::optional<FileStat>& known) {
  root_ = kRootNode;
  hops_ = 0;
  cacheable_ = true;
  const std::string_view spelled = without_trailing_slashes(path);
  if (spelled.size() != path.size()) follow = true;  // a trailing slash asks for a folder
  const auto slash = spelled.rfind('/');
  const std::string_view name = spelled.substr(slash + 1);
  if (slash == std::string_view::npos || slash == 0 || name == "." || name == "..") {
    return walk(kRootNode, spelled, follow, thread, known);
  }
  const std::string_view folder = spelled.substr(0, slash);
  const std::uint64_t key = hash_of(folder, kFolderSeed);
  NodeId from = kNone;
  if (const auto found = folders_.find(key)) {
    from = *found;
  } else {
    Resolved above = walk(kRootNode, folder, true, thread, std::nullopt);
    above.last = false;
    if (above.end != WalkEnd::found) return above;
    from = above.node;
    const Disk disk = disk_of(from, nullptr);
    if (disk == Disk::absent) return {from, WalkEnd::absent, std::nullopt, false};
    if (disk != Disk::folder) return {from, WalkEnd::not_folder, std::nullopt, false};
    if (cacheable_) folders_.put(key, from);
  }
  return walk(from, name, follow, thread, known);
}

Resolved PathResolver::walk(NodeId from, std::string_view names, bool follow, pid_t thread,
                            const std::optional<FileStat>& known) {
  NodeId at = from;
  for (;;) {
    while (!names.empty() && names.front() == '/') names.remove_prefix(1);
    if (names.empty()) return {at, WalkEnd::found, std::nullopt, true};
    const auto slash = names.find('/');
    const std::string_view name = names.substr(0, slash);
    std::string_view rest = slash == std::string_view::npos ? std::string_view{} : names.substr(slash);
    const bool last = rest.empty();
    if (name == ".") {
      names = rest;
      continue;
    }
    if (name == "..") {
      listener_.on_left_folder(at);
      if (at != root_ && at != kRootNode) at = tree_[at].parent;
      names = rest;
      continue;
    }
    const NodeId next = tree_.child(at, name);
    if (tree_[next].zone == Zone::process) cacheable_ = false;
    const NodeId self = last && !follow ? kNone : self_folder(next, thread);
    if (self != kNone) {
      cacheable_ = false;
      at = self;
      names = rest;
      continue;
    }
    std::optional<FileStat> stat;
    Disk disk = Disk::unknown;
    if (last) {
      disk = tree_[next].disk;
      const bool told = known && disk != Disk::unknown && disk != Disk::absent && disk != Disk::link;
      if (told) {
        stat = known;
        disk = tree_[next].disk = disk_from(*known);
      } else {
        stat = look(next);
        disk = tree_[next].disk;
        if (disk == Disk::absent && known) {  // it existed for the process, and went since
          return {next, WalkEnd::found, known, true};
        }
      }
    } else {
      disk = disk_of(next, &stat);
    }
    if (disk == Disk::absent) return {next, WalkEnd::absent, std::nullopt, last};
    if (disk == Disk::link && (!last || follow)) {
      const std::string_view target = tree_.text(tree_[next].target);
      if (++hops_ > limits::kSymlinkHops) return {next, WalkEnd::loop, stat, last};
      if (tree_[next].zone == Zone::process) {
        if (!target.starts_with('/') || target.ends_with(" (deleted)"))
          return {next, WalkEnd::nameless, std::nullopt, last};
        if (tree_.text(tree_[next].name) == "root" && target != "/") {
          root_ = tree_.at(target);
          at = root_;
          names = rest;
          continue;
        }
      } else {
        listener_.on_link(next);
      }
      std::string joined;
      joined.reserve(target.size() + rest.size());
      joined.append(target).append(rest);
      if (target.starts_with('/')) at = tree_[next].zone == Zone::process ? kRootNode : root_;
      pending_.swap(joined);  // `names` may lie in the old buffer: swap after joining
      names = pending_;
      continue;
    }
    if (last) return {next, WalkEnd::found, stat, true};
    if (disk != Disk::folder) return {next, WalkEnd::not_folder, stat, false};
    at = next;
    names = rest;
  }
}

}  // namespace hallmark::observe
