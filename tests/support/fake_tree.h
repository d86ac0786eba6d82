// FakeTree: the nodes of a FakeFileSystem and the walk along a path. Whoever calls holds `mutex`.
#pragma once

#include <cerrno>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_stat.h"
#include "base/limits.h"
#include "base/result.h"
#include "os/clock.h"

namespace hallmark::test {

struct FakeNode {
  FileStat stat;
  std::string bytes;                                          // of a file
  std::string target;                                         // of a link
  std::map<std::string, std::shared_ptr<FakeNode>> children;  // of a folder
  bool unsynced = false;
  int shared_locks = 0;
  bool exclusive_lock = false;
};

struct FakeTree {
  explicit FakeTree(os::Clock& c) : clock(c) { root = make_node(NodeKind::directory, 0755); }

  using NodePtr = std::shared_ptr<FakeNode>;

  /// Where a path leads: its folder, its last component, and the node, if there is one.
  struct Place {
    NodePtr folder;
    std::string name;
    NodePtr node;
    int error_number = 0;  // why there is not even a folder
  };

  NodePtr make_node(NodeKind kind, std::uint32_t mode) {
    auto node = std::make_shared<FakeNode>();
    node->stat.device = 7;
    node->stat.inode = next_inode++;
    node->stat.kind = kind;
    node->stat.mode = mode & 07777;
    node->stat.mtime_ns = node->stat.ctime_ns = clock.now_ns();
    return node;
  }

  void changed(FakeNode& node) {
    node.stat.mtime_ns = node.stat.ctime_ns = clock.now_ns();
    node.stat.size_bytes = node.bytes.size();
  }

  Place find(const std::string& path, bool follow_last) {
    std::size_t hops = 0;
    return find_from(root, path, follow_last, hops);
  }

  Place find_from(NodePtr at, std::string_view path, bool follow_last, std::size_t& hops) {
    std::vector<NodePtr> above;  // for ".."
    std::vector<std::string> left;
    const auto push = [&left](std::string_view text) {
      std::vector<std::string> parts;
      for (std::size_t start = 0; start < text.size();) {
        const std::size_t slash = std::min(text.find('/', start), text.size());
        if (slash > start && text.substr(start, slash - start) != ".")
          parts.emplace_back(text.substr(start, slash - start));
        start = slash + 1;
      }
      left.insert(left.end(), parts.rbegin(), parts.rend());
    };
    push(path);
    Place place{nullptr, "", at, 0};
    while (!left.empty()) {
      const std::string name = std::move(left.back());
      left.pop_back();
      if (at->stat.kind != NodeKind::directory) return {nullptr, name, nullptr, ENOTDIR};
      if (name == "..") {
        if (!above.empty()) {
          at = above.back();
          above.pop_back();
        }
        place = {nullptr, "", at, 0};
        continue;
      }
      const auto child = at->children.find(name);
      if (child == at->children.end()) {
        if (!left.empty()) return {nullptr, name, nullptr, ENOENT};
        return {at, name, nullptr, 0};
      }
      const NodePtr node = child->second;
      if (node->stat.kind == NodeKind::symlink && (follow_last || !left.empty())) {
        if (++hops > limits::kSymlinkHops) return {nullptr, name, nullptr, ELOOP};
        if (node->target.starts_with('/')) {
          at = root;
          above.clear();
        }
        push(node->target);
        place = {nullptr, "", at, 0};
        continue;
      }
      place = {at, name, node, 0};
      above.push_back(at);
      at = node;
    }
    return place;
  }

  Result<NodePtr> make_file(const Place& place, const std::string& path, std::uint32_t mode) {
    if (place.folder == nullptr) return fail(Error::from_errno("create", path, place.error_number));
    if (read_only) return fail(Error::from_errno("create", path, EROFS));
    NodePtr node = make_node(NodeKind::file, mode);
    node->unsynced = true;
    place.folder->children[place.name] = node;
    changed(*place.folder);
    return node;
  }

  Status move(const std::string& from, const std::string& to) {
    const Place source = find(from, false);
    const Place target = find(to, false);
    const auto failed = [&](int error_number) { return fail(Error::from_errno("rename", to, error_number)); };
    if (source.node == nullptr) return failed(source.error_number ? source.error_number : ENOENT);
    if (target.folder == nullptr) return failed(target.error_number ? target.error_number : EBUSY);
    if (read_only) return failed(EROFS);
    if (source.node == target.node) return {};
    const bool source_is_folder = source.node->stat.kind == NodeKind::directory;
    if (target.node != nullptr) {
      const bool target_is_folder = target.node->stat.kind == NodeKind::directory;
      if (target_is_folder && !source_is_folder) return failed(EISDIR);
      if (!target_is_folder && source_is_folder) return failed(ENOTDIR);
      if (target_is_folder && !target.node->children.empty()) return failed(ENOTEMPTY);
    }
    source.folder->children.erase(source.name);
    target.folder->children[target.name] = source.node;
    source.node->stat.ctime_ns = clock.now_ns();
    changed(*source.folder);
    changed(*target.folder);
    return {};
  }

  NodePtr root;
  os::Clock& clock;
  std::mutex mutex;
  std::condition_variable unlocked;
  std::uint64_t next_inode = 2;
  bool read_only = false;
  bool can_clone = false;
  bool can_exchange = true;
  bool network = false;
};

}  // namespace hallmark::test
