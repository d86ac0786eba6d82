#include "base/path.h"

namespace hallmark::path {

std::string join(std::string_view folder, std::string_view name) {
  if (name.empty()) return std::string(folder);
  if (name.front() == '/' || folder.empty()) return std::string(name);
  std::string joined(folder);
  if (joined.back() != '/') joined.push_back('/');
  joined.append(name);
  return joined;
}

std::string_view parent(std::string_view path) {
  const auto slash = path.rfind('/');
  if (slash == std::string_view::npos) return {};
  return slash == 0 ? path.substr(0, 1) : path.substr(0, slash);
}

std::string_view base_name(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::string_view without_trailing_slashes(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  return path;
}

bool is_within(std::string_view path, std::string_view folder) {
  if (folder == "/") return path.starts_with('/');
  return !folder.empty() && path.starts_with(folder) &&
         (path.size() == folder.size() || path[folder.size()] == '/');
}

std::string relative_below(std::string_view path, std::string_view folder) {
  if (!is_within(path, folder)) return std::string(path);
  if (path.size() == folder.size()) return ".";
  return std::string(path.substr(folder == "/" ? 1 : folder.size() + 1));
}

}  // namespace hallmark::path
