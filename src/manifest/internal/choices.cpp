#include "manifest/internal/choices.h"

#include <algorithm>

#include "base/format.h"

namespace hallmark::manifest {
namespace {

/// nullptr, and a problem, if the axis is not to be spoken of.
const Axis* axis_of(const Member& member, const std::string& title, const Domain& domain,
                    Problems& problems) {
  const auto found = std::ranges::find(domain.axes, member.key, &Axis::name);
  if (found == domain.axes.end()) {
    std::vector<std::string> known;
    for (const auto& axis : domain.axes) known.push_back(axis.name);
    problems.add(member.place, formatted("{}: {} \"{}\"", title, domain.lack, member.key),
                 suggestion(member.key, known));
    return nullptr;
  }
  if (std::ranges::find(domain.without, member.key) != domain.without.end()) {
    problems.add(member.place, formatted("{}: the kernel is without axis {}", title, member.key),
                 "take the axis out of one of them");
    return nullptr;
  }
  return &*found;
}

void add_value(const Node& node, const Axis& axis, const std::string& title, std::vector<Value>& values,
               Problems& problems) {
  auto value = value_of(node);
  if (!value) {
    problems.add(node.place, formatted("{}: {} must be a text, a whole number, true or false, not {}", title,
                                       axis.name, name_of(node.kind)));
    return;
  }
  if (std::ranges::find(axis.values, *value) != axis.values.end()) {
    values.push_back(std::move(*value));
    return;
  }
  std::vector<std::string> known;
  for (const auto& one : axis.values) known.push_back(one.text);
  const bool is_of_other_kind = std::ranges::find(known, value->text) != known.end();
  problems.add(node.place, formatted("{}: axis {} has no value {}", title, axis.name, value->text),
               is_of_other_kind ? formatted("write it as the axis has it, {} quotes",
                                            value->kind == Value::Kind::text ? "without" : "in")
                                : suggestion(value->text, known));
}

}  // namespace

AxisChoice choice_of(const Node& table, std::string title, const Domain& domain, Problems& problems) {
  AxisChoice choice;
  for (const auto& member : table.members) {
    const auto* axis = axis_of(member, title, domain, problems);
    if (axis == nullptr) continue;
    auto& values = choice[member.key];
    if (member.value.kind != Node::Kind::array) {
      add_value(member.value, *axis, title, values, problems);
      continue;
    }
    for (const auto& item : member.value.items) add_value(item, *axis, title, values, problems);
    if (member.value.items.empty())
      problems.add(member.value.place,
                   formatted("{}: {} is an empty list, which no variant matches", title, member.key),
                   "leave the axis out to mean all its values");
  }
  return choice;
}

AxisChoice choice_below(TableReader& reader, std::string_view key, const Domain& domain) {
  const auto* table = reader.table(key);
  if (table == nullptr) return {};
  return choice_of(*table, formatted("{} {}", reader.title(), key), domain, reader.problems());
}

std::map<std::string, Value> point_below(TableReader& reader, std::string_view key, const Domain& domain) {
  std::map<std::string, Value> point;
  const auto* table = reader.table(key);
  if (table == nullptr) return point;
  const auto title = formatted("{} {}", reader.title(), key);
  for (const auto& member : table->members) {
    const auto* axis = axis_of(member, title, domain, reader.problems());
    if (axis == nullptr) continue;
    std::vector<Value> values;
    add_value(member.value, *axis, title, values, reader.problems());
    if (!values.empty()) point.emplace(member.key, std::move(values.front()));
  }
  return point;
}

}  // namespace hallmark::manifest
