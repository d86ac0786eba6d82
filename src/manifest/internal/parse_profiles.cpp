#include <algorithm>

#include "base/format.h"
#include "manifest/internal/choices.h"
#include "manifest/internal/parts.h"

namespace hallmark::manifest {
namespace {

std::vector<std::string> library_names(const Manifest& manifest) {
  std::vector<std::string> names;
  for (const auto& library : manifest.libraries) names.push_back(library.name);
  return names;
}

void check_library(const std::string& name, Place place, const Manifest& manifest, TableReader& reader) {
  const auto known = library_names(manifest);
  if (std::ranges::find(known, name) == known.end())
    reader.problems().add(place, formatted("{}: no library \"{}\"", reader.title(), name),
                          suggestion(name, known));
}

std::map<std::string, Value> options_of(TableReader& reader, const Manifest& manifest) {
  std::map<std::string, Value> chosen;
  const auto* table = reader.table("options");
  if (table == nullptr) return chosen;
  std::vector<std::string> names;
  for (const auto& option : manifest.options) names.push_back(option.name);
  for (const auto& member : table->members) {
    const auto option = std::ranges::find(manifest.options, member.key, &Option::name);
    if (option == manifest.options.end()) {
      reader.problems().add(member.place, formatted("{}: no option \"{}\"", reader.title(), member.key),
                            suggestion(member.key, names));
      continue;
    }
    auto value = value_of(member.value);
    if (value && std::ranges::find(option->values, *value) != option->values.end()) {
      chosen.emplace(member.key, std::move(*value));
      continue;
    }
    std::vector<std::string> known;
    for (const auto& one : option->values) known.push_back(one.text);
    reader.problems().add(member.value.place,
                          formatted("{}: option {} cannot be {}", reader.title(), member.key,
                                    value ? value->text : std::string(name_of(member.value.kind))),
                          value ? suggestion(value->text, known) : std::string());
  }
  return chosen;
}

/// All axes of all libraries; what one of them can be, they all can be.
std::vector<Axis> all_axes(const Manifest& manifest) {
  std::vector<Axis> all;
  for (const auto& library : manifest.libraries)
    for (const auto& axis : library.axes) {
      const auto known = std::ranges::find(all, axis.name, &Axis::name);
      if (known == all.end()) {
        all.push_back(axis);
        continue;
      }
      for (const auto& value : axis.values)
        if (std::ranges::find(known->values, value) == known->values.end()) known->values.push_back(value);
    }
  return all;
}

void read_namespaces(TableReader& reader, const Manifest& manifest, Profile& profile) {
  const auto* table = reader.table("namespace");
  if (table == nullptr) return;
  TableReader names(*table, reader.title() + " namespace", reader.problems());
  for (const auto& member : table->members) {
    check_library(member.key, member.place, manifest, reader);
    const auto text = names.text(member.key);
    if (!text) continue;
    check_namespace(*text, names.title(), reader.problems());
    profile.namespaces.emplace(member.key, text->text);
  }
}

}  // namespace

Option option_of(const std::string& name, const Node& table, Problems& problems) {
  TableReader reader(table, formatted("[option.{}]", name), problems);
  Option option;
  option.name = name;
  option.place = table.place;
  if (auto values = reader.values("values")) {
    option.values = std::move(*values);
  } else {
    problems.add(table.place, formatted("{}: values is missing", reader.title()),
                 "all that it may be, as a list");
  }
  if (const auto* member = reader.member("default")) {
    const auto value = value_of(member->value);
    if (value && std::ranges::find(option.values, *value) != option.values.end()) {
      option.chosen_by_default = *value;
    } else {
      std::vector<std::string> known;
      for (const auto& one : option.values) known.push_back(one.text);
      problems.add(member->value.place, formatted("{}: default is none of its values", reader.title()),
                   value ? suggestion(value->text, known) : std::string());
    }
  } else if (!option.values.empty()) {
    option.chosen_by_default = option.values.front();
  }
  const auto define = reader.required_text("define");
  option.define = define.text;
  if (!define.text.empty() && !is_identifier(define.text))
    problems.add(define.place, formatted("{}: \"{}\" is no name of a macro", reader.title(), define.text));
  option.toolchains = reader.toolchains("toolchains");
  option.help = reader.text_or("help", "");
  reader.finish();
  return option;
}

Profile profile_of(const std::string& name, const Node& table, const Manifest& manifest, Problems& problems) {
  TableReader reader(table, formatted("[profile.{}]", name), problems);
  Profile profile;
  profile.name = name;
  profile.place = table.place;
  if (reader.has("archs")) {
    profile.archs = reader.texts("archs");
    for (const auto& arch : *profile.archs) check_arch(arch, reader.title(), problems);
  }
  profile.toolchains = reader.toolchains("toolchains");
  profile.defines = reader.defines("defines");
  profile.options = options_of(reader, manifest);
  if (reader.has("libraries")) {
    profile.libraries.emplace();
    for (auto& library : reader.texts("libraries")) {
      check_library(library.text, library.place, manifest, reader);
      profile.libraries->push_back(std::move(library.text));
    }
  }
  const auto axes = all_axes(manifest);
  profile.axes = choice_below(reader, "axes", {"no library has an axis", axes, {}});
  read_namespaces(reader, manifest, profile);
  reader.finish();
  return profile;
}

}  // namespace hallmark::manifest
