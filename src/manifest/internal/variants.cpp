#include "manifest/internal/variants.h"

#include <algorithm>
#include <set>

#include "base/limits.h"
#include "manifest/expand.h"

namespace hallmark::manifest {
namespace {

/// What one axis can be for this kernel, in the order of the domain.
std::vector<Value> values_of(const Axis& axis, const Kernel& kernel, const AxisChoice& filter) {
  std::vector<Value> values;
  const auto allows = [&axis](const AxisChoice& choice, const Value& value) {
    const auto said = choice.find(axis.name);
    return said == choice.end() || std::ranges::find(said->second, value) != said->second.end();
  };
  for (const auto& value : axis.values)
    if (allows(kernel.axes, value) && allows(filter, value)) values.push_back(value);
  return values;
}

bool is_met(const AxisChoice& choice, const Variant& variant) {
  return std::ranges::all_of(choice, [&](const auto& one) {
    const auto axis = std::ranges::find(variant, one.first, &std::pair<std::string, Value>::first);
    return axis != variant.end() && std::ranges::find(one.second, axis->second) != one.second.end();
  });
}

void apply(const std::vector<Alias>& aliases, Variant& variant) {
  for (const auto& alias : aliases) {
    if (!is_met(alias.when, variant)) continue;
    for (auto& [axis, value] : variant)
      if (const auto set = alias.set.find(axis); set != alias.set.end()) value = set->second;
  }
}

}  // namespace

std::uint64_t points_of(const Library& library, const Kernel& kernel, const AxisChoice& filter) {
  std::uint64_t points = 1;
  for (const auto& axis : library.axes) {
    if (std::ranges::find(kernel.without, axis.name) != kernel.without.end()) continue;
    points *= values_of(axis, kernel, filter).size();
    if (points > limits::kVariants) return limits::kVariants + 1;
  }
  return points;
}

std::vector<Variant> variants_of(const Library& library, const Kernel& kernel, const AxisChoice& filter) {
  std::vector<std::pair<std::string, std::vector<Value>>> axes;
  for (const auto& axis : library.axes) {
    if (std::ranges::find(kernel.without, axis.name) != kernel.without.end()) continue;
    axes.emplace_back(axis.name, values_of(axis, kernel, filter));
    if (axes.back().second.empty()) return {};
  }

  std::vector<Variant> variants;
  std::set<std::string> seen;
  std::vector<std::size_t> at(axes.size(), 0);
  while (true) {
    Variant variant;
    variant.reserve(axes.size());
    for (std::size_t i = 0; i < axes.size(); ++i) variant.emplace_back(axes[i].first, axes[i].second[at[i]]);
    const bool is_skipped =
        std::ranges::any_of(kernel.skip, [&](const auto& skip) { return is_met(skip.first, variant); });
    if (!is_skipped) {
      apply(kernel.alias, variant);
      std::string identity;
      for (const auto& [axis, value] : variant) identity.append(value.text) += '\0';
      if (seen.insert(std::move(identity)).second) variants.push_back(std::move(variant));
    }
    // The next point: the last axis turns fastest.
    std::size_t i = axes.size();
    while (i > 0 && ++at[i - 1] == axes[i - 1].second.size()) at[--i] = 0;
    if (i == 0) break;
  }
  return variants;
}

std::string variant_name(const Kernel& kernel, const Variant& variant) {
  std::string name = kernel.name;
  for (const auto& [axis, value] : variant) {
    name += '_';
    std::string_view text = value.text;
    if (value.kind == Value::Kind::integer && text.starts_with('-')) {
      name += 'm';
      text.remove_prefix(1);
    }
    name += arch_identifier(text);
  }
  return name;
}

}  // namespace hallmark::manifest
