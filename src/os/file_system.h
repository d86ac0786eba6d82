// FileSystem: every way in which hallmark touches files, so that a test can lie, fail or stop at any step.
//
// Contract: paths are absolute or relative to the process's working folder. Absence is nullopt where it is an
// expected answer and ErrorKind::not_found elsewhere. No call follows a final symlink unless it says so.
// Thread-safe: every implementation may be used from several threads at once. Nothing is buffered between
// calls. A name that cannot exist (too long, or behind a loop of links) is absent. `mode` of a new file or
// folder is lessened by the umask, as open(2) does.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/file_stat.h"
#include "base/result.h"

namespace hallmark::os {

/// An open file to read from its start. Not thread-safe.
class ReadableFile {
 public:
  virtual ~ReadableFile() = default;
  /// Fills up to `into.size()` bytes; 0 at the end.
  virtual Result<std::size_t> read(std::span<std::uint8_t> into) = 0;
  /// fstat: what is open, whatever the name says by now.
  virtual Result<FileStat> stat() = 0;
};

/// A file being made. Not thread-safe. Destroying it without close() leaves what was written so far.
class WritableFile {
 public:
  virtual ~WritableFile() = default;
  virtual Status write(ByteView bytes) = 0;
  virtual Status sync() = 0;   ///< fdatasync
  virtual Status close() = 0;  ///< reports a late write error
};

/// A new file that nobody sees until it appears under its name. Destroying it before leaves nothing. Not
/// thread-safe.
class UnseenFile {
 public:
  virtual ~UnseenFile() = default;
  virtual Status write(ByteView bytes) = 0;
  /// Shares the blocks of `from` (reflink); false, and still empty, where that is not possible. Only while
  /// empty.
  virtual Result<bool> clone(const std::string& from) = 0;
  /// The bytes from the start, as they are now: a clone is checked by reading it.
  virtual Result<std::unique_ptr<ReadableFile>> read_back() = 0;
  /// Nothing is written any more: reports a late write error, and sets the mode, whatever the umask.
  virtual Status finish(std::uint32_t mode) = 0;
  /// Gives it its name, which lies in its folder, and takes the place of a file or link that is there. Once,
  /// after finish().
  virtual Status appear(const std::string& path) = 0;
};

/// What an unseen file is until it appears.
enum class Unseen {
  nameless,  ///< where the file system can: a killed process leaves nothing; holds a descriptor
  hidden     ///< a temporary `.hallmark-*.tmp`, which a killed process leaves; holds nothing after finish()
};

/// An open file with bytes at fixed places, shared with other processes. Thread-safe.
class RandomFile {
 public:
  virtual ~RandomFile() = default;
  /// Fills up to `into.size()` bytes; fewer only at the end of the file.
  virtual Result<std::size_t> read_at(std::uint64_t offset, std::span<std::uint8_t> into) = 0;
  virtual Status write_at(std::uint64_t offset, ByteView bytes) = 0;
  virtual Result<FileStat> stat() = 0;
};

/// A held lock; destroying it, or the death of the process, releases it.
class FileLock {
 public:
  virtual ~FileLock() = default;
};

enum class LockMode { shared, exclusive };
enum class LockWait { no, yes };

class FileSystem {
 public:
  virtual ~FileSystem() = default;

  virtual Result<std::optional<FileStat>> lstat(const std::string& path) = 0;
  virtual Result<std::optional<FileStat>> stat(const std::string& path) = 0;  ///< follows links
  virtual Result<std::string> read_link(const std::string& path) = 0;
  /// The names in a folder, sorted bytewise, without "." and "..".
  virtual Result<std::vector<std::string>> list(const std::string& path) = 0;

  virtual Result<std::unique_ptr<ReadableFile>> open_read(
      const std::string& path) = 0;  ///< follows links; never blocks
  /// Makes a new file; fails with EEXIST's error if the name is taken.
  virtual Result<std::unique_ptr<WritableFile>> create(const std::string& path, std::uint32_t mode) = 0;
  /// Opens for append, makes it if absent.
  virtual Result<std::unique_ptr<WritableFile>> append(const std::string& path, std::uint32_t mode) = 0;

  /// Begins a new file in `folder`. Unseen::nameless is a wish: this default is hidden all the same.
  virtual Result<std::unique_ptr<UnseenFile>> create_unseen(const std::string& folder, Unseen unseen);

  /// Opens an existing file to read and, if `writable`, to write at any place. Follows links.
  virtual Result<std::unique_ptr<RandomFile>> open_random(const std::string& path, bool writable) = 0;

  virtual Status rename(const std::string& from, const std::string& to) = 0;
  /// Renames only if `to` is absent, in one step; false, and nothing done, if it is there.
  virtual Result<bool> rename_new(const std::string& from, const std::string& to) = 0;
  /// Swaps two existing names in one step. ErrorKind::not_found if one is absent; other errors where it is
  /// not possible.
  virtual Status exchange(const std::string& one, const std::string& other) = 0;
  virtual Status remove(const std::string& path) = 0;         ///< a file or link; absent is not_found
  virtual Status remove_folder(const std::string& path) = 0;  ///< empty
  virtual Status make_folder(const std::string& path, std::uint32_t mode) = 0;
  virtual Status make_link(const std::string& target, const std::string& path) = 0;  ///< symbolic
  virtual Status set_mode(const std::string& path, std::uint32_t mode) = 0;
  virtual Status touch(const std::string& path,
                       std::int64_t mtime_ns) = 0;  ///< sets mtime; does not follow links
  /// Makes a new file that shares the blocks of `from` (reflink); false, and nothing made, where that is not
  /// possible.
  virtual Result<bool> clone(const std::string& from, const std::string& to, std::uint32_t mode) = 0;
  /// Copies content into a new file: reflink, else copy_file_range, else read and write. Never a hard link.
  virtual Status copy(const std::string& from, const std::string& to, std::uint32_t mode) = 0;
  virtual Status sync_folder(const std::string& path) = 0;

  /// Locks a file (made if absent) with flock. With LockWait::no, nullptr if another holds it. The lock is on
  /// the file that has the name when the call returns, so that a holder may remove the file before it lets
  /// go. An exclusive lock writes the process number of its holder into the file.
  virtual Result<std::unique_ptr<FileLock>> lock(const std::string& path, LockMode mode, LockWait wait) = 0;

  /// Whether the file system of `path` (or its nearest existing parent) is one whose stat signatures cannot
  /// be trusted: NFS, FUSE, 9p, CIFS.
  virtual Result<bool> is_network(const std::string& path) = 0;
  /// Whether this process may make names in the folder: false if permissions or a read-only mount forbid it.
  virtual Result<bool> is_writable_folder(const std::string& path) = 0;
};

/// The real one. Stateless; shared by all.
FileSystem& linux_file_system();

/// Reads a whole file; more than `max_bytes` is ErrorKind::limit.
Result<std::string> read_file(FileSystem& files, const std::string& path, std::size_t max_bytes);
/// Makes the folder and its parents.
Status make_folders(FileSystem& files, const std::string& path);
/// Puts `from` under the name `to` in one step, whatever is there. Unlike rename, it never waits for the
/// disk: ext4 writes out a file that is renamed over another, which takes milliseconds on a busy disk. After
/// a power loss `to` may be empty.
Status replace(FileSystem& files, const std::string& from, const std::string& to);
/// New bytes appear under `path` whole or not at all: a temporary beside it, optionally synced, then renamed
/// over. `unique` makes the temporary's name differ from that of other writers.
Status write_file_atomically(FileSystem& files, const std::string& path, std::string_view bytes,
                             std::string_view unique, bool sync);

}  // namespace hallmark::os
