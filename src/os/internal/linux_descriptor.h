// What the files of the Linux file system share: an owned descriptor, and calls on it.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <string>
#include <utility>

#include "base/bytes.h"
#include "base/file_stat.h"
#include "base/result.h"
#include "os/file_system.h"

namespace hallmark::os {

/// Repeats a system call that a signal interrupted.
template <class Call>
auto retried(Call call) {
  decltype(call()) result;
  do {
    result = call();
  } while (result < 0 && errno == EINTR);
  return result;
}

/// Owns a descriptor.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int number() const { return number_; }
  bool open() const { return number_ >= 0; }
  /// close(2) may report what an earlier write could not; it frees the descriptor even when it fails.
  int close() { return ::close(release()); }
  /// Hands the descriptor to another owner.
  int release() { return std::exchange(number_, -1); }

 private:
  int number_;
};

inline Descriptor open_file(const std::string& path, int flags, std::uint32_t mode = 0) {
  return Descriptor(
      retried([&] { return ::open(path.c_str(), flags | O_CLOEXEC, static_cast<mode_t>(mode)); }));
}

FileStat to_file_stat(const struct stat& from);
Result<FileStat> stat_descriptor(int descriptor, const std::string& path);
Status write_all(int descriptor, ByteView bytes, const std::string& path);

class LinuxReadableFile final : public ReadableFile {
 public:
  LinuxReadableFile(Descriptor descriptor, std::string path)
      : descriptor_(std::move(descriptor)), path_(std::move(path)) {}

  Result<std::size_t> read(std::span<std::uint8_t> into) override {
    const ssize_t got = retried([&] { return ::read(descriptor_.number(), into.data(), into.size()); });
    if (got < 0) return fail(Error::from_errno("read", path_));
    return static_cast<std::size_t>(got);
  }
  Result<FileStat> stat() override { return stat_descriptor(descriptor_.number(), path_); }

 private:
  Descriptor descriptor_;
  std::string path_;
};

}  // namespace hallmark::os
