#include "manifest/parse.h"

#include <algorithm>

#include "base/format.h"
#include "base/limits.h"
#include "base/path.h"
#include "manifest/internal/parts.h"

namespace hallmark::manifest {
namespace {

constexpr std::string_view kFileName = "hallmark.toml";
constexpr std::uint64_t kSchema = 1;

/// A table of tables by name: [source.NAME].
template <class Use>
void each_named(TableReader& top, std::string_view key, Use use) {
  const auto* tables = top.table(key);
  if (tables == nullptr) return;
  for (const auto& member : tables->members) {
    if (!is_name(member.key, true))
      top.problems().add(member.place, formatted("[{}.{}]: \"{}\" is no name", key, member.key, member.key),
                         "letters, digits, _ and -, a letter first");
    if (member.value.kind == Node::Kind::table) {
      use(member.key, member.value);
    } else {
      top.problems().add(
          member.place,
          formatted("{}.{} must be a table, not {}", key, member.key, name_of(member.value.kind)),
          formatted("[{}.{}]", key, member.key));
    }
  }
}

void read_project(TableReader& top, Manifest& manifest) {
  const auto* table = top.table("project");
  if (table == nullptr) {
    if (!top.has("project")) top.problems().add({1, 1}, "[project] is missing", "it must hold the `name`");
    return;
  }
  TableReader reader(*table, "[project]", top.problems());
  const auto name = reader.required_text("name");
  manifest.project = name.text;
  if (!name.text.empty() && !is_name(name.text, true))
    top.problems().add(name.place, formatted("[project]: \"{}\" is no name", name.text),
                       "letters, digits, _ and -, a letter first");
  manifest.version = reader.text_or("version", "0");
  reader.finish();
}

void read_toolchains(TableReader& top, Manifest& manifest) {
  const auto* table = top.table("toolchain");
  if (table == nullptr) return;
  TableReader kinds(*table, "[toolchain]", top.problems());
  for (const auto kind : {ToolchainKind::cpu, ToolchainKind::cuda, ToolchainKind::hip}) {
    const auto* node = kinds.table(name_of(kind));
    if (node == nullptr) continue;
    TableReader reader(*node, formatted("[toolchain.{}]", name_of(kind)), top.problems());
    Toolchain toolchain;
    toolchain.kind = kind;
    toolchain.place = node->place;
    toolchain.compiler = reader.text("compiler");
    if (kind == ToolchainKind::cuda) toolchain.host_compiler = reader.text_or("host_compiler", "");
    toolchain.flags = reader.has("flags") ? reader.flags("flags") : std::vector<std::string>{"-O2"};
    toolchain.link_flags = reader.flags("link_flags");
    toolchain.required = reader.flag("required", false);
    reader.finish();
    manifest.toolchains.push_back(std::move(toolchain));
  }
  kinds.finish();
}

void read_build(TableReader& top, Manifest& manifest) {
  const auto* table = top.table("build");
  if (table == nullptr) return;
  TableReader reader(*table, "[build]", top.problems());
  auto& build = manifest.build;
  build.place = table->place;
  build.archs = reader.texts("archs");
  for (const auto& arch : build.archs) check_arch(arch, reader.title(), top.problems());
  build.toolchains = reader.toolchains("toolchains");
  build.defines = reader.defines("defines");
  build.standard = reader.one_of("standard", {"11", "14", "17", "20", "23"}, "17");
  build.folder = reader.path_or("folder", build.folder);
  reader.finish();
}

}  // namespace

Codegen codegen_of(const Node& table, Problems& problems) {
  Codegen codegen;
  codegen.place = table.place;
  TableReader reader(table, "[[codegen]]", problems);
  const auto name = reader.required_text("name");
  codegen.name = name.text;
  if (!name.text.empty() && !is_name(name.text, true))
    problems.add(name.place, formatted("[[codegen]]: \"{}\" is no name", name.text),
                 "letters, digits, _ and -, a letter first");
  codegen.list = reader.command("list", {"archs", "list", "out"});
  codegen.generate = reader.command("generate", {"archs", "list", "out"});
  codegen.outputs = reader.texts("outputs");
  codegen.environment = reader.text_table("environment");
  const auto cwd = reader.text("cwd");
  codegen.cwd = cwd ? *cwd : Text{"{root}", {}};
  problems.check_placeholders(codegen.cwd, {"out"});
  const auto says_out = [](const Text& word) { return word.text.find("{out}") != std::string::npos; };
  if (codegen.generate.empty()) {
    problems.add(table.place, "[[codegen]]: generate is missing", "the command as a list of words");
  } else if (std::ranges::none_of(codegen.generate, says_out) && !says_out(codegen.cwd)) {
    problems.add(codegen.generate.front().place, "[[codegen]]: generate does not say {out}",
                 "that is the folder where it must write");
  }
  reader.finish();
  return codegen;
}

const char* name_of(ToolchainKind kind) {
  switch (kind) {
    case ToolchainKind::cpu:
      return "cpu";
    case ToolchainKind::cuda:
      return "cuda";
    case ToolchainKind::hip:
      break;
  }
  return "hip";
}

Parsed parse(std::string_view text, std::string file) {
  Parsed parsed;
  auto& manifest = parsed.manifest;
  manifest.root = std::string(path::parent(file));
  manifest.file = std::move(file);

  Problems problems;
  const Node node = read_toml(text, problems.list());
  if (!problems.list().empty()) {
    parsed.problems = problems.take();
    return parsed;
  }
  TableReader top(node, "hallmark.toml", problems);
  const auto* schema = top.member("schema");
  if (schema == nullptr) {
    problems.add({1, 1}, "schema is missing", "write `schema = 1` first");
  } else if (const auto version = top.count("schema", kSchema); version != kSchema) {
    // Of a later schema nothing else can be judged.
    problems.list() = {
        {schema->value.place,
         formatted("schema {} is not known to this hallmark, which knows {}", version, kSchema),
         "use a newer hallmark"}};
    parsed.problems = problems.take();
    return parsed;
  }
  if (const auto* sources = top.table("source"))
    for (const auto& member : sources->members) problems.sources().push_back(member.key);
  read_project(top, manifest);
  each_named(top, "source", [&](const std::string& name, const Node& table) {
    manifest.sources.push_back(source_of(name, table, problems));
  });
  read_toolchains(top, manifest);
  read_build(top, manifest);
  each_named(top, "option", [&](const std::string& name, const Node& table) {
    manifest.options.push_back(option_of(name, table, problems));
  });
  for (const auto* table : top.tables("codegen")) manifest.codegens.push_back(codegen_of(*table, problems));
  each_named(top, "library", [&](const std::string& name, const Node& table) {
    manifest.libraries.push_back(library_of(name, table, problems));
  });
  each_named(top, "profile", [&](const std::string& name, const Node& table) {
    manifest.profiles.push_back(profile_of(name, table, manifest, problems));
  });
  top.finish();
  check_references(manifest, problems);
  parsed.problems = problems.take();
  return parsed;
}

std::string rendered(const std::vector<Problem>& problems, std::string_view file) {
  std::string text;
  for (const auto& problem : problems) {
    if (!text.empty()) text += '\n';
    text += problem.place.line == 0
                ? formatted("{}: {}", file, problem.what)
                : formatted("{}:{}:{}: {}", file, problem.place.line, problem.place.column, problem.what);
    if (!problem.hint.empty()) text.append("; ").append(problem.hint);
  }
  return text;
}

Result<std::string> find(os::FileSystem& files, const std::string& where, const std::string& cwd) {
  const auto in_folder = [](const std::string& folder) { return path::join(folder, kFileName); };
  if (!where.empty()) {
    const auto named = path::join(cwd, where == "." ? std::string() : where);
    HALLMARK_TRY(const auto stat, files.stat(named));
    if (!stat) return fail({ErrorKind::not_found, formatted("{}: no such file or folder", named), {}});
    if (stat->kind != NodeKind::directory) return named;
    auto file = in_folder(std::string(path::without_trailing_slashes(named)));
    HALLMARK_TRY(const auto inside, files.stat(file));
    if (inside) return file;
    return fail({ErrorKind::not_found, formatted("{} is not there", file),
                 "name the file, or the folder that holds it"});
  }
  for (std::string folder = cwd; !folder.empty(); folder = std::string(path::parent(folder))) {
    auto file = in_folder(folder);
    HALLMARK_TRY(const auto stat, files.stat(file));
    if (stat) return file;
    if (folder == "/") break;
  }
  return fail({ErrorKind::not_found, formatted("no {} in {} or above it", kFileName, cwd),
               "go to the project's folder, or name the file"});
}

Result<Manifest> load(os::FileSystem& files, const std::string& where, const std::string& cwd) {
  HALLMARK_TRY(const auto file, find(files, where, cwd));
  HALLMARK_TRY(const auto text, os::read_file(files, file, limits::kManifestBytes));
  auto parsed = parse(text, file);
  if (!parsed.problems.empty()) return fail({ErrorKind::invalid, rendered(parsed.problems, file), {}});
  return std::move(parsed.manifest);
}

}  // namespace hallmark::manifest
