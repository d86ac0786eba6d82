#include "os/internal/linux_descriptor.h"

namespace hallmark::os {
namespace {

std::int64_t nanoseconds(const timespec& t) {
  return static_cast<std::int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

NodeKind kind_of_mode(mode_t mode) {
  if (S_ISREG(mode)) return NodeKind::file;
  if (S_ISDIR(mode)) return NodeKind::directory;
  if (S_ISLNK(mode)) return NodeKind::symlink;
  return NodeKind::other;
}

}  // namespace

FileStat to_file_stat(const struct stat& from) {
  FileStat stat;
  stat.device = from.st_dev;
  stat.inode = from.st_ino;
  stat.size_bytes = static_cast<std::uint64_t>(from.st_size);
  stat.mtime_ns = nanoseconds(from.st_mtim);
  stat.ctime_ns = nanoseconds(from.st_ctim);
  stat.mode = from.st_mode & 07777;
  stat.links = static_cast<std::uint32_t>(from.st_nlink);
  stat.kind = kind_of_mode(from.st_mode);
  return stat;
}

Result<FileStat> stat_descriptor(int descriptor, const std::string& path) {
  struct stat raw {};
  if (::fstat(descriptor, &raw) != 0) return fail(Error::from_errno("stat", path));
  return to_file_stat(raw);
}

Status write_all(int descriptor, ByteView bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = retried([&] { return ::write(descriptor, bytes.data(), bytes.size()); });
    if (written < 0) return fail(Error::from_errno("write", path));
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return {};
}

}  // namespace hallmark::os
