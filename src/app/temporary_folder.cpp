#include "app/temporary_folder.h"

#include <stdlib.h>

#include "base/limits.h"
#include "base/path.h"

namespace hallmark::app {
namespace {

/// What cannot be removed stays.
void remove_below(os::FileSystem& files, const std::string& folder, std::size_t depth) {
  const auto names = files.list(folder);
  if (!names.has_value() || depth > limits::kFolderDepth) return;
  for (const auto& name : *names) {
    const auto path = path::join(folder, name);
    const auto stat = files.lstat(path);
    if (stat.has_value() && *stat && (*stat)->kind == NodeKind::directory) {
      remove_below(files, path, depth + 1);
      static_cast<void>(files.remove_folder(path));
    } else {
      static_cast<void>(files.remove(path));
    }
  }
}

}  // namespace

Result<TemporaryFolder> TemporaryFolder::make(os::FileSystem& files, const model::Environment& environment,
                                              std::string_view purpose) {
  const auto found = environment.find("TMPDIR");
  const bool is_named = found != environment.end() && found->second.starts_with('/');
  auto pattern = path::join(is_named ? found->second : "/tmp", "hallmark-");
  pattern.append(purpose).append("-").append(6, 'X');
  if (::mkdtemp(pattern.data()) == nullptr) return fail(Error::from_errno("make the folder", pattern));
  return TemporaryFolder(files, pattern);
}

TemporaryFolder::~TemporaryFolder() {
  if (path_.empty()) return;
  clear();
  static_cast<void>(files_.get().remove_folder(path_));
}

void TemporaryFolder::clear() {
  remove_below(files_, path_, 0);
}

}  // namespace hallmark::app
