#include "cli/manifest_verb.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "app/manifest.h"
#include "base/format.h"
#include "base/path.h"
#include "cli/exit_code.h"
#include "cli/json.h"
#include "cli/selection.h"
#include "cli/terminal.h"

namespace hallmark::cli {
namespace {

using app::ExplainedManifest;
using manifest::Expansion;
using manifest::name_of;

int refuse(const Error& error) {
  complain(error.message());
  return exit_code_of(error.kind);
}

int show(std::string_view text, int exit_code = kOk) {
  if (print(text)) return exit_code;
  complain("cannot write to stdout; is the disk full?");
  return kEnvironment;
}

/// A line for each, as compilers print them, so that editors find the places.
int refuse(const std::vector<manifest::Problem>& problems, const std::string& file) {
  write_to_stderr(manifest::rendered(problems, file) + "\n");
  return kUsage;
}

Result<app::ManifestRequest> request_of(const Parsed& parsed, const app::Session& session) {
  app::ManifestRequest request;
  if (parsed.operands.size() > 1)
    return fail({ErrorKind::invalid, formatted("{}: a second manifest", parsed.operands[1]), "name one"});
  if (!parsed.operands.empty()) request.where = parsed.operands.front();
  HALLMARK_TRY(request.selection, selection_of(parsed, session.environment));
  return request;
}

Json to_json(const manifest::Value& value) {
  if (value.kind == manifest::Value::Kind::boolean) return value.text == "true";
  if (value.kind == manifest::Value::Kind::integer) {
    std::int64_t number = 0;
    std::from_chars(value.text.data(), value.text.data() + value.text.size(), number);
    return number;
  }
  return value.text;
}

Json to_json(const std::vector<manifest::Problem>& problems) {
  Json list = Json::array();
  for (const auto& problem : problems)
    list.push_back({{"line", problem.place.line},
                    {"column", problem.place.column},
                    {"what", problem.what},
                    {"hint", problem.hint}});
  return list;
}

std::string joined(const std::vector<std::string>& words, std::string_view between) {
  std::string text;
  for (const auto& word : words) text.append(text.empty() ? "" : between).append(word);
  return text;
}

/// Each once: `native` stands for each toolchain.
std::vector<std::string> arch_names(const Expansion& expansion) {
  std::vector<std::string> names;
  for (const auto& arch : expansion.archs)
    if (std::ranges::find(names, arch.name) == names.end()) names.push_back(arch.name);
  return names;
}

/// "3 kernels", "1 kernel".
std::string counted(std::size_t count, std::string_view what) {
  return formatted("{} {}{}", count, what, count == 1 ? "" : "s");
}

struct PinWords {
  const char* kind;
  std::string location;
  std::string state;
};

PinWords pin_words(const manifest::Source& source) {
  if (const auto* git = std::get_if<manifest::GitPin>(&source.pin))
    return {"git", git->location.text, git->commit.text};
  const auto& archive = std::get<manifest::ArchivePin>(source.pin);
  return {"archive", archive.location.text, archive.sha256.text};
}

struct Counts {
  std::size_t kernels = 0;
  std::size_t variants = 0;  ///< with per_arch, one for each arch
  std::size_t sources = 0;
};

Counts counts_of(const manifest::ExpandedLibrary& library) {
  Counts counts;
  std::set<const manifest::Kernel*> kernels;
  for (const auto& unit : library.units) {
    if (unit.kernel == nullptr) {
      ++counts.sources;
    } else {
      ++counts.variants;
      kernels.insert(unit.kernel);
    }
  }
  counts.kernels = kernels.size();
  return counts;
}

const char* kind_name(manifest::LibraryKind kind) {
  return kind == manifest::LibraryKind::shared ? "shared" : "static";
}

bool is_missing(const ExplainedManifest& explained, const std::string& source) {
  return std::ranges::find(explained.missing_sources, source) != explained.missing_sources.end();
}

std::string library_text(const manifest::ExpandedLibrary& library) {
  const auto counts = counts_of(library);
  auto text =
      formatted("{}: {}, namespace {}, {} of {}, {}", library.library->name, kind_name(library.library->kind),
                library.name_space, counted(counts.variants, "variant"), counted(counts.kernels, "kernel"),
                counted(counts.sources, "source file"));
  if (!library.library->codegen.empty()) text += ", and what is generated";
  return text;
}

std::string show_text(const ExplainedManifest& explained) {
  const auto& manifest = *explained.manifest;
  const auto& expansion = explained.expansion;
  std::string text;
  const auto add = [&text](std::string_view title, std::string_view what) {
    text += formatted("{:<13}{}\n", title, what);
  };
  add("manifest", manifest.file);
  add("project", manifest.project + " " + manifest.version);
  add("profile", expansion.profile);
  add("build folder", expansion.folder);
  const auto archs = arch_names(expansion);
  add("archs",
      formatted("{} ({})", archs.empty() ? "none" : joined(archs, " "), name_of(expansion.archs_origin)));
  std::vector<std::string> toolchains;
  for (const auto kind : expansion.toolchains) toolchains.emplace_back(name_of(kind));
  add("toolchains", toolchains.empty() ? "none" : joined(toolchains, " "));
  if (!expansion.defines.empty()) add("defines", joined(expansion.defines, " "));
  for (const auto& option : expansion.options)
    add("option", formatted("{} = {} ({})", option.name, option.value.text, name_of(option.origin)));
  for (const auto& source : manifest.sources) {
    const auto pin = pin_words(source);
    add("source", formatted("{}: {} {} at {}{}", source.name, pin.kind, pin.location, pin.state,
                            is_missing(explained, source.name) ? "; not checked out" : ""));
  }
  for (const auto* codegen : expansion.codegens) add("codegen", codegen->name);
  for (const auto& library : expansion.libraries) add("library", library_text(library));
  for (const auto& missing : expansion.not_built)
    add("not built", formatted("{}: {} ({}): {}", missing.library, missing.kernel, name_of(missing.toolchain),
                               missing.why));
  return text;
}

Json sources_json(const ExplainedManifest& explained) {
  Json sources = Json::array();
  for (const auto& source : explained.manifest->sources) {
    const auto pin = pin_words(source);
    sources.push_back({{"name", source.name},
                       {"kind", pin.kind},
                       {"location", pin.location},
                       {"pin", pin.state},
                       {"folder", explained.source_folders.at(source.name)},
                       {"checked_out", !is_missing(explained, source.name)}});
  }
  return sources;
}

Json libraries_json(const Expansion& expansion) {
  Json libraries = Json::array();
  for (const auto& library : expansion.libraries) {
    const auto counts = counts_of(library);
    libraries.push_back({{"name", library.library->name},
                         {"kind", kind_name(library.library->kind)},
                         {"namespace", library.name_space},
                         {"kernels", counts.kernels},
                         {"variants", counts.variants},
                         {"sources", counts.sources},
                         {"embedded", library.embedded.size()},
                         {"headers", library.headers.size()}});
  }
  return libraries;
}

std::string show_json(const ExplainedManifest& explained) {
  const auto& expansion = explained.expansion;
  Json archs = Json::array();
  for (const auto& arch : expansion.archs)
    archs.push_back({{"name", arch.name}, {"toolchain", name_of(arch.toolchain)}});
  Json toolchains = Json::array();
  for (const auto kind : expansion.toolchains) toolchains.push_back(name_of(kind));
  Json options = Json::array();
  for (const auto& option : expansion.options)
    options.push_back(
        {{"name", option.name}, {"value", to_json(option.value)}, {"origin", name_of(option.origin)}});
  Json codegens = Json::array();
  for (const auto* codegen : expansion.codegens) codegens.push_back(codegen->name);
  Json not_built = Json::array();
  for (const auto& missing : expansion.not_built)
    not_built.push_back({{"library", missing.library},
                         {"kernel", missing.kernel},
                         {"toolchain", name_of(missing.toolchain)},
                         {"why", missing.why}});
  return line_of(Json{{"manifest", explained.manifest->file},
                      {"project", explained.manifest->project},
                      {"version", explained.manifest->version},
                      {"profile", expansion.profile},
                      {"folder", expansion.folder},
                      {"archs", std::move(archs)},
                      {"archs_origin", name_of(expansion.archs_origin)},
                      {"toolchains", std::move(toolchains)},
                      {"defines", expansion.defines},
                      {"options", std::move(options)},
                      {"sources", sources_json(explained)},
                      {"codegen", std::move(codegens)},
                      {"libraries", libraries_json(expansion)},
                      {"not_built", std::move(not_built)}});
}

Json unit_json(const std::string& library, const manifest::Unit& unit) {
  Json axes = Json::object();
  for (const auto& [axis, value] : unit.axes) axes[axis] = to_json(value);
  return {{"library", library},
          {"unit", unit.name},
          {"kernel", unit.kernel == nullptr ? Json(nullptr) : Json(unit.kernel->name)},
          {"toolchain", name_of(unit.toolchain)},
          {"archs", unit.archs},
          {"axes", std::move(axes)},
          {"file", unit.file}};
}

/// Why nothing is built of a kernel; empty: no kernel has this name.
std::string why_nothing(const ExplainedManifest& explained, std::string_view kernel) {
  for (const auto& missing : explained.expansion.not_built)
    if (missing.kernel == kernel) return missing.why;
  for (const auto& library : explained.manifest->libraries)
    if (std::ranges::find(library.kernels, kernel, &manifest::Kernel::name) != library.kernels.end())
      return formatted("its library {} is not chosen", library.name);
  return {};
}

/// explain_manifest(), with everything that is wrong already said; else `exit_code` tells.
std::optional<ExplainedManifest> explained_for(const Parsed& parsed, const app::Session& session,
                                               int& exit_code) {
  const auto request = request_of(parsed, session);
  if (!request.has_value()) {
    exit_code = refuse(request.error());
    return std::nullopt;
  }
  auto explained = app::explain_manifest(session, *request);
  if (!explained.has_value()) {
    exit_code = refuse(explained.error());
    return std::nullopt;
  }
  if (!explained->problems.empty()) {
    exit_code = refuse(explained->problems, explained->file);
    return std::nullopt;
  }
  return std::move(*explained);
}

}  // namespace

int manifest_check_verb(const Parsed& parsed, const app::Session& session) {
  const auto request = request_of(parsed, session);
  if (!request.has_value()) return refuse(request.error());
  const auto checked = app::check_manifest(session, *request);
  if (!checked.has_value()) return refuse(checked.error());
  const bool is_sound = checked->problems.empty();
  if (parsed.has("--json"))
    return show(line_of(Json{{"manifest", checked->file}, {"problems", to_json(checked->problems)}}),
                is_sound ? kOk : kUsage);
  return is_sound ? kOk : refuse(checked->problems, checked->file);
}

int manifest_show_verb(const Parsed& parsed, const app::Session& session) {
  int exit_code = kOk;
  const auto explained = explained_for(parsed, session, exit_code);
  if (!explained) return exit_code;
  return show(parsed.has("--json") ? show_json(*explained) : show_text(*explained));
}

int manifest_expand_verb(const Parsed& parsed, const app::Session& session) {
  int exit_code = kOk;
  const auto explained = explained_for(parsed, session, exit_code);
  if (!explained) return exit_code;
  const auto kernels = parsed.values("--kernel");
  for (const auto& kernel : kernels) {
    const auto why = why_nothing(*explained, kernel);
    const bool is_known = std::ranges::any_of(explained->expansion.libraries, [&](const auto& library) {
      return std::ranges::find(library.library->kernels, kernel, &manifest::Kernel::name) !=
             library.library->kernels.end();
    });
    if (why.empty() && !is_known)
      return refuse({ErrorKind::invalid, formatted("{} has no kernel `{}`", explained->file, kernel),
                     "`hallmark manifest expand` lists all"});
  }
  const bool as_json = parsed.has("--json");
  std::set<std::string_view> shown;
  std::string text;
  Json units = Json::array();
  for (const auto& library : explained->expansion.libraries)
    for (const auto& unit : library.units) {
      const std::string_view kernel = unit.kernel == nullptr ? std::string_view() : unit.kernel->name;
      if (!kernels.empty() && std::ranges::find(kernels, kernel) == kernels.end()) continue;
      shown.insert(kernel);
      if (as_json) {
        units.push_back(unit_json(library.library->name, unit));
      } else {
        text += formatted("{}\t{}\t{}\t{}\t{}\n", library.library->name, unit.name, name_of(unit.toolchain),
                          unit.archs.empty() ? "-" : joined(unit.archs, ","),
                          path::relative_below(unit.file, explained->manifest->root));
      }
    }
  for (const auto& kernel : kernels)
    if (!shown.contains(kernel))
      complain(formatted("nothing of kernel {} is built: {}", kernel, why_nothing(*explained, kernel)));
  return show(as_json ? line_of(Json{{"manifest", explained->file},
                                     {"profile", explained->expansion.profile},
                                     {"units", std::move(units)}})
                      : text);
}

}  // namespace hallmark::cli
