// FaultFileSystem: another file system that fails at a chosen step.
//
// Steps are the calls that change something (create, append, write, write_at, rename, remove, ...), counted
// from 1. Run a sequence once without a fault, ask steps(), then run it again for each step with a fault
// there. Thread-safe.
#pragma once

#include <atomic>
#include <limits>
#include <memory>
#include <string>

#include "os/file_system.h"

namespace hallmark::test {

class FaultFileSystem final : public os::FileSystem {
 public:
  explicit FaultFileSystem(os::FileSystem& inner) : inner_(inner) {}

  /// As if the process were killed at step `n`: of a write the first half happens, of anything else nothing,
  /// and no later call of any kind has an effect.
  void stop_at(std::uint64_t n) { arm(n, n, 0, true); }
  /// Step `n` alone fails with this errno; a write after its first half.
  void fail_at(std::uint64_t n, int error_number) { arm(n, n, error_number, false); }
  /// Every step from `n` on fails; but files can be removed, as on a full disk.
  void fail_from(std::uint64_t n, int error_number) { arm(n, kNever, error_number, false); }
  /// The n-th read from here on, and all later ones, fail with EIO.
  void fail_reads_from(std::uint64_t n) {
    reads_ = 0;
    first_bad_read_ = n;
  }
  /// No faults from here on, and the counts start again.
  void heal();

  std::uint64_t steps() const { return steps_; }
  std::uint64_t reads() const { return reads_; }
  bool stopped() const { return stopped_; }

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

 private:
  class Readable;
  class Writable;
  class Random;
  static constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

  void arm(std::uint64_t first, std::uint64_t last, int error_number, bool stop);
  /// Counts a step; an Error if it must not happen.
  Status step(std::string_view action, const std::string& path);
  Status look(std::string_view action, const std::string& path);
  Status read_step(const std::string& path);

  os::FileSystem& inner_;
  std::atomic<std::uint64_t> steps_{0};
  std::atomic<std::uint64_t> reads_{0};
  std::atomic<std::uint64_t> first_{kNever};
  std::atomic<std::uint64_t> last_{kNever};
  std::atomic<std::uint64_t> first_bad_read_{kNever};
  std::atomic<int> error_number_{0};
  std::atomic<bool> stop_{false};
  std::atomic<bool> stopped_{false};
};

}  // namespace hallmark::test
