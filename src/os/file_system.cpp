#include "os/file_system.h"

#include <algorithm>

#include "base/format.h"
#include "base/path.h"

namespace hallmark::os {
namespace {

constexpr std::size_t kFirstRead = 4096;  // bytes, of a file that does not say its size

}  // namespace

Result<std::string> read_file(FileSystem& files, const std::string& path, std::size_t max_bytes) {
  HALLMARK_TRY(const auto file, files.open_read(path));
  HALLMARK_TRY(const FileStat stat, file->stat());
  const auto too_long = [&] {
    return fail({ErrorKind::limit, formatted("read {}: longer than {} bytes", path, max_bytes), {}});
  };
  if (stat.size_bytes > max_bytes) return too_long();

  // One byte more than the size says: a whole file then needs one read, and growth shows. /proc says 0.
  std::string bytes;
  std::size_t filled = 0;
  const std::size_t first = stat.size_bytes > 0 ? static_cast<std::size_t>(stat.size_bytes) + 1 : kFirstRead;
  for (std::size_t room = first;; room = bytes.size() + std::max(bytes.size(), kFirstRead)) {
    bytes.resize(room);
    const std::size_t asked = bytes.size() - filled;
    HALLMARK_TRY(const std::size_t got,
                 file->read({reinterpret_cast<std::uint8_t*>(bytes.data()) + filled, asked}));
    filled += got;
    if (filled > max_bytes) return too_long();
    const bool whole = got == 0 || (stat.size_bytes > 0 && filled == stat.size_bytes);
    if (!whole) continue;
    bytes.resize(filled);
    return bytes;
  }
}

Status make_folders(FileSystem& files, const std::string& path) {
  const auto is_folder = [&]() -> Result<bool> {
    HALLMARK_TRY(const auto stat, files.stat(path));
    return stat && stat->kind == NodeKind::directory;
  };
  HALLMARK_TRY(const bool there, is_folder());
  if (there) return {};
  const std::string above(path::parent(path));
  if (!above.empty() && above != path) HALLMARK_CHECK(make_folders(files, above));
  const Status made = files.make_folder(path, 0777);
  if (made.has_value()) return {};
  HALLMARK_TRY(const bool made_by_a_peer, is_folder());
  if (made_by_a_peer) return {};
  return made;
}

Status replace(FileSystem& files, const std::string& from, const std::string& to) {
  HALLMARK_TRY(const bool was_absent, files.rename_new(from, to));
  if (was_absent) return {};
  if (!files.exchange(from, to).has_value()) return files.rename(from, to);
  (void)files.remove(from);  // what was there before; a temporary's name, which its owner sweeps
  return {};
}

Status write_file_atomically(FileSystem& files, const std::string& path, std::string_view bytes,
                             std::string_view unique, bool sync) {
  const std::string temporary = formatted("{}.{}.tmp", path, unique);
  const auto write = [&]() -> Status {
    HALLMARK_TRY(const auto file, files.create(temporary, 0666));
    HALLMARK_CHECK(file->write(as_bytes(bytes)));
    if (sync) HALLMARK_CHECK(file->sync());
    HALLMARK_CHECK(file->close());
    return sync ? files.rename(temporary, path) : replace(files, temporary, path);
  };
  Status written = write();
  if (!written.has_value()) {
    (void)files.remove(temporary);
    return written;
  }
  if (!sync) return {};
  const auto folder = path::parent(path);
  return files.sync_folder(folder.empty() ? "." : std::string(folder));
}

}  // namespace hallmark::os
