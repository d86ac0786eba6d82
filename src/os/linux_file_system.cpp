#include <dirent.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <utility>

#include "base/limits.h"
#include "base/path.h"
#include "os/file_system.h"
#include "os/internal/linux_descriptor.h"
#include "os/internal/linux_unseen_file.h"

namespace hallmark::os {
namespace {

constexpr std::size_t kCopyChunkBytes = 256u << 10;

bool means_absent(int error_number) {
  return error_number == ENOENT || error_number == ENOTDIR || error_number == ENAMETOOLONG ||
         error_number == ELOOP;
}

Result<std::optional<FileStat>> stat_path(const std::string& path, int flags) {
  struct stat raw {};
  if (::fstatat(AT_FDCWD, path.c_str(), &raw, flags) == 0) return to_file_stat(raw);
  if (means_absent(errno)) return std::nullopt;
  return fail(Error::from_errno("stat", path));
}

class LinuxWritableFile final : public WritableFile {
 public:
  LinuxWritableFile(Descriptor descriptor, std::string path)
      : descriptor_(std::move(descriptor)), path_(std::move(path)) {}

  Status write(ByteView bytes) override { return write_all(descriptor_.number(), bytes, path_); }
  Status sync() override {
    if (retried([&] { return ::fdatasync(descriptor_.number()); }) != 0) {
      return fail(Error::from_errno("sync", path_));
    }
    return {};
  }
  Status close() override {
    if (!descriptor_.open()) return {};
    // EINTR from close(2) says nothing of the data: on Linux the descriptor is gone and writes were accepted.
    if (descriptor_.close() != 0 && errno != EINTR) return fail(Error::from_errno("close", path_));
    return {};
  }

 private:
  Descriptor descriptor_;
  std::string path_;
};

class LinuxRandomFile final : public RandomFile {
 public:
  LinuxRandomFile(Descriptor descriptor, std::string path)
      : descriptor_(std::move(descriptor)), path_(std::move(path)) {}

  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::uint8_t> into) override {
    std::size_t filled = 0;
    while (filled < into.size()) {
      const ssize_t got = retried([&] {
        return ::pread(descriptor_.number(), into.data() + filled, into.size() - filled,
                       static_cast<off_t>(offset + filled));
      });
      if (got < 0) return fail(Error::from_errno("read", path_));
      if (got == 0) break;
      filled += static_cast<std::size_t>(got);
    }
    return filled;
  }
  Status write_at(std::uint64_t offset, ByteView bytes) override {
    while (!bytes.empty()) {
      const ssize_t written = retried([&] {
        return ::pwrite(descriptor_.number(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
      });
      if (written < 0) return fail(Error::from_errno("write", path_));
      offset += static_cast<std::uint64_t>(written);
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
    return {};
  }
  Result<FileStat> stat() override { return stat_descriptor(descriptor_.number(), path_); }

 private:
  Descriptor descriptor_;
  std::string path_;
};

class LinuxFileLock final : public FileLock {
 public:
  explicit LinuxFileLock(Descriptor descriptor) : descriptor_(std::move(descriptor)) {}
  ~LinuxFileLock() override {
    // Not close alone: a child that was forked meanwhile has a copy of the descriptor, and would keep the
    // lock.
    ::flock(descriptor_.number(), LOCK_UN);
  }
  LinuxFileLock(const LinuxFileLock&) = delete;
  LinuxFileLock& operator=(const LinuxFileLock&) = delete;

 private:
  Descriptor descriptor_;
};

/// Best effort: the number is only shown to a person who waits. Always of the same length, so that nothing
/// has to be cut off: ext4 writes out a file that was truncated to nothing as soon as it is closed, and the
/// lock's end would wait for the disk.
void write_holder(int descriptor) {
  std::array<char, 11> text;
  text.fill(' ');
  text.back() = '\n';
  std::to_chars(text.data(), text.data() + text.size() - 1, ::getpid());
  [[maybe_unused]] const ssize_t written = ::pwrite(descriptor, text.data(), text.size(), 0);
}

Status copy_by_hand(int from, int to, const std::string& from_path, const std::string& to_path) {
  Bytes buffer(kCopyChunkBytes);
  for (;;) {
    const ssize_t got = retried([&] { return ::read(from, buffer.data(), buffer.size()); });
    if (got < 0) return fail(Error::from_errno("read", from_path));
    if (got == 0) return {};
    HALLMARK_CHECK(write_all(to, ByteView(buffer).first(static_cast<std::size_t>(got)), to_path));
  }
}

Status copy_content(int from, int to, const std::string& from_path, const std::string& to_path) {
  if (::ioctl(to, FICLONE, from) == 0) return {};
  bool copied_some = false;
  for (;;) {
    constexpr std::size_t kAtOnceBytes = std::size_t{1} << 30;
    const ssize_t copied =
        retried([&] { return ::copy_file_range(from, nullptr, to, nullptr, kAtOnceBytes, 0); });
    if (copied > 0) {
      copied_some = true;
      continue;
    }
    if (copied == 0 && copied_some) return {};
    // Either not supported between these two, or a file that claims to be empty (/proc): read and write
    // decide. Both offsets stand where copy_file_range left them.
    if (copied < 0 && errno == ENOSPC) return fail(Error::from_errno("write", to_path));
    return copy_by_hand(from, to, from_path, to_path);
  }
}

constexpr std::array<std::int64_t, 16> kNetworkMagics{
    NFS_SUPER_MAGIC,       SMB_SUPER_MAGIC,
    0xFE534D42 /* SMB2 */, 0xFF534D42 /* CIFS */,
    FUSE_SUPER_MAGIC,      V9FS_MAGIC,
    CEPH_SUPER_MAGIC,      AFS_SUPER_MAGIC,
    AFS_FS_MAGIC,          CODA_SUPER_MAGIC,
    OCFS2_SUPER_MAGIC,     0x0BD00BD0 /* Lustre */,
    0x47504653 /* GPFS */, 0x19830326 /* BeeGFS */,
    0x01161970 /* GFS2 */, 0x786F4256 /* VirtualBox shared folder */};

class LinuxFileSystem final : public FileSystem {
 public:
  Result<std::optional<FileStat>> lstat(const std::string& path) override {
    return stat_path(path, AT_SYMLINK_NOFOLLOW);
  }
  Result<std::optional<FileStat>> stat(const std::string& path) override { return stat_path(path, 0); }

  Result<std::string> read_link(const std::string& path) override {
    std::array<char, limits::kPathBytes> target;
    const ssize_t size = ::readlink(path.c_str(), target.data(), target.size());
    if (size < 0) return fail(Error::from_errno("read link", path));
    return std::string(target.data(), static_cast<std::size_t>(size));
  }

  Result<std::vector<std::string>> list(const std::string& path) override {
    Descriptor descriptor = open_file(path, O_RDONLY | O_DIRECTORY);
    if (!descriptor.open()) return fail(Error::from_errno("list", path));
    DIR* folder = ::fdopendir(descriptor.number());
    if (folder == nullptr) return fail(Error::from_errno("list", path));
    descriptor.release();  // closedir closes it
    std::vector<std::string> names;
    int error_number = 0;
    for (;;) {
      errno = 0;
      const dirent* entry = ::readdir(folder);
      if (entry == nullptr) {
        error_number = errno;
        break;
      }
      const std::string_view name = entry->d_name;
      if (name != "." && name != "..") names.emplace_back(name);
    }
    ::closedir(folder);
    if (error_number != 0) return fail(Error::from_errno("list", path, error_number));
    std::sort(names.begin(), names.end());
    return names;
  }

  Result<std::unique_ptr<ReadableFile>> open_read(const std::string& path) override {
    // Neither a fifo without a writer nor a terminal may hold us up.
    Descriptor descriptor = open_file(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    if (!descriptor.open()) return fail(Error::from_errno("open", path));
    return std::make_unique<LinuxReadableFile>(std::move(descriptor), path);
  }

  Result<std::unique_ptr<WritableFile>> create(const std::string& path, std::uint32_t mode) override {
    return open_to_write(path, O_WRONLY | O_CREAT | O_EXCL, mode, "create");
  }

  Result<std::unique_ptr<WritableFile>> append(const std::string& path, std::uint32_t mode) override {
    return open_to_write(path, O_WRONLY | O_CREAT | O_APPEND, mode, "open");
  }

  Result<std::unique_ptr<UnseenFile>> create_unseen(const std::string& folder, Unseen unseen) override {
    if (unseen == Unseen::nameless) {
      HALLMARK_TRY(auto file, create_nameless(folder));
      if (file != nullptr) return file;
    }
    return FileSystem::create_unseen(folder, unseen);
  }

  Result<std::unique_ptr<RandomFile>> open_random(const std::string& path, bool writable) override {
    Descriptor descriptor = open_file(path, writable ? O_RDWR : O_RDONLY);
    if (!descriptor.open()) return fail(Error::from_errno("open", path));
    return std::make_unique<LinuxRandomFile>(std::move(descriptor), path);
  }

  Status rename(const std::string& from, const std::string& to) override {
    return done(::rename(from.c_str(), to.c_str()), "rename", to);
  }

  Result<bool> rename_new(const std::string& from, const std::string& to) override {
    if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return true;
    if (errno == EEXIST) return false;
    if (errno != EINVAL && errno != ENOSYS) return fail(Error::from_errno("rename", to));
    // A file system without the flag (NFS): a link is refused if the name is taken, too.
    if (::link(from.c_str(), to.c_str()) != 0) {
      if (errno == EEXIST) return false;
      return fail(Error::from_errno("rename", to));
    }
    HALLMARK_CHECK(done(::unlink(from.c_str()), "remove", from));
    return true;
  }

  Status exchange(const std::string& one, const std::string& other) override {
    return done(::renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE), "exchange",
                other);
  }

  Status remove(const std::string& path) override { return done(::unlink(path.c_str()), "remove", path); }
  Status remove_folder(const std::string& path) override {
    return done(::rmdir(path.c_str()), "remove", path);
  }
  Status make_folder(const std::string& path, std::uint32_t mode) override {
    return done(::mkdir(path.c_str(), static_cast<mode_t>(mode)), "make folder", path);
  }
  Status make_link(const std::string& target, const std::string& path) override {
    return done(::symlink(target.c_str(), path.c_str()), "make link", path);
  }
  Status set_mode(const std::string& path, std::uint32_t mode) override {
    return done(::chmod(path.c_str(), static_cast<mode_t>(mode)), "change mode of", path);
  }

  Status touch(const std::string& path, std::int64_t mtime_ns) override {
    timespec times[2]{};
    times[0].tv_nsec = UTIME_OMIT;
    times[1].tv_sec = static_cast<time_t>(mtime_ns / 1'000'000'000);
    times[1].tv_nsec = mtime_ns % 1'000'000'000;
    if (times[1].tv_nsec < 0) {
      times[1].tv_nsec += 1'000'000'000;
      --times[1].tv_sec;
    }
    return done(::utimensat(AT_FDCWD, path.c_str(), times, AT_SYMLINK_NOFOLLOW), "set time of", path);
  }

  Result<bool> clone(const std::string& from, const std::string& to, std::uint32_t mode) override {
    const Descriptor source = open_file(from, O_RDONLY);
    if (!source.open()) return fail(Error::from_errno("open", from));
    Descriptor target = open_file(to, O_WRONLY | O_CREAT | O_EXCL, mode);
    if (!target.open()) return fail(Error::from_errno("create", to));
    const int failed = ::ioctl(target.number(), FICLONE, source.number()) == 0 ? 0 : errno;
    if (failed == 0) return true;
    ::unlink(to.c_str());
    if (failed == ENOSPC || failed == EDQUOT || failed == EIO)
      return fail(Error::from_errno("write", to, failed));
    return false;
  }

  Status copy(const std::string& from, const std::string& to, std::uint32_t mode) override {
    const Descriptor source = open_file(from, O_RDONLY);
    if (!source.open()) return fail(Error::from_errno("open", from));
    Descriptor target = open_file(to, O_WRONLY | O_CREAT | O_EXCL, mode);
    if (!target.open()) return fail(Error::from_errno("create", to));
    Status copied = copy_content(source.number(), target.number(), from, to);
    if (copied.has_value()) copied = done(target.close(), "close", to);
    if (!copied.has_value()) ::unlink(to.c_str());
    return copied;
  }

  Status sync_folder(const std::string& path) override {
    const Descriptor folder = open_file(path, O_RDONLY | O_DIRECTORY);
    if (!folder.open()) return fail(Error::from_errno("open", path));
    return done(retried([&] { return ::fsync(folder.number()); }), "sync", path);
  }

  Result<std::unique_ptr<FileLock>> lock(const std::string& path, LockMode mode, LockWait wait) override {
    const int operation =
        (mode == LockMode::exclusive ? LOCK_EX : LOCK_SH) | (wait == LockWait::no ? LOCK_NB : 0);
    for (;;) {
      Descriptor descriptor = open_file(path, O_RDWR | O_CREAT, 0666);
      if (!descriptor.open()) return fail(Error::from_errno("open", path));
      if (retried([&] { return ::flock(descriptor.number(), operation); }) != 0) {
        if (errno == EWOULDBLOCK) return std::unique_ptr<FileLock>();
        return fail(Error::from_errno("lock", path));
      }
      // The holder we waited for may have removed the file: then we hold a lock that nobody else can see.
      HALLMARK_TRY(const FileStat held, stat_descriptor(descriptor.number(), path));
      HALLMARK_TRY(const auto named, stat_path(path, 0));
      if (!named || named->inode != held.inode || named->device != held.device) continue;
      if (mode == LockMode::exclusive) write_holder(descriptor.number());
      return std::make_unique<LinuxFileLock>(std::move(descriptor));
    }
  }

  Result<bool> is_network(const std::string& path) override {
    struct statfs info {};
    std::string place = path;
    while (retried([&] { return ::statfs(place.c_str(), &info); }) != 0) {
      if (!means_absent(errno)) return fail(Error::from_errno("stat file system of", place));
      const auto above = path::parent(place);
      if (place == "/" || place == ".") return fail(Error::from_errno("stat file system of", place));
      place = above.empty() ? "." : std::string(above);
    }
    const auto magic = static_cast<std::int64_t>(static_cast<std::uint32_t>(info.f_type));
    return std::find(kNetworkMagics.begin(), kNetworkMagics.end(), magic) != kNetworkMagics.end();
  }

  Result<bool> is_writable_folder(const std::string& path) override {
    if (::faccessat(AT_FDCWD, path.c_str(), W_OK | X_OK, AT_EACCESS) == 0) return true;
    if (errno == EACCES || errno == EROFS || errno == EPERM) return false;
    return fail(Error::from_errno("look at", path));
  }

 private:
  static Status done(int result, std::string_view action, const std::string& path) {
    if (result == 0) return {};
    return fail(Error::from_errno(action, path));
  }

  static Result<std::unique_ptr<WritableFile>> open_to_write(const std::string& path, int flags,
                                                             std::uint32_t mode, std::string_view action) {
    Descriptor descriptor = open_file(path, flags, mode);
    if (!descriptor.open()) return fail(Error::from_errno(action, path));
    return std::make_unique<LinuxWritableFile>(std::move(descriptor), path);
  }
};

}  // namespace

FileSystem& linux_file_system() {
  static LinuxFileSystem files;
  return files;
}

}  // namespace hallmark::os
