#include "prove/internal/places.h"

#include <algorithm>
#include <array>

#include "base/path.h"

namespace hallmark::prove {

std::string place(const model::Places& places, std::string_view name) {
  const auto found =
      std::find_if(places.begin(), places.end(), [&](const auto& known) { return known.first == name; });
  return found == places.end() ? std::string() : found->second;
}

model::Places places_in(const model::Places& recorded, const std::optional<std::string>& root,
                        const model::Environment& environment) {
  const auto old_root = place(recorded, "R");
  model::Places today = recorded;
  for (auto& [name, value] : today) {
    if (name == "HOME") {
      if (const auto home = environment.find("HOME"); home != environment.end()) value = home->second;
    } else if (name != "PATH" && root && !old_root.empty() && path::is_within(value, old_root)) {
      value = value == old_root ? *root : path::join(*root, path::relative_below(value, old_root));
    }
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
