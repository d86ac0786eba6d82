#include "kernels/settled_files.h"

#include <algorithm>
#include <map>

#include "base/format.h"
#include "base/limits.h"
#include "base/path.h"

namespace hallmark::kernels {
namespace {

constexpr std::uint32_t kFileMode = 0644;
constexpr std::uint32_t kExecutable = 0111;

bool stays_below(std::string_view path) {
  if (path.empty() || path.front() == '/') return false;
  while (!path.empty()) {
    const auto end = path.find('/');
    const auto part = path.substr(0, end);
    if (part.empty() || part == "." || part == "..") return false;
    path = end == std::string_view::npos ? std::string_view() : path.substr(end + 1);
  }
  return true;
}

Status appear(os::FileSystem& files, const std::string& path, std::string_view bytes, std::uint32_t mode) {
  const std::string folder(path::parent(path));
  HALLMARK_CHECK(os::make_folders(files, folder));
  HALLMARK_TRY(const auto file, files.create_unseen(folder, os::Unseen::nameless));
  HALLMARK_CHECK(file->write(as_bytes(bytes)));
  HALLMARK_CHECK(file->finish(mode));
  return file->appear(path);
}

Result<bool> has_bytes(os::FileSystem& files, const std::string& path, const FileStat& stat,
                       std::string_view wanted) {
  if (stat.kind != NodeKind::file || stat.size_bytes != wanted.size()) return false;
  HALLMARK_TRY(const auto bytes, os::read_file(files, path, limits::kSettledFileBytes));
  return bytes == wanted;
}

}  // namespace

Result<bool> settle_text(os::FileSystem& files, const std::string& path, std::string_view text) {
  HALLMARK_TRY(const auto stat, files.lstat(path));
  if (stat) {
    HALLMARK_TRY(const bool equal, has_bytes(files, path, *stat, text));
    if (equal) return false;
  }
  HALLMARK_CHECK(appear(files, path, text, kFileMode));
  return true;
}

Result<std::set<std::string>> SettledFiles::made() const {
  std::set<std::string> paths;
  const auto record = path::join(folder_, record_);
  HALLMARK_TRY(const auto stat, files_.lstat(record));
  if (!stat) return paths;
  HALLMARK_TRY(const auto text, os::read_file(files_, record, limits::kSettledFileBytes));
  std::size_t begin = 0;
  for (auto end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
    auto path = text.substr(begin, end - begin);
    if (stays_below(path)) paths.insert(std::move(path));  // an edited record removes nothing elsewhere
    begin = end + 1;
  }
  return paths;
}

Status SettledFiles::write_record(const std::set<std::string>& paths) const {
  std::string text;
  for (const auto& path : paths) text.append(path) += '\n';
  HALLMARK_CHECK(settle_text(files_, path::join(folder_, record_), text));
  return {};
}

Result<bool> SettledFiles::is_right(const WantedFile& file) const {
  const auto path = path::join(folder_, file.path);
  HALLMARK_TRY(const auto stat, files_.lstat(path));
  if (!stat) return false;
  switch (file.kind) {
    case WantedFile::Kind::text:
      return has_bytes(files_, path, *stat, file.value);
    case WantedFile::Kind::link: {
      if (stat->kind != NodeKind::symlink) return false;
      HALLMARK_TRY(const auto target, files_.read_link(path));
      return target == file.value;
    }
    case WantedFile::Kind::copy: {
      HALLMARK_TRY(const auto source, files_.stat(file.value));
      if (!source || source->size_bytes != stat->size_bytes ||
          (source->mode & kExecutable) != (stat->mode & kExecutable))
        return false;
      HALLMARK_TRY(const auto bytes, os::read_file(files_, file.value, limits::kSettledFileBytes));
      return has_bytes(files_, path, *stat, bytes);
    }
  }
  return false;
}

Status SettledFiles::make(const WantedFile& file) const {
  const auto path = path::join(folder_, file.path);
  switch (file.kind) {
    case WantedFile::Kind::text:
      return appear(files_, path, file.value, kFileMode);
    case WantedFile::Kind::link: {
      HALLMARK_CHECK(os::make_folders(files_, std::string(path::parent(path))));
      const auto fresh = path + ".hallmark-new";
      HALLMARK_TRY(const auto leftover, files_.lstat(fresh));
      if (leftover) HALLMARK_CHECK(files_.remove(fresh));
      HALLMARK_CHECK(files_.make_link(file.value, fresh));
      return files_.rename(fresh, path);
    }
    case WantedFile::Kind::copy: {
      HALLMARK_TRY(const auto source, files_.stat(file.value));
      if (!source) return fail({ErrorKind::not_found, formatted("copy {}: it is not there", file.value), {}});
      HALLMARK_TRY(const auto bytes, os::read_file(files_, file.value, limits::kSettledFileBytes));
      return appear(files_, path, bytes, kFileMode | (source->mode & kExecutable));
    }
  }
  return {};
}

Result<bool> SettledFiles::remove(const std::string& path) const {
  const auto whole = path::join(folder_, path);
  HALLMARK_TRY(const auto stat, files_.lstat(whole));
  const bool is_there = stat && stat->kind != NodeKind::directory;
  if (is_there) HALLMARK_CHECK(files_.remove(whole));
  // Also of a file that an earlier call removed just before it was killed.
  for (auto folder = path::parent(path); !folder.empty(); folder = path::parent(folder)) {
    const auto above = path::join(folder_, folder);
    HALLMARK_TRY(const auto at, files_.lstat(above));
    if (!at || at->kind != NodeKind::directory) continue;
    HALLMARK_TRY(const auto names, files_.list(above));
    if (!names.empty()) break;
    HALLMARK_CHECK(files_.remove_folder(above));
  }
  return is_there;
}

Result<Settled> SettledFiles::settle(const std::vector<WantedFile>& wanted) {
  std::map<std::string, const WantedFile*> by_path;
  std::set<std::string> paths;
  for (const auto& file : wanted) {
    if (!stays_below(file.path))
      return fail({ErrorKind::invalid, formatted("\"{}\" would lie outside of {}", file.path, folder_), {}});
    by_path[file.path] = &file;
    paths.insert(file.path);
  }
  for (const auto& path : paths)
    for (auto folder = path::parent(path); !folder.empty(); folder = path::parent(folder))
      if (paths.contains(std::string(folder)))
        return fail({ErrorKind::invalid, formatted("\"{}\" would be a file and a folder", folder), {}});

  HALLMARK_TRY(const auto before, made());
  std::set<std::string> all = before;
  all.insert(paths.begin(), paths.end());
  Settled settled;
  HALLMARK_CHECK(write_record(all));  // first: a file that exists is one that a later call may remove
  for (const auto& path : before) {
    if (paths.contains(path)) continue;
    HALLMARK_TRY(const bool removed, remove(path));
    settled.removed += removed ? 1 : 0;
  }
  for (const auto& [path, file] : by_path) {
    HALLMARK_TRY(const bool right, is_right(*file));
    if (right) {
      ++settled.untouched;
      continue;
    }
    HALLMARK_CHECK(make(*file));
    ++settled.written;
  }
  HALLMARK_CHECK(write_record(paths));
  return settled;
}

}  // namespace hallmark::kernels
