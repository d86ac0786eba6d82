// FakeFileSystem: a whole file system in memory, with the meaning of the real one and a clock of the test's.
//
// Folders, files, symbolic links (loops and all), modes, inode numbers that are never used twice, mtime and
// ctime from the clock. Locks hold between FileLocks of one FakeFileSystem and block. Beyond the real one: it
// can lose what was not synced (power_cut), be read-only, be a network file system, and show and change any
// file's bytes. Thread-safe.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "os/clock.h"
#include "os/file_system.h"

namespace hallmark::test {

struct FakeTree;

class FakeFileSystem final : public os::FileSystem {
 public:
  /// Holds "/" and nothing else.
  explicit FakeFileSystem(os::Clock& clock);
  ~FakeFileSystem() override;

  Result<std::optional<FileStat>> lstat(const std::string& path) override;
  Result<std::optional<FileStat>> stat(const std::string& path) override;
  Result<std::string> read_link(const std::string& path) override;
  Result<std::vector<std::string>> list(const std::string& path) override;
  Result<std::unique_ptr<os::ReadableFile>> open_read(const std::string& path) override;
  Result<std::unique_ptr<os::WritableFile>> create(const std::string& path, std::uint32_t mode) override;
  Result<std::unique_ptr<os::WritableFile>> append(const std::string& path, std::uint32_t mode) override;
  Result<std::unique_ptr<os::RandomFile>> open_random(const std::string& path, bool writable) override;
  Status rename(const std::string& from, const std::string& to) override;
  Result<bool> rename_new(const std::string& from, const std::string& to) override;
  Status exchange(const std::string& one, const std::string& other) override;
  Status remove(const std::string& path) override;
  Status remove_folder(const std::string& path) override;
  Status make_folder(const std::string& path, std::uint32_t mode) override;
  Status make_link(const std::string& target, const std::string& path) override;
  Status set_mode(const std::string& path, std::uint32_t mode) override;
  Status touch(const std::string& path, std::int64_t mtime_ns) override;
  Result<bool> clone(const std::string& from, const std::string& to, std::uint32_t mode) override;
  Status copy(const std::string& from, const std::string& to, std::uint32_t mode) override;
  Status sync_folder(const std::string& path) override;
  Result<std::unique_ptr<os::FileLock>> lock(const std::string& path, os::LockMode mode,
                                             os::LockWait wait) override;
  Result<bool> is_network(const std::string& path) override;
  Result<bool> is_writable_folder(const std::string& path) override;

  // For tests.

  /// Makes or replaces a file, and its folders. Asserts that it can.
  void put(const std::string& path, std::string_view bytes, std::uint32_t mode = 0644);
  /// The bytes of a file; asserts that it is one.
  std::string bytes(const std::string& path);
  /// Changes a file's bytes as a failing disk would: neither mtime nor ctime show it.
  void damage(const std::string& path, std::string_view bytes);
  /// All files below a folder, sorted.
  std::vector<std::string> files_below(const std::string& folder);

  void set_read_only(bool read_only);
  void set_can_clone(bool can_clone);
  void set_network(bool network);
  void set_can_exchange(bool can_exchange);
  /// What a machine that loses power may do: every file that was written and not synced keeps its name, while
  /// its bytes are gone (`zeros`: their number is kept).
  enum class Lost { empty, half, zeros };
  void power_cut(Lost how);

 private:
  class Readable;
  class Writable;
  class Random;
  class Lock;

  std::shared_ptr<FakeTree> state_;
};

}  // namespace hallmark::test
