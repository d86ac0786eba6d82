#include "kernels/internal/library_plan.h"

#include <algorithm>
#include <set>

#include "base/format.h"
#include "base/limits.h"
#include "base/path.h"
#include "base/shell.h"
#include "digest/digest.h"
#include "kernels/paths.h"
#include "kernels/texts.h"

namespace hallmark::kernels {
namespace {

/// Longer lists of objects go into a response file: the kernel takes 128 KiB in one word, and Ninja's command
/// is one.
constexpr std::size_t kCommandLineBytes = 64 << 10;

std::string joined(const Words& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : " ") + shell_word(word);
  return text;
}

void append(Words& words, Words more) {
  for (auto& word : more) words.push_back(std::move(word));
}

Error located(const manifest::Manifest& manifest, manifest::Place place, Error error) {
  error.what = formatted("{}:{}:{}: {}", manifest.file, place.line, place.column, error.what);
  return error;
}

/// Of a file that a generator made: a name for its object.
std::string unit_name(std::string_view codegen, std::string_view file) {
  std::string name(codegen);
  name += '/';
  return name.append(file);
}

}  // namespace

std::string definition_of(const manifest::Codegen& codegen) {
  digest::Hasher hasher;
  const auto add = [&hasher](std::string_view text) {
    hasher.update(text);
    hasher.update(std::string_view("\0", 1));
  };
  for (const auto* words : {&codegen.list, &codegen.generate, &codegen.outputs}) {
    for (const auto& word : *words) add(word.text);
    add("");
  }
  for (const auto& [name, value] : codegen.environment) add(name + "=" + value);
  add(codegen.cwd.text);
  return hasher.finish().hex().substr(0, 16);
}

bool LibraryPlanner::is_usable(Kind kind) const {
  return std::ranges::find(usable_, kind) != usable_.end();
}

const Tool& LibraryPlanner::tool_of(Kind kind) const {
  return *find_tool(request_.tools, kind);
}

std::string LibraryPlanner::near(const std::string& absolute) const {
  const auto& folder = request_.expansion.folder;
  const auto& root = request_.manifest.root;
  if (path::is_within(absolute, folder)) return path::relative_below(absolute, folder);
  if (folder == root || !path::is_within(absolute, root) || !path::is_within(folder, root)) return absolute;
  std::string up = "..";
  for (auto at = path::parent(folder); at != root; at = path::parent(at)) up += "/..";
  return absolute == root ? up : path::join(up, path::relative_below(absolute, root));
}

Result<Words> LibraryPlanner::filled(const std::vector<std::string>& words) const {
  Words made;
  for (const auto& word : words) {
    HALLMARK_TRY(auto text, manifest::filled_in(word, request_.manifest, request_.source_folders, {}));
    made.push_back(std::move(text));
  }
  return made;
}

std::vector<std::string> LibraryPlanner::archs_of(Kind kind) const {
  std::vector<std::string> archs;
  for (const auto& arch : request_.expansion.archs)
    if (arch.toolchain == kind) archs.push_back(arch.name);
  return archs;
}

Status LibraryPlanner::add_generated_units() {
  for (const auto& use : declared_.codegen) {
    const auto made = request_.generated.find(use.text);
    if (made == request_.generated.end()) continue;  // Ninja runs it, and plans again
    const auto codegen = std::ranges::find(request_.manifest.codegens, use.text, &manifest::Codegen::name);
    const auto folder = path::join(request_.expansion.folder, paths::codegen_folder(use.text));
    for (const auto& file : made->second) {
      const auto kind = manifest::toolchain_of_file(file);
      if (!kind || !manifest::is_output(*codegen, file)) continue;
      units_.push_back(
          {unit_name(use.text, file), nullptr, *kind, path::join(folder, file), {}, archs_of(*kind)});
    }
  }
  return {};
}

Status LibraryPlanner::choose_units(Plan& plan) {
  units_ = library_.units;
  HALLMARK_CHECK(add_generated_units());
  std::set<std::pair<std::string, Kind>> told;
  std::erase_if(units_, [&](const manifest::Unit& unit) {
    if (is_usable(unit.toolchain)) return false;
    const std::string kernel = unit.kernel == nullptr ? unit.name : unit.kernel->name;
    if (told.emplace(kernel, unit.toolchain).second) {
      const auto* tool = find_tool(request_.tools, unit.toolchain);
      plan.not_built.push_back({declared_.name, kernel, unit.toolchain,
                                tool == nullptr ? "this toolchain was not chosen" : tool->missing});
    }
    return true;
  });
  const auto has = [&](Kind kind) {
    return std::ranges::any_of(units_, [kind](const auto& unit) { return unit.toolchain == kind; });
  };
  if (declared_.kind == manifest::LibraryKind::shared && has(Kind::cuda) && has(Kind::hip))
    return fail(
        located(request_.manifest, declared_.place,
                {ErrorKind::invalid,
                 formatted("library {} has units of nvcc and of hipcc, which no one linker takes together",
                           declared_.name),
                 "choose one with a profile's `toolchains`, or make two libraries"}));
  return {};
}

std::string LibraryPlanner::rule_of(const manifest::Unit& unit) const {
  const std::string kind = manifest::name_of(unit.toolchain);
  const bool is_c = unit.file.ends_with(".c") && unit.toolchain == Kind::cpu;
  return formatted("compile_{}_{}{}", declared_.name, unit.kernel == nullptr ? "sources" : unit.kernel->name,
                   formatted("_{}{}", kind, is_c ? "_c" : ""));
}

Result<Words> LibraryPlanner::words_of(const manifest::Unit& unit) const {
  const auto& manifest = request_.manifest;
  const auto& tool = tool_of(unit.toolchain);
  auto words = compiler_words(tool, unit.file, manifest.build.standard, {{manifest.root, "."}});

  const auto toolchain = std::ranges::find(manifest.toolchains, unit.toolchain, &manifest::Toolchain::kind);
  std::vector<std::string> flags = {"-O2"};
  if (toolchain != manifest.toolchains.end() && !toolchain->flags.empty()) flags = toolchain->flags;
  const auto& own = declared_.flags;
  const auto& of_kind = unit.toolchain == Kind::cpu    ? own.cpu
                        : unit.toolchain == Kind::cuda ? own.cuda
                                                       : own.hip;
  flags.insert(flags.end(), own.all.begin(), own.all.end());
  flags.insert(flags.end(), of_kind.begin(), of_kind.end());
  if (unit.kernel != nullptr) flags.insert(flags.end(), unit.kernel->flags.begin(), unit.kernel->flags.end());
  HALLMARK_TRY(auto filled_flags, filled(flags));
  append(words, std::move(filled_flags));

  for (const auto& define : request_.expansion.defines) words.push_back("-D" + define);
  for (const auto& option : request_.expansion.options) {
    if (std::ranges::find(option.toolchains, unit.toolchain) == option.toolchains.end()) continue;
    const bool is_truth = option.value.kind == manifest::Value::Kind::boolean;
    words.push_back(definition(option.define, !is_truth                     ? option.value.text
                                              : option.value.text == "true" ? "1"
                                                                            : "0"));
  }
  for (const auto& define : declared_.defines) words.push_back("-D" + define);
  if (unit.kernel != nullptr)
    for (const auto& define : unit.kernel->defines) words.push_back("-D" + define);

  if (unit.kernel != nullptr)
    for (const auto& folder : unit.kernel->include) {
      HALLMARK_TRY(const auto text, manifest::filled_in(folder.text, manifest, request_.source_folders, {}));
      words.push_back("-I" + near(path::join(manifest.root, text)));
    }
  for (const auto& folder : library_.include) words.push_back("-I" + near(folder));
  words.push_back("-I" + std::string(paths::kGeneratedInclude));
  for (const auto& codegen : declared_.codegen) words.push_back("-I" + paths::codegen_folder(codegen.text));
  return words;
}

Status LibraryPlanner::add_rule(const manifest::Unit& unit, NinjaFile& ninja) {
  const auto name = rule_of(unit);
  if (std::ranges::find(ninja.rules, name, &NinjaRule::name) != ninja.rules.end()) return {};
  HALLMARK_TRY(const auto words, words_of(unit));
  NinjaRule rule{
      name,
      {{"command", "$hallmark --depfile $out.d -- " + ninja_value(joined(words)) + " $unit -c $in -o $out"},
       {"description", formatted("compile {} $name", declared_.name)},
       {"depfile", "$out.d"},
       {"deps", "gcc"},
       {"restat", "1"}}};
  if (unit.kernel != nullptr && unit.kernel->memory_mb != 0 && request_.memory_mb != 0) {
    const auto pool = "memory_" + declared_.name + "_" + unit.kernel->name;
    ninja.pools.push_back({pool, std::max<std::uint64_t>(1, request_.memory_mb / unit.kernel->memory_mb)});
    rule.variables.emplace_back("pool", pool);
  }
  ninja.rules.push_back(std::move(rule));
  return {};
}

Status LibraryPlanner::add_unit(const manifest::Unit& unit, Plan& plan, NinjaFile& ninja) {
  HALLMARK_CHECK(add_rule(unit, ninja));
  std::string input = near(unit.file);
  if (unit.kernel != nullptr && unit.kernel->is_template) {
    if (template_file_ != unit.file) {  // units of one kernel follow each other
      HALLMARK_TRY(template_text_, os::read_file(files_, unit.file, limits::kTemplateBytes));
      template_file_ = unit.file;
    }
    auto instance = instance_of(template_text_, unit);
    if (!instance.has_value())
      return fail({instance.error().kind, formatted("{}:{}", unit.file, instance.error().what),
                   instance.error().hint});
    std::string_view stem = path::base_name(unit.file);
    if (stem.ends_with(".in")) stem.remove_suffix(3);
    const auto dot = stem.rfind('.');
    const auto suffix = dot == std::string_view::npos ? std::string_view() : stem.substr(dot);
    const auto file = paths::generated_unit(declared_.name, unit.name + std::string(suffix));
    plan.files.push_back({file, std::move(*instance)});
    input = paths::generated(file);
  }
  auto words = arch_words(unit.toolchain, unit.archs);
  if (unit.kernel != nullptr)
    for (const auto& [name, value] : unit_definitions(unit)) words.push_back(definition(name, value));
  const auto object = paths::object(declared_.name, unit.name);
  ninja.edges.push_back({{object},
                         rule_of(unit),
                         {input},
                         {},
                         {},
                         {{"unit", ninja_value(joined(words))}, {"name", ninja_value(unit.name)}}});
  objects_.push_back(object);
  ++plan.units;
  return {};
}

Status LibraryPlanner::add_embedding(Plan& plan, NinjaFile& ninja) {
  if (library_.embedded.empty()) return {};
  if (!is_usable(Kind::cpu))
    return fail({ErrorKind::unsupported,
                 formatted("library {} embeds files and there is no assembler", declared_.name),
                 "install a C++ compiler"});
  std::vector<std::pair<std::string, std::string>> entries;
  for (const auto& file : library_.embedded) entries.emplace_back(near(file.file), file.symbol);
  const auto source = paths::generated_unit(declared_.name, "embedded.S");
  plan.files.push_back({source, embedding(entries)});
  plan.files.push_back({paths::generated_header(declared_.name + "_embedded.h"),
                        embedding_header(declared_.name, library_.embedded)});
  const auto words = compiler_words(tool_of(Kind::cpu), source, "", {});
  const auto rule = formatted("embed_{}", declared_.name);
  ninja.rules.push_back(
      {rule,
       {{"command", "$hallmark --depfile $out.d -- " + ninja_value(joined(words)) + " -c $in -o $out"},
        {"description", formatted("embed {}", declared_.name)},
        {"depfile", "$out.d"},
        {"deps", "gcc"},
        {"restat", "1"}}});
  const auto object = paths::object(declared_.name, "hallmark/embedded.S");
  ninja.edges.push_back({{object}, rule, {paths::generated(source)}});
  objects_.push_back(object);
  return {};
}

Result<std::vector<std::string>> LibraryPlanner::exports() const {
  std::vector<std::string> patterns;
  for (const auto& pattern : declared_.exports) {
    auto text = pattern.text;
    constexpr std::string_view kNamespace = "{namespace}";
    for (auto at = text.find(kNamespace); at != std::string::npos; at = text.find(kNamespace, at))
      text.replace(at, kNamespace.size(), library_.name_space);
    patterns.push_back(std::move(text));
  }
  return patterns;
}

Status LibraryPlanner::add_link(Plan& plan, NinjaFile& ninja) {
  const bool is_shared = declared_.kind == manifest::LibraryKind::shared;
  const auto has = [this](Kind kind) {
    return std::ranges::any_of(units_, [kind](const auto& unit) { return unit.toolchain == kind; });
  };
  const Kind kind = has(Kind::cuda) ? Kind::cuda : has(Kind::hip) ? Kind::hip : Kind::cpu;
  const std::string base = "lib" + declared_.output_name + (is_shared ? ".so" : ".a");
  PlannedLibrary planned{&library_, units_, {}, {}};
  planned.file = "lib/" + base;
  if (is_shared && !declared_.soversion.empty()) {
    planned.link = planned.file;
    planned.file += "." + declared_.soversion;
  }

  NinjaEdge edge{{planned.file}, "link_" + declared_.name, objects_};
  NinjaRule rule{edge.rule, {{"description", "link " + ninja_value(planned.file)}, {"restat", "1"}}};
  // A response file is generated like any other, not by Ninja, so that it is known who made it.
  std::string objects = "$in";
  std::string response;
  for (const auto& object : objects_) response.append(object) += '\n';
  if (response.size() > kCommandLineBytes) {
    const auto file = paths::generated_unit(declared_.name, "objects.rsp");
    plan.files.push_back({file, std::move(response)});
    edge.implicit.push_back(paths::generated(file));
    objects = (is_shared && kind == Kind::cuda ? "--options-file " : "@") + paths::generated(file);
  }
  if (!is_shared) {
    // An archive that is there would keep the members that are gone. `D`: no times, no owners.
    rule.variables.insert(rule.variables.begin(),
                          {"command", "rm -f $out && $hallmark -- ar qcsD $out " + objects});
  } else {
    LinkWish wish{std::string(path::base_name(planned.file)), {}, declared_.rpath};
    const bool links_ours = std::ranges::any_of(declared_.links, [this](const auto& link) {
      return std::ranges::find(request_.manifest.libraries, link.text, &manifest::Library::name) !=
             request_.manifest.libraries.end();
    });
    if (wish.rpath.empty() && links_ours) wish.rpath = {"$ORIGIN"};
    if (!declared_.exports.empty()) {
      HALLMARK_TRY(const auto patterns, exports());
      const auto file = paths::generated_unit(declared_.name, "exports.map");
      plan.files.push_back({file, version_script(patterns)});
      wish.version_script = paths::generated(file);
      edge.implicit.push_back(wish.version_script);
    }
    Words links;
    for (const auto& link : declared_.links) {
      const auto other = std::ranges::find_if(
          plan.libraries, [&](const auto& one) { return one.library->library->name == link.text; });
      if (other != plan.libraries.end()) {
        edge.implicit.push_back(other->file);
        links.push_back(other->file);
        continue;
      }
      HALLMARK_TRY(auto text, manifest::filled_in(link.text, request_.manifest, request_.source_folders, {}));
      links.push_back(text.starts_with("-") ? text : near(path::join(request_.manifest.root, text)));
    }
    const auto& tool = tool_of(kind);
    auto words = link_words(tool, archs_of(kind), wish);
    const auto toolchain = std::ranges::find(request_.manifest.toolchains, kind, &manifest::Toolchain::kind);
    if (toolchain != request_.manifest.toolchains.end()) {
      HALLMARK_TRY(auto flags, filled(toolchain->link_flags));
      append(words, std::move(flags));
    }
    rule.variables.insert(rule.variables.begin(),
                          {"command", "$hallmark --stamp -- " + ninja_value(joined(words)) + " -o $out " +
                                          objects + (links.empty() ? "" : " " + ninja_value(joined(links)))});
  }
  ninja.rules.push_back(std::move(rule));
  ninja.edges.push_back(std::move(edge));
  plan.libraries.push_back(std::move(planned));
  return {};
}

Status LibraryPlanner::add_to(Plan& plan, NinjaFile& ninja) {
  HALLMARK_CHECK(choose_units(plan));
  const auto& name = declared_.name;
  plan.files.push_back(
      {paths::generated_header(name + "_namespace.h"), namespace_header(name, library_.name_space)});
  plan.files.push_back({paths::generated_header(name + "_variants.inc"), variants_table({library_}, units_)});
  for (const auto& header : library_.headers)
    plan.headers.push_back({header.file, formatted("{}/{}", paths::kInstalledInclude, header.installed)});
  for (const auto& unit : units_) HALLMARK_CHECK(add_unit(unit, plan, ninja));
  HALLMARK_CHECK(add_embedding(plan, ninja));
  const bool awaits_generator = std::ranges::any_of(
      declared_.codegen, [this](const auto& use) { return !request_.generated.contains(use.text); });
  if (awaits_generator) return {};
  if (objects_.empty()) {
    plan.not_built.push_back({name, "", Kind::cpu, "none of its units can be built here"});
    return {};
  }
  return add_link(plan, ninja);
}

}  // namespace hallmark::kernels
