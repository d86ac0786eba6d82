#include <algorithm>

#include "base/format.h"
#include "manifest/expand.h"
#include "manifest/internal/choices.h"
#include "manifest/internal/parts.h"

namespace hallmark::manifest {
namespace {

/// The suffixes of generated and hand-written units, as a person is told.
constexpr std::string_view kSuffixes = ".c .cc .cpp .cxx (cpu), .cu (cuda), .hip (hip)";

bool is_cxx_namespace(std::string_view text) {
  while (true) {
    const auto end = text.find("::");
    if (!is_identifier(text.substr(0, end))) return false;
    if (end == std::string_view::npos) return true;
    text.remove_prefix(end + 2);
  }
}

/// A part of the name of a file.
bool is_file_part(std::string_view text) {
  return !text.empty() && text.find('/') == std::string_view::npos &&
         text.find('\0') == std::string_view::npos && text.front() != '.';
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
  if (!file) return;
  reader.problems().check_path(*file);
  kernel.file = std::move(*file);
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

std::vector<std::string> without_of(TableReader& reader, const Library& library) {
  std::vector<std::string> names;
  std::vector<std::string> known;
  for (const auto& axis : library.axes) known.push_back(axis.name);
  for (auto& axis : reader.texts("without")) {
    if (std::ranges::find(known, axis.text) == known.end())
      reader.problems().add(
          axis.place, formatted("{}: library {} has no axis \"{}\"", reader.title(), library.name, axis.text),
          suggestion(axis.text, known));
    names.push_back(std::move(axis.text));
  }
  return names;
}

void read_axes(TableReader& reader, const Library& library, Kernel& kernel) {
  auto& problems = reader.problems();
  kernel.without = without_of(reader, library);
  const Domain domain{formatted("library {} has no axis", library.name), library.axes, kernel.without};
  kernel.axes = choice_below(reader, "axes", domain);
  for (const auto* node : reader.tables("skip", true)) {
    kernel.skip.emplace_back(choice_of(*node, reader.title() + " skip", domain, problems), node->place);
    if (node->members.empty())
      problems.add(node->place,
                   formatted("{}: skip names no axis, which leaves out every variant", reader.title()));
  }
  for (const auto* node : reader.tables("alias", true)) {
    TableReader one(*node, reader.title() + " alias", problems);
    const bool is_whole = one.has("when") && one.has("set");
    Alias alias{choice_below(one, "when", domain), point_below(one, "set", domain), node->place};
    if (!is_whole) problems.add(node->place, formatted("{}: `when` and `set` must name axes", one.title()));
    one.finish();
    kernel.alias.push_back(std::move(alias));
  }
}

void read_archs(TableReader& reader, Kernel& kernel) {
  kernel.archs = reader.texts("archs");
  for (const auto& arch : kernel.archs) {
    check_arch(arch, reader.title(), reader.problems());
    const auto kind = toolchain_of_arch(arch.text);
    if (arch.text == "native") {
      reader.problems().add(arch.place, formatted("{}: `native` is chosen for a whole build", reader.title()),
                            "name the archs that this kernel can be compiled for");
    } else if (kind && *kind != kernel.toolchain) {
      reader.problems().add(arch.place,
                            formatted("{}: {} is an arch of {}, and {} compiles this kernel", reader.title(),
                                      arch.text, name_of(*kind), name_of(kernel.toolchain)));
    }
  }
}

void read_supports(TableReader& reader, Kernel& kernel) {
  const auto* supports = reader.member("supports");
  if (supports == nullptr) return;
  const auto& value = supports->value;
  const bool is_list =
      value.kind == Node::Kind::array &&
      std::ranges::all_of(value.items, [](const Node& item) { return item.kind == Node::Kind::table; });
  if (value.kind == Node::Kind::table || is_list) {
    kernel.supports_json = json_of(value);
  } else {
    reader.problems().add(value.place,
                          formatted("{}: supports must be a table or a list of tables", reader.title()));
  }
}

Kernel kernel_of(const Library& library, const Node& table, Problems& problems) {
  Kernel kernel;
  kernel.place = table.place;
  TableReader reader(table, formatted("[[library.{}.kernel]]", library.name), problems);
  const auto name = reader.required_text("name");
  kernel.name = name.text;
  if (!name.text.empty() && !is_name(name.text, false))
    problems.add(name.place, formatted("{}: \"{}\" is no name of a kernel", reader.title(), name.text),
                 "letters, digits and _, a letter first");
  read_file(reader, kernel);
  read_toolchain(reader, kernel);
  read_archs(reader, kernel);
  kernel.per_arch = reader.flag("per_arch", false);
  read_axes(reader, library, kernel);
  kernel.defines = reader.defines("defines");
  kernel.flags = reader.flags("flags");
  kernel.include = reader.paths("include");
  kernel.memory_mb = reader.count("memory_mb", 0);
  read_supports(reader, kernel);
  reader.finish();
  return kernel;
}

void read_embed(TableReader& reader, Library& library) {
  for (const auto* node : reader.tables("embed", true)) {
    TableReader one(*node, reader.title() + " embed", reader.problems());
    Embed embed{one.paths("files"), one.required_text("symbol")};
    reader.problems().check_placeholders(embed.symbol, {"stem"});
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
  library.flags = {flags.flags("all"), flags.flags("cpu"), flags.flags("cuda"), flags.flags("hip")};
  flags.finish();
}

std::string file_part(TableReader& reader, std::string_view key, const std::string& otherwise) {
  const auto text = reader.word(key);
  if (text && !is_file_part(text->text))
    reader.problems().add(text->place, formatted("{}: {} \"{}\" cannot be a part of a file's name",
                                                 reader.title(), key, text->text));
  return text ? text->text : otherwise;
}

}  // namespace

void check_namespace(const Text& text, std::string_view title, Problems& problems) {
  if (!is_cxx_namespace(text.text))
    problems.add(text.place, formatted("{}: \"{}\" is no C++ namespace", title, text.text),
                 "such as acme::fmha");
}

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
  if (name_space) check_namespace(*name_space, reader.title(), problems);
  library.sources = reader.paths("sources");
  library.codegen = reader.texts("codegen");
  library.include = reader.paths("include");
  library.defines = reader.defines("defines");
  read_flags(reader, library);
  library.headers = reader.paths("headers");
  library.header_root = reader.path_or("header_root", "include");
  library.exports = reader.texts("exports");
  library.soversion = file_part(reader, "soversion", "");
  library.output_name = file_part(reader, "output_name", name);
  library.links = reader.texts("links");
  library.rpath = reader.words("rpath");
  read_embed(reader, library);
  library.axes = axes_of(reader);
  for (const auto* node : reader.tables("kernel"))
    library.kernels.push_back(kernel_of(library, *node, problems));
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
