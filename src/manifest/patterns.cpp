#include "manifest/patterns.h"

#include <algorithm>

#include "base/format.h"
#include "base/limits.h"
#include "base/path.h"

namespace hallmark::manifest {
namespace {

constexpr std::string_view kAnyParts = "**";

bool has_wildcard(std::string_view part) {
  return part.find_first_of("*?") != std::string_view::npos;
}

/// One part; time is linear in the product of the lengths (no exponential backtracking).
bool part_matches(std::string_view pattern, std::string_view part) {
  if (part.starts_with('.') && !pattern.starts_with('.')) return false;
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = std::string_view::npos;
  std::size_t resume = 0;
  while (t < part.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == part[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

std::pair<std::string_view, std::string_view> split(std::string_view path) {
  const auto slash = path.find('/');
  return slash == std::string_view::npos ? std::pair(path, std::string_view())
                                         : std::pair(path.substr(0, slash), path.substr(slash + 1));
}

}  // namespace

bool matches(std::string_view pattern, std::string_view path) {
  const auto [part, rest] = split(pattern);
  if (part == kAnyParts) {
    if (rest.empty()) {  // any file at any depth, but none that is hidden
      for (auto left = path; !left.empty(); left = split(left).second)
        if (left.starts_with('.')) return false;
      return !path.empty();
    }
    for (auto left = path; !left.empty(); left = split(left).second) {
      if (matches(rest, left)) return true;
      if (left.starts_with('.')) return false;
    }
    return false;
  }
  const auto [name, below] = split(path);
  if (!part_matches(part, name)) return false;
  return rest.empty() && below.empty() ? true : !rest.empty() && !below.empty() && matches(rest, below);
}

Status Globber::walk(const std::string& folder, std::string_view rest, std::size_t depth,
                     std::vector<std::string>& found) {
  if (depth > limits::kFolderDepth)
    return fail({ErrorKind::limit,
                 formatted("{}: folders nest deeper than {} (kFolderDepth)", folder, limits::kFolderDepth),
                 {}});
  const auto [part, more] = split(rest);
  const auto add = [&](const std::string& path) -> Status {
    if (found.size() >= limits::kGlobbedFiles)
      return fail({ErrorKind::limit,
                   formatted("a pattern matches more than {} files (kGlobbedFiles)", limits::kGlobbedFiles),
                   {}});
    found.push_back(path);
    return {};
  };
  const auto enter = [&](const std::string& path, const FileStat& stat, std::string_view left) -> Status {
    if (stat.kind == NodeKind::directory) return walk(path, left, depth + 1, found);
    return {};
  };
  if (!has_wildcard(part)) {
    const auto path = path::join(folder, part);
    HALLMARK_TRY(const auto stat, files_.stat(path));
    if (!stat) return {};
    if (!more.empty()) return enter(path, *stat, more);
    return stat->kind == NodeKind::file ? add(path) : Status();
  }
  HALLMARK_TRY(const auto here, files_.stat(folder));
  if (!here || here->kind != NodeKind::directory) return {};
  listed_.insert(folder);
  HALLMARK_TRY(const auto names, files_.list(folder));
  for (const auto& name : names) {
    const auto path = path::join(folder, name);
    if (part == kAnyParts) {
      if (name.starts_with('.')) continue;
      // Links to folders are not followed: they could lead round in circles.
      HALLMARK_TRY(const auto own, files_.lstat(path));
      if (own && own->kind == NodeKind::directory) HALLMARK_CHECK(walk(path, rest, depth + 1, found));
      continue;
    }
    if (!part_matches(part, name)) continue;
    HALLMARK_TRY(const auto stat, files_.stat(path));
    if (!stat) continue;
    if (!more.empty()) {
      HALLMARK_CHECK(enter(path, *stat, more));
    } else if (stat->kind == NodeKind::file) {
      HALLMARK_CHECK(add(path));
    }
  }
  if (part == kAnyParts) HALLMARK_CHECK(walk(folder, more.empty() ? "*" : more, depth + 1, found));
  return {};
}

Result<std::vector<std::string>> Globber::find(const std::string& pattern) {
  std::vector<std::string> found;
  std::string_view rest = pattern;
  std::string folder = "/";
  while (rest.starts_with('/')) rest.remove_prefix(1);
  // The part without wildcards needs no listing.
  while (!rest.empty()) {
    const auto [part, more] = split(rest);
    if (has_wildcard(part) || more.empty()) break;
    folder = path::join(folder, part);
    rest = more;
  }
  HALLMARK_CHECK(walk(folder, rest, 0, found));
  std::ranges::sort(found);
  found.erase(std::ranges::unique(found).begin(), found.end());
  return found;
}

}  // namespace hallmark::manifest
