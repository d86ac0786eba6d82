#include "manifest/internal/files_of.h"

#include <algorithm>
#include <set>

#include "base/format.h"
#include "base/path.h"
#include "manifest/expand.h"
#include "manifest/internal/placeholders.h"

namespace hallmark::manifest {
namespace {

/// "./a//b" as "a/b": a name must be spelled in one way to be compared.
std::string without_dots(std::string_view path) {
  std::string made = path.starts_with('/') ? "/" : "";
  while (!path.empty()) {
    const auto end = path.find('/');
    const auto part = path.substr(0, end);
    if (!part.empty() && part != ".") {
      if (!made.empty() && made.back() != '/') made += '/';
      made += part;
    }
    path.remove_prefix(end == std::string_view::npos ? path.size() : end + 1);
  }
  return made;
}

}  // namespace

std::optional<std::string> FilesOf::path(const Text& text) const {
  if (leaves_root(text.text)) {
    problems_.push_back({text.place, formatted("\"{}\" leaves the folder of the manifest", text.text),
                         "name what lies elsewhere as a [source], and begin with {source.NAME}"});
    return std::nullopt;
  }
  auto filled = filled_in(text.text, manifest_, source_folders_, {});
  if (!filled.has_value()) {
    problems_.push_back({text.place, filled.error().what, filled.error().hint});
    return std::nullopt;
  }
  const auto clean = without_dots(*filled);
  return clean.empty() ? manifest_.root : path::join(manifest_.root, clean);
}

Result<std::vector<std::string>> FilesOf::find(const Texts& patterns, Order order) const {
  std::vector<std::string> all;
  std::set<std::string> present;
  for (const auto& pattern : patterns) {
    const bool takes_away = pattern.text.starts_with('!');
    const auto where = path(takes_away ? Text{pattern.text.substr(1), pattern.place} : pattern);
    if (!where) continue;
    HALLMARK_TRY(const auto found, globber_.find(*where));
    std::size_t matched = 0;
    for (const auto& file : found) {
      if (takes_away) {
        matched += present.erase(file);
      } else {
        ++matched;
        if (present.insert(file).second) all.push_back(file);
      }
    }
    if (takes_away) std::erase_if(all, [&](const auto& file) { return !present.contains(file); });
    const bool may_be_empty = std::ranges::any_of(
        passed_over_, [&](const auto& folder) { return path::is_within(*where, folder); });
    if (matched == 0 && !may_be_empty)
      problems_.push_back({pattern.place,
                           takes_away ? formatted("\"{}\" takes nothing away", pattern.text)
                                      : formatted("\"{}\" matches no file", pattern.text),
                           takes_away ? std::string() : formatted("looked in {}", path::parent(*where))});
  }
  if (order == Order::sorted) std::ranges::sort(all);
  return all;
}

}  // namespace hallmark::manifest
