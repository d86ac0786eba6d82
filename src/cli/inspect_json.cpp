#include "cli/inspect_view.h"
#include "cli/json.h"

namespace hallmark::cli {
namespace {

Json or_null(const std::optional<std::string>& text) {
  return text ? Json(*text) : Json(nullptr);
}

Json names_of(const std::set<inspect::CodeTarget>& targets) {
  Json list = Json::array();
  for (const auto& target : targets) list.push_back(target.name());
  return list;
}

std::string_view name_of_kind(inspect::SymbolKind kind) {
  switch (kind) {
    case inspect::SymbolKind::function:
      return "function";
    case inspect::SymbolKind::object:
      return "object";
    case inspect::SymbolKind::tls:
      return "tls";
    case inspect::SymbolKind::other:
      break;
  }
  return "other";
}

Json json_of(const inspect::ElfFacts& elf) {
  Json exports = Json::array();
  for (const auto& symbol : elf.exports)
    exports.push_back({{"name", symbol.name},
                       {"version", symbol.version},
                       {"binding", name_of(symbol.binding)},
                       {"kind", name_of_kind(symbol.kind)},
                       {"size", symbol.size_bytes},
                       {"used", symbol.is_used}});
  Json sections = Json::array();
  for (const auto& section : elf.sections)
    sections.push_back({{"name", section.name}, {"size", section.size_bytes}});
  return {{"type", name_of(elf.type)},
          {"machine", elf.machine},
          {"build_id", or_null(elf.build_id)},
          {"soname", or_null(elf.soname)},
          {"needed", elf.needed},
          {"rpath", or_null(elf.rpath)},
          {"runpath", or_null(elf.runpath)},
          {"symbolic", elf.is_symbolic},
          {"exports", std::move(exports)},
          {"imports", elf.imports},
          {"sections", std::move(sections)}};
}

Json json_of(const inspect::DeviceCode& device) {
  Json images = Json::array();
  for (const auto& image : device.images)
    images.push_back({{"target", image.target.name()}, {"member", image.member}, {"kernels", image.kernels}});
  Json kernels = Json::array();
  for (const auto& [kernel, targets] : device.kernels())
    kernels.push_back({{"name", kernel}, {"targets", names_of(targets)}});
  return {{"targets", names_of(device.targets())},
          {"images", std::move(images)},
          {"kernels", std::move(kernels)},
          {"unread", device.doubts}};
}

Json json_of(const app::InspectedFile& file) {
  Json json = {{"file", file.file}, {"problem", nullptr}};
  if (file.problem) json["problem"] = file.problem->message();
  if (!file.facts) return json;
  json["form"] = name_of(file.facts->form);
  json["members"] = file.facts->members;
  json["elf"] = file.facts->elf ? json_of(*file.facts->elf) : Json(nullptr);
  json["device"] = json_of(file.facts->device);
  return json;
}

Json json_of(const app::Inspection& found, const inspect::Collision& collision) {
  Json definitions = Json::array();
  for (const auto& definition : collision.definitions)
    definitions.push_back({{"file", found.files[definition.file].file},
                           {"binding", name_of(definition.binding)},
                           {"own", definition.is_own}});
  return {{"symbol", collision.symbol},
          {"version", collision.version},
          {"kind", name_of(collision.kind)},
          {"harmless", name_of(collision.harmless)},
          {"definitions", std::move(definitions)}};
}

}  // namespace

std::string inspection_json(const app::Inspection& found) {
  Json files = Json::array();
  for (const auto& file : found.files) files.push_back(json_of(file));
  Json collisions = Json::array();
  for (const auto& collision : found.collisions) collisions.push_back(json_of(found, collision));
  Json lacks = Json::array();
  for (const auto& lack : found.lacks)
    lacks.push_back({{"device", lack.device},
                     {"file", found.files[lack.file].file},
                     {"kernel", lack.kernel},
                     {"targets", names_of(lack.has)}});
  Json unknown = Json::array();
  for (const auto& [device, why] : found.unknown) unknown.push_back({{"device", device}, {"why", why}});
  return line_of(Json{{"files", std::move(files)},
                      {"collisions", std::move(collisions)},
                      {"lacks", std::move(lacks)},
                      {"unknown", std::move(unknown)}});
}

}  // namespace hallmark::cli
