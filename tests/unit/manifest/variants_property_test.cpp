// Variants against a brute-force oracle.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

#include "manifest/internal/variants.h"

namespace hallmark::manifest {
namespace {

struct Situation {
  Library library;
  Kernel kernel;
  AxisChoice filter;
};

Value value_of(int number) {
  return {Value::Kind::integer, std::to_string(number)};
}

std::string axis_name(int index) {
  return std::string(1, static_cast<char>('a' + index));
}

/// Some values of some axes.
AxisChoice random_choice(const std::vector<int>& sizes, int most_axes) {
  AxisChoice choice;
  const int count = *rc::gen::inRange(0, most_axes + 1);
  for (int i = 0; i < count; ++i) {
    const int axis = *rc::gen::inRange(0, static_cast<int>(sizes.size()));
    auto& values = choice[axis_name(axis)];
    const int size = sizes[static_cast<std::size_t>(axis)];
    for (int value = 0; value < size; ++value)
      if (*rc::gen::inRange(0, 2) == 1) values.push_back(value_of(value));
    if (values.empty()) values.push_back(value_of(0));
  }
  return choice;
}

Situation random_situation() {
  Situation made;
  std::vector<int> sizes;
  const int axes = *rc::gen::inRange(1, 5);
  for (int i = 0; i < axes; ++i) {
    sizes.push_back(*rc::gen::inRange(1, 5));
    Axis axis{axis_name(i), {}, {}};
    for (int value = 0; value < sizes.back(); ++value) axis.values.push_back(value_of(value));
    made.library.axes.push_back(std::move(axis));
  }
  made.kernel.name = "k";
  made.kernel.axes = random_choice(sizes, 2);
  made.filter = random_choice(sizes, 1);
  if (*rc::gen::inRange(0, 3) == 0) made.kernel.without = {axis_name(*rc::gen::inRange(0, axes))};
  for (int i = *rc::gen::inRange(0, 3); i > 0; --i)
    made.kernel.skip.emplace_back(random_choice(sizes, 3), Place{});
  for (int i = *rc::gen::inRange(0, 3); i > 0; --i) {
    const int axis = *rc::gen::inRange(0, axes);
    const int size = sizes[static_cast<std::size_t>(axis)];
    made.kernel.alias.push_back(
        {random_choice(sizes, 2), {{axis_name(axis), value_of(*rc::gen::inRange(0, size))}}, {}});
  }
  return made;
}

bool holds(const AxisChoice& choice, const std::map<std::string, Value>& point) {
  for (const auto& [axis, values] : choice) {
    const auto at = point.find(axis);
    if (at == point.end() || std::ranges::find(values, at->second) == values.end()) return false;
  }
  return true;
}

/// Every point of the whole space, asked one by one whether it is there.
std::set<std::map<std::string, std::string>> oracle(const Situation& now) {
  std::set<std::map<std::string, std::string>> all;
  std::size_t count = 1;
  for (const auto& axis : now.library.axes) count *= axis.values.size();
  for (std::size_t number = 0; number < count; ++number) {
    std::map<std::string, Value> point;
    auto rest = number;
    for (const auto& axis : now.library.axes) {
      const auto& value = axis.values[rest % axis.values.size()];
      rest /= axis.values.size();
      if (std::ranges::find(now.kernel.without, axis.name) == now.kernel.without.end())
        point.emplace(axis.name, value);
    }
    const auto allows = [&](const AxisChoice& choice) {
      return std::ranges::all_of(choice, [&](const auto& one) {
        return !point.contains(one.first) ||
               std::ranges::find(one.second, point.at(one.first)) != one.second.end();
      });
    };
    if (!allows(now.kernel.axes) || !allows(now.filter)) continue;
    if (std::ranges::any_of(now.kernel.skip, [&](const auto& skip) { return holds(skip.first, point); }))
      continue;
    for (const auto& alias : now.kernel.alias)
      if (holds(alias.when, point))
        for (const auto& [axis, value] : alias.set)
          if (point.contains(axis)) point[axis] = value;
    std::map<std::string, std::string> texts;
    for (const auto& [axis, value] : point) texts.emplace(axis, value.text);
    all.insert(std::move(texts));
  }
  return all;
}

RC_GTEST_PROP(Variants, AreThoseOfTheOracle, ()) {
  const auto now = random_situation();
  const auto variants = variants_of(now.library, now.kernel, now.filter);
  std::set<std::map<std::string, std::string>> found;
  std::set<std::string> names;
  for (const auto& variant : variants) {
    std::map<std::string, std::string> point;
    for (const auto& [axis, value] : variant) point.emplace(axis, value.text);
    RC_ASSERT(found.insert(std::move(point)).second);                   // each once
    RC_ASSERT(names.insert(variant_name(now.kernel, variant)).second);  // and under its own name
  }
  RC_ASSERT(found == oracle(now));
  RC_ASSERT(variants == variants_of(now.library, now.kernel, now.filter));
}

RC_GTEST_PROP(Variants, ComeInTheOrderOfTheAxes, ()) {
  auto now = random_situation();
  now.kernel.alias.clear();
  const auto variants = variants_of(now.library, now.kernel, now.filter);
  const auto key = [](const Variant& variant) {
    std::vector<int> numbers;
    for (const auto& [axis, value] : variant) numbers.push_back(std::stoi(value.text));
    return numbers;
  };
  RC_ASSERT(std::ranges::is_sorted(variants, std::less<>(), key));
}

}  // namespace
}  // namespace hallmark::manifest
