#include "os/tree.h"

#include <algorithm>

#include "base/format.h"
#include "base/limits.h"
#include "base/path.h"

namespace hallmark::os {
namespace {

Error too_deep(const std::string& path) {
  return {ErrorKind::limit,
          formatted("{}: folders nest deeper than {} (kFolderDepth)", path, limits::kFolderDepth),
          {}};
}

Status remove_below(FileSystem& files, const std::string& path, std::size_t depth) {
  HALLMARK_TRY(const auto stat, files.lstat(path));
  if (!stat) return {};
  if (stat->kind != NodeKind::directory) return files.remove(path);
  if (depth > limits::kFolderDepth) return fail(too_deep(path));
  HALLMARK_TRY(const auto names, files.list(path));
  for (const auto& name : names) HALLMARK_CHECK(remove_below(files, path::join(path, name), depth + 1));
  return files.remove_folder(path);
}

Status collect(FileSystem& files, const std::string& folder, const std::string& below, std::size_t depth,
               std::vector<std::string>& found) {
  if (depth > limits::kFolderDepth) return fail(too_deep(folder));
  HALLMARK_TRY(const auto names, files.list(folder));
  for (const auto& name : names) {
    const auto path = path::join(folder, name);
    const auto relative = below.empty() ? name : path::join(below, name);
    HALLMARK_TRY(const auto stat, files.lstat(path));
    if (!stat) continue;  // gone since
    if (stat->kind == NodeKind::directory) {
      HALLMARK_CHECK(collect(files, path, relative, depth + 1, found));
    } else {
      found.push_back(relative);
    }
  }
  return {};
}

}  // namespace

Status remove_tree(FileSystem& files, const std::string& path) {
  return remove_below(files, path, 0);
}

Result<std::vector<std::string>> files_below(FileSystem& files, const std::string& folder) {
  std::vector<std::string> found;
  HALLMARK_TRY(const auto stat, files.stat(folder));
  if (!stat) return found;
  HALLMARK_CHECK(collect(files, folder, "", 0, found));
  std::ranges::sort(found);
  return found;
}

}  // namespace hallmark::os
