// ForwardingFileSystem: another file system, call by call. A test overrides what shall be otherwise.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "os/file_system.h"

namespace hallmark::test {

class ForwardingFileSystem : public os::FileSystem {
 public:
  explicit ForwardingFileSystem(os::FileSystem& inner) : inner_(inner) {}

  Result<std::optional<FileStat>> lstat(const std::string& path) override { return inner_.lstat(path); }
  Result<std::optional<FileStat>> stat(const std::string& path) override { return inner_.stat(path); }
  Result<std::string> read_link(const std::string& path) override { return inner_.read_link(path); }
  Result<std::vector<std::string>> list(const std::string& path) override { return inner_.list(path); }
  Result<std::unique_ptr<os::ReadableFile>> open_read(const std::string& path) override {
    return inner_.open_read(path);
  }
  Result<std::unique_ptr<os::WritableFile>> create(const std::string& path, std::uint32_t mode) override {
    return inner_.create(path, mode);
  }
  Result<std::unique_ptr<os::WritableFile>> append(const std::string& path, std::uint32_t mode) override {
    return inner_.append(path, mode);
  }
  Result<std::unique_ptr<os::RandomFile>> open_random(const std::string& path, bool writable) override {
    return inner_.open_random(path, writable);
  }
  Status rename(const std::string& from, const std::string& to) override { return inner_.rename(from, to); }
  Result<bool> rename_new(const std::string& from, const std::string& to) override {
    return inner_.rename_new(from, to);
  }
  Status exchange(const std::string& one, const std::string& other) override {
    return inner_.exchange(one, other);
  }
  Status remove(const std::string& path) override { return inner_.remove(path); }
  Status remove_folder(const std::string& path) override { return inner_.remove_folder(path); }
  Status make_folder(const std::string& path, std::uint32_t mode) override {
    return inner_.make_folder(path, mode);
  }
  Status make_link(const std::string& target, const std::string& path) override {
    return inner_.make_link(target, path);
  }
  Status set_mode(const std::string& path, std::uint32_t mode) override {
    return inner_.set_mode(path, mode);
  }
  Status touch(const std::string& path, std::int64_t mtime_ns) override {
    return inner_.touch(path, mtime_ns);
  }
  Result<bool> clone(const std::string& from, const std::string& to, std::uint32_t mode) override {
    return inner_.clone(from, to, mode);
  }
  Status copy(const std::string& from, const std::string& to, std::uint32_t mode) override {
    return inner_.copy(from, to, mode);
  }
  Status sync_folder(const std::string& path) override { return inner_.sync_folder(path); }
  Result<std::unique_ptr<os::FileLock>> lock(const std::string& path, os::LockMode mode,
                                             os::LockWait wait) override {
    return inner_.lock(path, mode, wait);
  }
  Result<bool> is_network(const std::string& path) override { return inner_.is_network(path); }
  Result<bool> is_writable_folder(const std::string& path) override {
    return inner_.is_writable_folder(path);
  }

 private:
  os::FileSystem& inner_;
};

}  // namespace hallmark::test
