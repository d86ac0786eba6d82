#include "inspect/make_trace.h"

#include <algorithm>
#include <optional>

namespace hallmark::inspect {
namespace {

constexpr std::string_view kUpdate = ": update target '";
constexpr std::string_view kDue = "' due to: ";
constexpr std::string_view kAbsent = ": target '";
constexpr std::string_view kAbsentEnd = "' does not exist";
constexpr std::string_view kEntering = ": Entering directory '";
constexpr std::string_view kLeaving = ": Leaving directory '";

/// Whether the line begins as a place in a makefile does: "FILE:LINE" and then `mark`.
std::optional<std::string_view> behind_place(std::string_view line, std::string_view mark) {
  const auto at = line.find(mark);
  if (at == std::string_view::npos || at == 0) return std::nullopt;
  const auto place = line.substr(0, at);
  const auto colon = place.rfind(':');
  if (colon == std::string_view::npos || colon + 1 == place.size()) return std::nullopt;
  const auto number = place.substr(colon + 1);
  if (!std::all_of(number.begin(), number.end(), [](char c) { return c >= '0' && c <= '9'; }))
    return std::nullopt;
  return line.substr(at + mark.size());
}

/// "make[2]: Entering directory '/b'" -> "/b".
std::optional<std::string_view> folder_in(std::string_view line, std::string_view mark) {
  const auto at = line.find(mark);
  const auto name = line.substr(0, at);
  if (at == std::string_view::npos || name.find(' ') != std::string_view::npos) return std::nullopt;
  auto folder = line.substr(at + mark.size());
  if (!folder.ends_with('\'')) return std::nullopt;
  folder.remove_suffix(1);
  return folder;
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const auto end = std::min(text.find(' '), text.size());
    if (end > 0) words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

}  // namespace

std::vector<MakeTarget> parse_make_trace(std::string_view text) {
  std::vector<MakeTarget> targets;
  std::vector<std::string> folders;
  bool in_recipe = false;  // of the last target
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (const auto entered = folder_in(line, kEntering)) {
      folders.emplace_back(*entered);
      in_recipe = false;
    } else if (folder_in(line, kLeaving)) {
      if (!folders.empty()) folders.pop_back();
      in_recipe = false;
    } else if (const auto update = behind_place(line, kUpdate)) {
      const auto name_end = update->find(kDue);
      in_recipe = name_end != std::string_view::npos && !folders.empty();
      if (in_recipe)
        targets.push_back({folders.back(),
                           std::string(update->substr(0, name_end)),
                           words_of(update->substr(name_end + kDue.size())),
                           {}});
    } else if (const auto absent = behind_place(line, kAbsent); absent && absent->ends_with(kAbsentEnd)) {
      in_recipe = false;
    } else if (in_recipe) {
      auto& recipe = targets.back().recipe;
      recipe.append(recipe.empty() ? "" : "\n").append(line);
    }
  }
  std::erase_if(targets, [](const MakeTarget& target) { return target.recipe.empty(); });
  return targets;
}

}  // namespace hallmark::inspect
