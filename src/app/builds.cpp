#include "app/builds.h"

#include <algorithm>

#include "base/path.h"

namespace hallmark::app {
namespace {

constexpr int kBuildFolderDepth = 2;

void find_builds(os::FileSystem& files, const std::string& folder, int depth,
                 std::vector<std::string>& found) {
  const auto names = files.list(folder);
  if (!names.has_value()) return;
  const auto holds = [&](const char* name) { return std::binary_search(names->begin(), names->end(), name); };
  if (holds("build.ninja") || (holds("Makefile") && holds("CMakeCache.txt"))) found.push_back(folder);
  if (depth == kBuildFolderDepth) return;
  for (const auto& name : *names) {
    const auto path = path::join(folder, name);
    const auto stat = files.lstat(path);
    if (!name.starts_with('.') && stat.has_value() && *stat && (*stat)->kind == NodeKind::directory)
      find_builds(files, path, depth + 1, found);
  }
}

}  // namespace

std::vector<std::string> builds_below(os::FileSystem& files, const std::string& root) {
  std::vector<std::string> found;
  if (root != "/") find_builds(files, root, 0, found);
  return found;
}

}  // namespace hallmark::app
