#include "support/fake_file_system.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstdlib>
#include <mutex>

#include "base/limits.h"
#include "base/path.h"

namespace hallmark::test {

using os::LockMode;
using os::LockWait;

struct FakeFileSystem::Node {
  FileStat stat;
  std::string bytes;                                      // of a file
  std::string target;                                     // of a link
  std::map<std::string, std::shared_ptr<Node>> children;  // of a folder
  bool unsynced = false;
  int shared_locks = 0;
  bool exclusive_lock = false;
};

struct FakeFileSystem::State {
  explicit State(os::Clock& c) : clock(c) { root = make_node(NodeKind::directory, 0755); }

  using NodePtr = std::shared_ptr<Node>;

  /// Where a path leads: its folder, its last component, and the node, if there is one.
  struct Place {
    NodePtr folder;
    std::string name;
    NodePtr node;
    int error_number = 0;  // why there is not even a folder
  };

  NodePtr make_node(NodeKind kind, std::uint32_t mode) {
    auto node = std::make_shared<Node>();
    node->stat.device = 7;
    node->stat.inode = next_inode++;
    node->stat.kind = kind;
    node->stat.mode = mode & 07777;
    node->stat.mtime_ns = node->stat.ctime_ns = clock.now_ns();
    return node;
  }

  void changed(Node& node) {
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

  NodePtr root;
  os::Clock& clock;
  std::mutex mutex;
  std::condition_variable unlocked;
  std::uint64_t next_inode = 2;
  bool read_only = false;
  bool can_clone = false;
  bool network = false;
};

namespace {

template <class T = void>
tl::unexpected<Error> failed(std::string_view action, const std::string& path, int error_number) {
  return fail(Error::from_errno(action, path, error_number));
}

}  // namespace

class FakeFileSystem::Readable final : public os::ReadableFile {
 public:
  Readable(std::shared_ptr<State> state, std::shared_ptr<Node> node)
      : state_(std::move(state)), node_(std::move(node)) {}
  Result<std::size_t> read(std::span<std::uint8_t> into) override {
    const std::lock_guard guard(state_->mutex);
    const std::size_t left = node_->bytes.size() - std::min(offset_, node_->bytes.size());
    const std::size_t got = std::min(left, into.size());
    std::copy_n(node_->bytes.begin() + static_cast<std::ptrdiff_t>(offset_), got, into.begin());
    offset_ += got;
    return got;
  }
  Result<FileStat> stat() override {
    const std::lock_guard guard(state_->mutex);
    return node_->stat;
  }

 private:
  std::shared_ptr<State> state_;
  std::shared_ptr<Node> node_;
  std::size_t offset_ = 0;
};

class FakeFileSystem::Writable final : public os::WritableFile {
 public:
  Writable(std::shared_ptr<State> state, std::shared_ptr<Node> node)
      : state_(std::move(state)), node_(std::move(node)) {}
  Status write(ByteView bytes) override {
    const std::lock_guard guard(state_->mutex);
    node_->bytes.append(as_text(bytes));
    node_->unsynced = true;
    state_->changed(*node_);
    return {};
  }
  Status sync() override {
    const std::lock_guard guard(state_->mutex);
    node_->unsynced = false;
    return {};
  }
  Status close() override { return {}; }

 private:
  std::shared_ptr<State> state_;
  std::shared_ptr<Node> node_;
};

class FakeFileSystem::Random final : public os::RandomFile {
 public:
  Random(std::shared_ptr<State> state, std::shared_ptr<Node> node, bool writable)
      : state_(std::move(state)), node_(std::move(node)), writable_(writable) {}
  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::uint8_t> into) override {
    const std::lock_guard guard(state_->mutex);
    if (offset >= node_->bytes.size()) return 0;
    const std::size_t got = std::min(node_->bytes.size() - static_cast<std::size_t>(offset), into.size());
    std::copy_n(node_->bytes.begin() + static_cast<std::ptrdiff_t>(offset), got, into.begin());
    return got;
  }
  Status write_at(std::uint64_t offset, ByteView bytes) override {
    const std::lock_guard guard(state_->mutex);
    if (!writable_) return failed("write", "file", EBADF);
    if (state_->read_only) return failed("write", "file", EROFS);
    const std::size_t end = static_cast<std::size_t>(offset) + bytes.size();
    if (node_->bytes.size() < end) node_->bytes.resize(end, '\0');
    std::copy(bytes.begin(), bytes.end(), node_->bytes.begin() + static_cast<std::ptrdiff_t>(offset));
    node_->unsynced = true;
    state_->changed(*node_);
    return {};
  }
  Result<FileStat> stat() override {
    const std::lock_guard guard(state_->mutex);
    return node_->stat;
  }

 private:
  std::shared_ptr<State> state_;
  std::shared_ptr<Node> node_;
  bool writable_;
};

class FakeFileSystem::Lock final : public os::FileLock {
 public:
  Lock(std::shared_ptr<State> state, std::shared_ptr<Node> node, LockMode mode)
      : state_(std::move(state)), node_(std::move(node)), mode_(mode) {}
  ~Lock() override {
    const std::lock_guard guard(state_->mutex);
    if (mode_ == LockMode::exclusive) {
      node_->exclusive_lock = false;
    } else {
      --node_->shared_locks;
    }
    state_->unlocked.notify_all();
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  std::shared_ptr<State> state_;
  std::shared_ptr<Node> node_;
  LockMode mode_;
};

FakeFileSystem::FakeFileSystem(os::Clock& clock) : state_(std::make_shared<State>(clock)) {}
FakeFileSystem::~FakeFileSystem() = default;

Result<std::optional<FileStat>> FakeFileSystem::lstat(const std::string& path) {
  const std::lock_guard guard(state_->mutex);
  const auto place = state_->find(path, false);
  if (place.node == nullptr) return std::nullopt;
  return place.node->stat;
}

Result<std::optional<FileStat>> FakeFileSystem::stat(const std::string& path) {
  const std::lock_guard guard(state_->mutex);
  const auto place = state_->find(path, true);
  if (place.node == nullptr) return std::nullopt;
  return place.node->stat;
}

Result<std::string> FakeFileSystem::read_link(const std::string& path) {
  const std::lock_guard guard(state_->mutex);
  const auto place = state_->find(path, false);
  if (place.node == nullptr)
    return failed("read link", path, place.error_number ? place.error_number : ENOENT);
  if (place.node->stat.kind != NodeKind::symlink) return failed("read link", path, EINVAL);
  return place.node->target;
}

Result<std::vector<std::string>> FakeFileSystem::list(const std::string& path) {
  const std::lock_guard guard(state_->mutex);
  const auto place = state_->find(path, true);
  if (place.node == nullptr) return failed("list", path, place.error_number ? place.error_number : ENOENT);
  if (place.node->stat.kind != NodeKind::directory) return failed("list", path, ENOTDIR);
  std::vector<std::string> names;
  for (const auto& [name, child] : place.node->children) names.push_back(name);
  return names;
}

Result<std::unique_ptr<os::ReadableFile>> FakeFileSystem::open_read(const std::string& path) {
  const std::lock_guard guard(state_->mutex);
  const auto place = state_->find(path, true);
  if (place.node == nullptr) return failed("open", path, place.error_number ? place.error_number : ENOENT);
  return std::make_unique<Readable>(state_, place.node);
}

Result<std::unique_ptr<os::WritableFile>> FakeFileSystem::create(const std::string& path,
                                                                 std::uint32_t mode) {
  const std::lock_guard guard(state_->mutex);
  const auto place = state_->find(path, false);
  if (place.node != nullptr) return failed("create", path, EEXIST);
  if (place.folder == nullptr) return failed("create", path, place.error_number);
  if (state_->read_only) return failed("create", path, EROFS);
  const auto node = state_->make_node(NodeKind::file, mode);
  node->unsynced = true;
  place.folder->children[place.name] = node;
  state_->changed(*place.folder);
  return std::make_unique<Writable>(state_, node);
}

Result<std::unique_ptr<os::WritableFile>> FakeFileSystem::append(const std::string& path,
                                                                 std::uint32_t mode) {
  {
    const std::lock_guard guard(state_->mutex);
    const auto place = state_->find(path, true);
    if (place.node != nullptr) {
      if (place.node->stat.kind == NodeKind::directory) return failed("open", path, EISDIR);
      if (state_->read_only) return failed("open", path, EROFS);
      return std::make_unique<Writable>(state_, place.node);
    }
  }
  return create(path, mode);
}

Result<std::unique_ptr<os::RandomFile>> FakeFileSystem::open_random(const std::string& path, bool writable) {
  const std::lock_guard guard(state_->mutex);
  const auto place = state_->find(path, true);
  if (place.node == nullptr) return failed("open", path, place.error_number ? place.error_number : ENOENT);
  if (place.node->stat.kind == NodeKind::directory && writable) return failed("open", path, EISDIR);
  if (state_->read_only && writable) return failed("open", path, EROFS);
  return std::make_unique<Random>(state_, place.node, writable);
}

Status FakeFileSystem::rename(const std::string& from, const std::string& to) {
  const std::lock_guard guard(state_->mutex);
  const auto source = state_->find(from, false);
  const auto target = state_->find(to, false);
  if (source.node == nullptr) return failed("rename", to, source.error_number ? source.error_number : ENOENT);
  if (target.folder == nullptr)
    return failed("rename", to, target.error_number ? target.error_number : EBUSY);
  if (state_->read_only) return failed("rename", to, EROFS);
  if (source.node == target.node) return {};
  const bool source_is_folder = source.node->stat.kind == NodeKind::directory;
  if (target.node != nullptr) {
    const bool target_is_folder = target.node->stat.kind == NodeKind::directory;
    if (target_is_folder && !source_is_folder) return failed("rename", to, EISDIR);
    if (!target_is_folder && source_is_folder) return failed("rename", to, ENOTDIR);
    if (target_is_folder && !target.node->children.empty()) return failed("rename", to, ENOTEMPTY);
  }
  source.folder->children.erase(source.name);
  target.folder->children[target.name] = source.node;
  source.node->stat.ctime_ns = state_->clock.now_ns();
  state_->changed(*source.folder);
  state_->changed(*target.folder);
  return {};
}

Result<bool> FakeFileSystem::rename_new(const std::string& from, const std::string& to) {
  {
    const std::lock_guard guard(state_->mutex);
    if (state_->find(to, false).node != nullptr) return false;
  }
  HALLMARK_CHECK(rename(from, to));
  return true;
}

Status FakeFileSystem::remove(const std::string& path) {
  const std::lock_guard guard(state_->mutex);
  const auto place = state_->find(path, false);
  if (place.node == nullptr) return failed("remove", path, place.error_number ? place.error_number : ENOENT);
  if (place.node->stat.kind == NodeKind::directory) return failed("remove", path, EISDIR);
  if (state_->read_only) return failed("remove", path, EROFS);
  place.folder->children.erase(place.name);
  place.node->stat.ctime_ns = state_->clock.now_ns();
  state_->changed(*place.folder);
  return {};
}

Status FakeFileSystem::remove_folder(const std::string& path) {
  const std::lock_guard guard(state_->mutex);
  const auto place = state_->find(path, false);
  if (place.node == nullptr) return failed("remove", path, place.error_number ? place.error_number : ENOENT);
  if (place.node->stat.kind != NodeKind::directory) return failed("remove", path, ENOTDIR);
  if (!place.node->children.empty()) return failed("remove", path, ENOTEMPTY);
  if (place.folder == nullptr) return failed("remove", path, EBUSY);
  if (state_->read_only) return failed("remove", path, EROFS);
  place.folder->children.erase(place.name);
  state_->changed(*place.folder);
  return {};
}

Status FakeFileSystem::make_folder(const std::string& path, std::uint32_t mode) {
  const std::lock_guard guard(state_->mutex);
  const auto place = state_->find(path, false);
  if (place.node != nullptr) return failed("make folder", path, EEXIST);
  if (place.folder == nullptr) return failed("make folder", path, place.error_number);
  if (state_->read_only) return failed("make folder", path, EROFS);
  place.folder->children[place.name] = state_->make_node(NodeKind::directory, mode);
  state_->changed(*place.folder);
  return {};
}

Status FakeFileSystem::make_link(const std::string& target, const std::string& path) {
  const std::lock_guard guard(state_->mutex);
  const auto place = state_->find(path, false);
  if (place.node != nullptr) return failed("make link", path, EEXIST);
  if (place.folder == nullptr) return failed("make link", path, place.error_number);
  if (state_->read_only) return failed("make link", path, EROFS);
  const auto node = state_->make_node(NodeKind::symlink, 0777);
  node->target = target;
  node->stat.size_bytes = target.size();
  place.folder->children[place.name] = node;
  state_->changed(*place.folder);
  return {};
}

Status FakeFileSystem::set_mode(const std::string& path, std::uint32_t mode) {
  const std::lock_guard guard(state_->mutex);
  const auto place = state_->find(path, true);
  if (place.node == nullptr)
    return failed("change mode of", path, place.error_number ? place.error_number : ENOENT);
  if (state_->read_only) return failed("change mode of", path, EROFS);
  place.node->stat.mode = mode & 07777;
  place.node->stat.ctime_ns = state_->clock.now_ns();
  return {};
}

Status FakeFileSystem::touch(const std::string& path, std::int64_t mtime_ns) {
  const std::lock_guard guard(state_->mutex);
  const auto place = state_->find(path, false);
  if (place.node == nullptr)
    return failed("set time of", path, place.error_number ? place.error_number : ENOENT);
  if (state_->read_only) return failed("set time of", path, EROFS);
  place.node->stat.mtime_ns = mtime_ns;
  place.node->stat.ctime_ns = state_->clock.now_ns();
  return {};
}

Result<bool> FakeFileSystem::clone(const std::string& from, const std::string& to, std::uint32_t mode) {
  {
    const std::lock_guard guard(state_->mutex);
    if (!state_->can_clone) return false;
  }
  HALLMARK_CHECK(copy(from, to, mode));
  return true;
}

Status FakeFileSystem::copy(const std::string& from, const std::string& to, std::uint32_t mode) {
  HALLMARK_TRY(const std::string content, os::read_file(*this, from, limits::kBlobBytes));
  HALLMARK_TRY(const auto file, create(to, mode));
  HALLMARK_CHECK(file->write(as_bytes(content)));
  return file->close();
}

Status FakeFileSystem::sync_folder(const std::string& path) {
  HALLMARK_CHECK(list(path));
  return {};
}

Result<std::unique_ptr<os::FileLock>> FakeFileSystem::lock(const std::string& path, LockMode mode,
                                                           LockWait wait) {
  for (;;) {
    {
      HALLMARK_TRY(const auto made, append(path, 0666));
      HALLMARK_CHECK(made->close());
    }
    std::unique_lock guard(state_->mutex);
    const auto node = state_->find(path, true).node;
    if (node == nullptr) continue;
    const auto is_free = [&] {
      return !node->exclusive_lock && (mode == LockMode::shared || node->shared_locks == 0);
    };
    if (!is_free()) {
      if (wait == LockWait::no) return std::unique_ptr<os::FileLock>();
      state_->unlocked.wait(guard, is_free);
    }
    if (state_->find(path, true).node != node) continue;  // the holder removed it
    if (mode == LockMode::exclusive) {
      node->exclusive_lock = true;
      node->bytes = "4711\n";
      state_->changed(*node);
    } else {
      ++node->shared_locks;
    }
    return std::make_unique<Lock>(state_, node, mode);
  }
}

Result<bool> FakeFileSystem::is_network(const std::string&) {
  const std::lock_guard guard(state_->mutex);
  return state_->network;
}

Result<bool> FakeFileSystem::is_writable_folder(const std::string& path) {
  const std::lock_guard guard(state_->mutex);
  const auto place = state_->find(path, true);
  if (place.node == nullptr) return failed("look at", path, place.error_number ? place.error_number : ENOENT);
  return !state_->read_only;
}

void FakeFileSystem::put(const std::string& path, std::string_view content, std::uint32_t mode) {
  const std::string folder(path::parent(path));
  ASSERT_TRUE(os::make_folders(*this, folder.empty() ? "/" : folder).has_value()) << path;
  (void)remove(path);
  auto file = create(path, mode);
  ASSERT_TRUE(file.has_value()) << path;
  ASSERT_TRUE((*file)->write(as_bytes(content)).has_value());
  ASSERT_TRUE((*file)->sync().has_value());
}

std::string FakeFileSystem::bytes(const std::string& path) {
  const std::lock_guard guard(state_->mutex);
  const auto place = state_->find(path, true);
  if (place.node == nullptr || place.node->stat.kind != NodeKind::file) {
    ADD_FAILURE() << path << " is no file";
    return {};
  }
  return place.node->bytes;
}

void FakeFileSystem::damage(const std::string& path, std::string_view content) {
  const std::lock_guard guard(state_->mutex);
  const auto place = state_->find(path, true);
  ASSERT_NE(place.node, nullptr) << path;
  place.node->bytes = content;
  place.node->stat.size_bytes = content.size();
}

std::vector<std::string> FakeFileSystem::files_below(const std::string& folder) {
  std::vector<std::string> found;
  const auto names = list(folder);
  if (!names.has_value()) return found;
  for (const std::string& name : *names) {
    const std::string path = path::join(folder, name);
    const auto stat = lstat(path);
    if (!stat.has_value() || !stat->has_value()) continue;
    if ((*stat)->kind == NodeKind::directory) {
      const auto below = files_below(path);
      found.insert(found.end(), below.begin(), below.end());
    } else {
      found.push_back(path);
    }
  }
  return found;
}

void FakeFileSystem::set_read_only(bool read_only) {
  const std::lock_guard guard(state_->mutex);
  state_->read_only = read_only;
}

void FakeFileSystem::set_can_clone(bool can_clone) {
  const std::lock_guard guard(state_->mutex);
  state_->can_clone = can_clone;
}

void FakeFileSystem::set_network(bool network) {
  const std::lock_guard guard(state_->mutex);
  state_->network = network;
}

void FakeFileSystem::power_cut(Lost how) {
  const std::lock_guard guard(state_->mutex);
  const auto lose = [&](auto&& self, Node& node) -> void {
    for (const auto& [name, child] : node.children) self(self, *child);
    if (node.stat.kind != NodeKind::file || !node.unsynced) return;
    if (how == Lost::empty) node.bytes.clear();
    if (how == Lost::half) node.bytes.resize(node.bytes.size() / 2);
    if (how == Lost::zeros) std::fill(node.bytes.begin(), node.bytes.end(), '\0');
    node.stat.size_bytes = node.bytes.size();
    node.unsynced = false;
  };
  lose(lose, *state_->root);
}

}  // namespace hallmark::test
