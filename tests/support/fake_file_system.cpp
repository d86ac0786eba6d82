#include "support/fake_file_system.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>

#include "base/limits.h"
#include "base/path.h"
#include "support/fake_tree.h"

namespace hallmark::test {

using os::LockMode;
using os::LockWait;

namespace {

tl::unexpected<Error> failed(std::string_view action, const std::string& path, int error_number) {
  return fail(Error::from_errno(action, path, error_number));
}

}  // namespace

class FakeFileSystem::Readable final : public os::ReadableFile {
 public:
  Readable(std::shared_ptr<FakeTree> state, std::shared_ptr<FakeNode> node)
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
  std::shared_ptr<FakeTree> state_;
  std::shared_ptr<FakeNode> node_;
  std::size_t offset_ = 0;
};

class FakeFileSystem::Writable final : public os::WritableFile {
 public:
  Writable(std::shared_ptr<FakeTree> state, std::shared_ptr<FakeNode> node)
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
  std::shared_ptr<FakeTree> state_;
  std::shared_ptr<FakeNode> node_;
};

class FakeFileSystem::Random final : public os::RandomFile {
 public:
  Random(std::shared_ptr<FakeTree> state, std::shared_ptr<FakeNode> node, bool writable)
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
  std::shared_ptr<FakeTree> state_;
  std::shared_ptr<FakeNode> node_;
  bool writable_;
};

class FakeFileSystem::Lock final : public os::FileLock {
 public:
  Lock(std::shared_ptr<FakeTree> state, std::shared_ptr<FakeNode> node, LockMode mode)
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
  std::shared_ptr<FakeTree> state_;
  std::shared_ptr<FakeNode> node_;
  LockMode mode_;
};

FakeFileSystem::FakeFileSystem(os::Clock& clock) : state_(std::make_shared<FakeTree>(clock)) {}
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
  HALLMARK_TRY(const auto node, state_->make_file(place, path, mode));
  return std::make_unique<Writable>(state_, node);
}

Result<std::unique_ptr<os::WritableFile>> FakeFileSystem::append(const std::string& path,
                                                                 std::uint32_t mode) {
  const std::lock_guard guard(state_->mutex);
  const auto place = state_->find(path, true);
  if (place.node == nullptr) {
    HALLMARK_TRY(const auto node, state_->make_file(place, path, mode));
    return std::make_unique<Writable>(state_, node);
  }
  if (place.node->stat.kind == NodeKind::directory) return failed("open", path, EISDIR);
  if (state_->read_only) return failed("open", path, EROFS);
  return std::make_unique<Writable>(state_, place.node);
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
  return state_->move(from, to);
}

Result<bool> FakeFileSystem::rename_new(const std::string& from, const std::string& to) {
  const std::lock_guard guard(state_->mutex);
  if (state_->find(to, false).node != nullptr) return false;
  HALLMARK_CHECK(state_->move(from, to));
  return true;
}

Status FakeFileSystem::exchange(const std::string& one, const std::string& other) {
  const std::lock_guard guard(state_->mutex);
  const auto a = state_->find(one, false);
  const auto b = state_->find(other, false);
  for (const auto* place : {&a, &b}) {
    if (place->node == nullptr)
      return failed("exchange", other, place->error_number ? place->error_number : ENOENT);
  }
  if (!state_->can_exchange) return failed("exchange", other, EINVAL);
  if (state_->read_only) return failed("exchange", other, EROFS);
  a.folder->children[a.name] = b.node;
  b.folder->children[b.name] = a.node;
  a.node->stat.ctime_ns = b.node->stat.ctime_ns = state_->clock.now_ns();
  state_->changed(*a.folder);
  state_->changed(*b.folder);
  return {};
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

void FakeFileSystem::set_can_exchange(bool can_exchange) {
  const std::lock_guard guard(state_->mutex);
  state_->can_exchange = can_exchange;
}

void FakeFileSystem::set_network(bool network) {
  const std::lock_guard guard(state_->mutex);
  state_->network = network;
}

void FakeFileSystem::power_cut(Lost how) {
  const std::lock_guard guard(state_->mutex);
  const auto lose = [&](auto&& self, FakeNode& node) -> void {
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
