#include "prove/internal/places.h"

#include <algorithm>
#include <array>

#include "base/path.h"

namespace hallmark::prove {

model::Tokens tokens_of(const model::Places& places) {
  model::Tokens tokens;
  for (const auto& [name, value] : places) {
    if (name != "PATH") tokens.add(name, value);
  }
  return tokens;
}

std::string place_named(const model::Places& places, std::string_view name) {
  const auto found =
      std::find_if(places.begin(), places.end(), [&](const auto& known) { return known.first == name; });
  return found == places.end() ? std::string() : found->second;
}

std::string in_other_tree(const std::string& path, const std::string& old_root, const std::string& root) {
  if (old_root.empty() || !path::is_within(path, old_root)) return path;
  return path == old_root ? root : path::join(root, path::relative_below(path, old_root));
}

model::Places places_in(const model::Places& logged, const std::optional<std::string>& root) {
  const auto old_root = place_named(logged, "R");
  model::Places today = logged;
  if (!root) return today;
  for (auto& [name, value] : today) {
    if (name != "PATH") value = in_other_tree(value, old_root, *root);
  }
  return today;
}

bool is_in_temporary_place(std::string_view folded) {
  constexpr std::array<std::string_view, 3> kTemporary = {"\x01ISOLATED\x02", "\x01OUT\x02",
                                                          "\x01TMPDIR\x02"};
  return std::any_of(kTemporary.begin(), kTemporary.end(),
                     [&](std::string_view token) { return folded.starts_with(token); });
}

}  // namespace hallmark::prove
