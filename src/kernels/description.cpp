#include "kernels/description.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace hallmark::kernels {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kSchema = 1;

Json as_json(const manifest::Value& value) {
  switch (value.kind) {
    case manifest::Value::Kind::boolean:
      return value.text == "true";
    case manifest::Value::Kind::integer: {
      auto number = Json::parse(value.text, nullptr, false);
      return number.is_number_integer() ? number : Json(value.text);
    }
    case manifest::Value::Kind::text:
      break;
  }
  return value.text;
}

Json variant(const manifest::Unit& unit) {
  Json axes = Json::object();
  for (const auto& [axis, value] : unit.axes) axes[axis] = as_json(value);
  return {{"name", unit.name},
          {"kernel", unit.kernel->name},
          {"toolchain", manifest::name_of(unit.toolchain)},
          {"archs", unit.archs},
          {"axes", std::move(axes)}};
}

Json library(const PlannedLibrary& planned, const std::vector<DescribedLibrary>& described) {
  const auto& declared = *planned.library->library;
  const auto found = std::ranges::find(described, planned.file, &DescribedLibrary::file);
  Json variants = Json::array();
  for (const auto& unit : planned.units)
    if (unit.kernel != nullptr) variants.push_back(variant(unit));
  Json key = nullptr;
  if (found != described.end() && !found->strong_key.empty()) key = found->strong_key;
  return {{"name", declared.name},
          {"kind", declared.kind == manifest::LibraryKind::shared ? "shared" : "static"},
          {"file", planned.file},
          {"link", planned.link.empty() ? Json(nullptr) : Json(planned.link)},
          {"namespace", planned.library->name_space},
          {"strong_key", std::move(key)},
          {"variants", std::move(variants)}};
}

}  // namespace

std::string description(const manifest::Manifest& manifest, const manifest::Expansion& expansion,
                        const Plan& plan, const std::vector<Tool>& tools,
                        const std::vector<DescribedSource>& sources,
                        const std::vector<DescribedLibrary>& libraries,
                        const std::vector<DescribedFile>& files) {
  Json json = {{"schema", kSchema},
               {"project", manifest.project},
               {"version", manifest.version},
               {"profile", expansion.profile}};
  json["archs"] = Json::array();
  for (const auto& arch : expansion.archs) {
    const bool seen = std::ranges::find(json["archs"], Json(arch.name)) != json["archs"].end();
    if (!seen) json["archs"].push_back(arch.name);
  }
  json["options"] = Json::object();
  for (const auto& option : expansion.options) json["options"][option.name] = as_json(option.value);
  json["toolchains"] = Json::object();
  for (const auto& tool : tools)
    if (tool.missing.empty()) json["toolchains"][manifest::name_of(tool.kind)] = tool.program;
  json["sources"] = Json::array();
  for (const auto& source : sources)
    json["sources"].push_back(
        {{"name", source.name}, {"pin", source.pin}, {"identity", source.identity}, {"dirty", source.dirty}});
  json["libraries"] = Json::array();
  for (const auto& planned : plan.libraries) json["libraries"].push_back(library(planned, libraries));
  json["not_built"] = Json::array();
  for (const auto& missing : plan.not_built)
    json["not_built"].push_back({{"library", missing.library},
                                 {"kernel", missing.kernel},
                                 {"toolchain", manifest::name_of(missing.toolchain)},
                                 {"why", missing.why}});
  json["files"] = Json::array();
  for (const auto& file : files)
    json["files"].push_back({{"path", file.path}, {"sha256", file.sha256}, {"bytes", file.bytes}});
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace hallmark::kernels
