// What the operating system says about one path, as plain values.
#pragma once

#include <cstdint>

namespace hallmark {

enum class NodeKind : std::uint8_t { file, directory, symlink, other };

/// A file's identity and attributes. Two equal values a while apart mean that the file was not changed
/// between, except within the clock tick of `ctime_ns` on kernels without multigrain timestamps
/// (limits::kRacyWindow_ns).
struct FileStat {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t size_bytes = 0;
  std::int64_t mtime_ns = 0;  ///< since the epoch
  std::int64_t ctime_ns = 0;  ///< since the epoch
  std::uint32_t mode = 0;     ///< permission bits, 07777
  NodeKind kind = NodeKind::other;
  /// Names of the inode. No part of the comparison: the ctime tells that one came or went, and not every
  /// source of a FileStat knows it (1 then).
  std::uint32_t links = 1;

  bool operator==(const FileStat& other) const {
    return device == other.device && inode == other.inode && size_bytes == other.size_bytes &&
           mtime_ns == other.mtime_ns && ctime_ns == other.ctime_ns && mode == other.mode &&
           kind == other.kind;
  }
  bool executable() const { return (mode & 0111) != 0; }
};

}  // namespace hallmark
