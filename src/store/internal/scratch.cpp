#include "store/internal/scratch.h"

#include <unistd.h>

#include "base/format.h"
#include "base/limits.h"
#include "base/path.h"

namespace hallmark::store {

Result<std::string> Scratch::new_name() {
  // The steady time tells processes of equal number apart: containers that share a store, and numbers used
  // again.
  return formatted("{}/{}/{}-{}-{:x}", layout_.folder(), Layout::kTemporaries, ::getpid(), next_.fetch_add(1),
                   clock_.steady_ns());
}

Status Scratch::make_parent(const std::string& path) {
  return os::make_folders(files_, std::string(path::parent(path)));
}

Status Scratch::place(const std::string& temporary, const std::string& path) {
  Status placed = os::replace(files_, temporary, path);
  if (!placed.has_value() && placed.error().kind == ErrorKind::not_found) {
    placed = make_parent(path);
    if (placed.has_value()) placed = os::replace(files_, temporary, path);
  }
  if (!placed.has_value()) (void)files_.remove(temporary);
  return placed;
}

Result<bool> Scratch::place_new(const std::string& temporary, const std::string& path) {
  Result<bool> placed = files_.rename_new(temporary, path);
  if (!placed.has_value() && placed.error().kind == ErrorKind::not_found) {
    if (Status made = make_parent(path); made.has_value()) {
      placed = files_.rename_new(temporary, path);
    } else {
      placed = fail(std::move(made).error());
    }
  }
  if (!placed.has_value() || !*placed) (void)files_.remove(temporary);
  return placed;
}

Result<std::string> Scratch::write(std::string_view bytes, std::uint32_t mode) {
  HALLMARK_TRY(std::string temporary, new_name());
  auto file = files_.create(temporary, mode);
  if (!file.has_value() && file.error().kind == ErrorKind::not_found) {
    HALLMARK_CHECK(make_parent(temporary));
    file = files_.create(temporary, mode);
  }
  if (!file.has_value()) return fail(std::move(file).error());
  Status written = (*file)->write(as_bytes(bytes));
  if (written.has_value()) written = (*file)->close();
  if (!written.has_value()) {
    (void)files_.remove(temporary);
    return fail(std::move(written).error());
  }
  return temporary;
}

Status Scratch::sweep() {
  const std::string folder = layout_.at(Layout::kTemporaries);
  HALLMARK_TRY(const auto names, files_.list(folder));
  const std::int64_t now_ns = clock_.now_ns();
  for (const std::string& name : names) {
    const std::string path = path::join(folder, name);
    HALLMARK_TRY(const auto stat, files_.lstat(path));
    if (stat && now_ns - stat->mtime_ns > limits::kStoreSweep_ns) (void)files_.remove(path);
  }
  return {};
}

}  // namespace hallmark::store
