#include <algorithm>

#include "base/format.h"
#include "manifest/expand.h"
#include "manifest/internal/parts.h"

namespace hallmark::manifest {
namespace {

/// The suffixes of generated and hand-written units, as a person is told.
constexpr std::string_view kSuffixes = ".c .cc .cpp .cxx (cpu), .cu (cuda), .hip (hip)";

bool is_cxx_namespace(std::string_view text) {
  while (true) {
    const auto end = text.find("::");
    auto part = text.substr(0, end);
    while (part.size() > 1 && part.front() == '_') part.remove_prefix(1);
    if (!is_name(part, false)) return false;
    if (end == std::string_view::npos) return true;
    text.remove_prefix(end + 2);
  }
}

std::vector<Axis> axes_of(TableReader& reader) {
  std::vector<Axis> axes;
  const auto* table = reader.table("axes");
  if (table == nullptr) return axes;
  TableReader domain(*table, reader.title() + " axes", reader.problems());
  for (const auto& member : table->members) {
    if (!is_name(member.key, false))
      reader.problems().add(member.place,
                            formatted("{}: \"{}\" is no name of an axis", domain.title(), member.key),
                            "letters, digits and _, a letter first");
    auto values = domain.values(member.key);
    if (!values) continue;
    Axis axis{member.key, member.place, {}};
    for (auto& value : *values) {
      if (std::ranges::find(axis.values, value) != axis.values.end()) {
        reader.problems().add(member.value.place, formatted("{}: {} has the value {} twice", domain.title(),
                                                            member.key, value.text));
      } else {
        axis.values.push_back(std::move(value));
      }
    }
    axes.push_back(std::move(axis));
  }
  return axes;
}

void read_file(TableReader& reader, Kernel& kernel) {
  const bool has_source = reader.has("source");
  const bool has_template = reader.has("template");
  auto source = reader.text("source");
  auto pattern = reader.text("template");
  if (has_source == has_template) {
    reader.problems().add(reader.place(), formatted("{}: one of `source` and `template` must be there{}",
                                                    reader.title(), has_source ? ", not both" : ""));
    return;
  }
  kernel.is_template = has_template;
  auto file = has_template ? std::move(pattern) : std::move(source);
  if (file) kernel.file = std::move(*file);
}

void read_toolchain(TableReader& reader, Kernel& kernel) {
  static const std::vector<std::string> kKnown = {"cpu", "cuda", "hip"};
  const bool is_said = reader.has("toolchain");
  const auto said = reader.one_of("toolchain", kKnown, "cpu");
  if (is_said) {
    kernel.toolchain = static_cast<ToolchainKind>(std::ranges::find(kKnown, said) - kKnown.begin());
    return;
  }
  std::string_view file = kernel.file.text;
  if (file.empty()) return;
  if (kernel.is_template && file.ends_with(".in")) file.remove_suffix(3);
  if (const auto kind = toolchain_of_file(file)) {
    kernel.toolchain = *kind;
  } else {
    reader.problems().add(kernel.file.place,
                          formatted("{}: no toolchain compiles \"{}\"", reader.title(), file),
                          formatted("known suffixes are {}; or say `toolchain`", kSuffixes));
  }
}

Kernel kernel_of(const std::string& library, const Node& table, Problems& problems) {
  Kernel kernel;
  kernel.place = table.place;
  TableReader reader(table, formatted("[[library.{}.kernel]]", library), problems);
  const auto name = reader.required_text("name");
  kernel.name = name.text;
  if (!name.text.empty() && !is_name(name.text, false))
    problems.add(name.place, formatted("{}: \"{}\" is no name of a kernel", reader.title(), name.text),
                 "letters, digits and _, a letter first");
  read_file(reader, kernel);
  read_toolchain(reader, kernel);
  kernel.archs = reader.texts("archs");
  kernel.per_arch = reader.flag("per_arch", false);
  kernel.axes = reader.choice("axes");
  kernel.without = reader.words("without");
  for (const auto* node : reader.tables("skip", true))
    kernel.skip.emplace_back(choice_of(*node, reader.title() + " skip", problems), node->place);
  for (const auto* node : reader.tables("alias", true)) {
    TableReader one(*node, reader.title() + " alias", problems);
    Alias alias{one.choice("when"), one.scalars("set"), node->place};
    if (alias.when.empty() || alias.set.empty())
      problems.add(node->place, formatted("{}: `when` and `set` must name axes", one.title()));
    one.finish();
    kernel.alias.push_back(std::move(alias));
  }
  kernel.defines = reader.words("defines");
  kernel.flags = reader.words("flags");
  kernel.include = reader.texts("include");
  kernel.memory_mb = reader.count("memory_mb", 0);
  if (const auto* supports = reader.member("supports")) {
    const bool is_list = supports->value.kind == Node::Kind::array &&
                         std::ranges::all_of(supports->value.items,
                                             [](const Node& item) { return item.kind == Node::Kind::table; });
    if (supports->value.kind == Node::Kind::table || is_list) {
      kernel.supports_json = json_of(supports->value);
    } else {
      problems.add(supports->value.place,
                   formatted("{}: supports must be a table or a list of tables", reader.title()));
    }
  }
  reader.finish();
  return kernel;
}

void read_embed(TableReader& reader, Library& library) {
  for (const auto* node : reader.tables("embed", true)) {
    TableReader one(*node, reader.title() + " embed", reader.problems());
    Embed embed{one.texts("files"), one.required_text("symbol")};
    if (embed.files.empty())
      reader.problems().add(node->place, formatted("{}: files is missing", one.title()),
                            "a list of patterns");
    one.finish();
    library.embed.push_back(std::move(embed));
  }
}

void read_flags(TableReader& reader, Library& library) {
  const auto* table = reader.table("flags");
  if (table == nullptr) return;
  TableReader flags(*table, reader.title() + " flags", reader.problems());
  library.flags = {flags.words("all"), flags.words("cpu"), flags.words("cuda"), flags.words("hip")};
  flags.finish();
}

}  // namespace

Library library_of(const std::string& name, const Node& table, Problems& problems) {
  Library library;
  library.name = name;
  library.place = table.place;
  TableReader reader(table, formatted("[library.{}]", name), problems);
  library.kind = reader.one_of("kind", {"shared", "static"}, "shared") == "static"
                     ? LibraryKind::static_archive
                     : LibraryKind::shared;
  std::string identifier = name;
  std::ranges::replace(identifier, '-', '_');
  const auto name_space = reader.text("namespace");
  library.name_space = name_space ? name_space->text : identifier;
  if (name_space && !is_cxx_namespace(name_space->text))
    problems.add(name_space->place,
                 formatted("{}: \"{}\" is no C++ namespace", reader.title(), name_space->text),
                 "such as acme::fmha");
  library.sources = reader.texts("sources");
  library.codegen = reader.texts("codegen");
  library.include = reader.texts("include");
  library.defines = reader.words("defines");
  read_flags(reader, library);
  library.headers = reader.texts("headers");
  library.header_root = reader.text_or("header_root", "include");
  library.exports = reader.texts("exports");
  library.soversion = reader.text_or("soversion", "");
  library.output_name = reader.text_or("output_name", name);
  library.links = reader.texts("links");
  library.rpath = reader.words("rpath");
  read_embed(reader, library);
  library.axes = axes_of(reader);
  for (const auto* node : reader.tables("kernel"))
    library.kernels.push_back(kernel_of(name, *node, problems));
  if (library.kind == LibraryKind::static_archive)
    for (const char* key : {"exports", "soversion", "rpath"})
      if (const auto* member = reader.member(key))
        problems.add(member->place, formatted("{}: {} is of shared libraries", reader.title(), key),
                     "an archive has no dynamic symbols; say kind = \"shared\" or leave it out");
  if (library.sources.empty() && library.codegen.empty() && library.kernels.empty() && library.embed.empty())
    problems.add(table.place,
                 formatted("{} has neither sources, codegen, kernels nor embed", reader.title()));
  reader.finish();
  return library;
}

}  // namespace hallmark::manifest
