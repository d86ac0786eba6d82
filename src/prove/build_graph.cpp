#include "prove/build_graph.h"

#include <algorithm>

#include "base/path.h"
#include "engine/kinds.h"
#include "engine/make_text.h"
#include "engine/program_search.h"
#include "inspect/ninja_logs.h"
#include "inspect/ninja_manifest.h"
#include "prove/internal/shell_words.h"

namespace hallmark::prove {
namespace {

constexpr int kLastOutputTime = 5;  ///< version of Ninja's log
constexpr std::size_t kLogBytes = std::size_t{1} << 30;
constexpr std::size_t kDepfileBytes = 64u << 20;
constexpr std::size_t kCacheBytes = 64u << 20;

bool exists(os::FileSystem& files, const std::string& path) {
  const auto stat = files.stat(path);
  return stat.has_value() && stat->has_value();
}

}  // namespace

class GraphReader {
 public:
  GraphReader(os::FileSystem& files, const std::string& folder) : files_(files), real_(files) {
    graph_.folder_ = folder;
    graph_.is_file_ = [&files](const std::string& path) {
      const auto stat = files.stat(path);
      return stat.has_value() && *stat && (*stat)->kind == NodeKind::file;
    };
  }

  Result<BuildGraph> read() {
    auto manifest = inspect::NinjaManifest::read(files_, graph_.folder_);
    if (!manifest.has_value()) {
      if (manifest.error().kind != ErrorKind::not_found) return fail(std::move(manifest).error());
      return fail({ErrorKind::invalid, graph_.folder_ + " is no build folder of Ninja: it has no build.ninja",
                   "name the folder in which ninja runs"});
    }
    for (const auto& path : manifest->files()) {
      if (!exists(files_, path)) graph_.complaints_.push_back(path + " is included and is not there");
    }
    read_logs(path::join(graph_.folder_, manifest->log_folder()));
    graph_.edges_.reserve(manifest->edges().size());
    for (const auto& edge : manifest->edges()) add(*manifest, edge);
    return std::move(graph_);
  }

  BuildGraph of_make(const std::vector<inspect::MakeTarget>& targets) {
    graph_.tool_ = BuildGraph::Tool::make;
    const bool is_cmakes = exists(files_, path::join(graph_.folder_, "CMakeCache.txt"));
    for (const auto& target : targets) {
      BuildEdge edge;
      edge.cwd = target.folder;
      edge.command = target.recipe;
      edge.outputs = {absolute_in(target.folder, target.name)};
      // A target without a file of its name is a name for others; some are reached twice.
      if (!exists(files_, edge.outputs.front()) || graph_.makers_.contains(edge.outputs.front())) continue;
      for (const auto& path : target.prerequisites) edge.inputs.push_back(absolute_in(target.folder, path));
      // CMake takes over what compilers wrote when make starts the next time.
      if (is_cmakes) add_own_notes(edge);
      keep(std::move(edge));
    }
    return std::move(graph_);
  }

  BuildGraph of_compile_commands(const std::vector<BuildGraph::CompileCommand>& commands) {
    graph_.tool_ = BuildGraph::Tool::compile_commands;
    for (const auto& entry : commands) {
      BuildEdge edge;
      edge.cwd = entry.folder;
      edge.command = entry.command;
      auto output = entry.output;
      for (const auto& command : shell_commands(entry.command)) {
        if (output.empty()) output = engine::read_arguments(command.words).output;
      }
      if (output.empty()) {
        graph_.complaints_.push_back(entry.source + ": its command names no output");
        continue;
      }
      edge.outputs = {absolute_in(entry.folder, output)};
      edge.inputs = {absolute_in(entry.folder, entry.source)};
      add_own_notes(edge);
      keep(std::move(edge));
    }
    return std::move(graph_);
  }

 private:
  void read_logs(const std::string& folder) {
    const auto read = [&](const char* name, auto parse) -> decltype(parse(std::string_view())) {
      const auto path = path::join(folder, name);
      HALLMARK_TRY(const auto bytes, os::read_file(files_, path, kLogBytes));
      auto parsed = parse(std::string_view(bytes));
      if (!parsed.has_value()) graph_.complaints_.push_back(path + ": " + parsed.error().what);
      return parsed;
    };
    if (auto log = read(".ninja_log", inspect::parse_ninja_log); log.has_value()) log_ = *std::move(log);
    if (auto deps = read(".ninja_deps", inspect::parse_ninja_deps); deps.has_value())
      deps_ = *std::move(deps);
  }

  /// Without links in its folder.
  std::string absolute(const std::string& path) { return absolute_in(graph_.folder_, path); }
  std::string absolute_in(const std::string& cwd, const std::string& path) {
    const auto whole = inspect::ninja_path(path::join(cwd, path));
    const std::string parent(path::parent(whole));
    const auto [known, is_new] = folders_.try_emplace(parent);
    if (is_new) known->second = real_.of(parent).value_or(parent);
    return path::join(known->second, path::base_name(whole));
  }

  std::vector<std::string> absolute(const std::vector<std::string>& paths) {
    std::vector<std::string> all;
    all.reserve(paths.size());
    for (const auto& path : paths) all.push_back(absolute(path));
    return all;
  }

  void add(const inspect::NinjaManifest& manifest, const inspect::NinjaEdge& edge) {
    BuildEdge made;
    made.outputs = absolute(edge.outputs);
    made.inputs = absolute(edge.inputs);
    made.cwd = graph_.folder_;
    for (const auto& path : edge.implicit_inputs) made.inputs.push_back(absolute(path));
    made.order_only = absolute(edge.order_only);
    if (!edge.is_phony()) {
      made.command = manifest.value(edge, "command");
      made.is_generator = !manifest.value(edge, "generator").empty();
      made.is_restat = !manifest.value(edge, "restat").empty();
      made.has_more_inputs = !manifest.value(edge, "dyndep").empty();
      if (const auto response = manifest.value(edge, "rspfile"); !response.empty()) {
        made.response_file = inspect::ninja_path(path::join(graph_.folder_, response));
        made.response_text = manifest.value(edge, "rspfile_content");
      }
      add_log(manifest, edge, made);
      add_notes(manifest, edge, made);
    }
    keep(std::move(made));
  }

  void keep(BuildEdge edge) {
    for (const auto& output : edge.outputs) {
      if (!graph_.makers_.emplace(output, graph_.edges_.size()).second) graph_.made_twice_.push_back(output);
    }
    graph_.edges_.push_back(std::move(edge));
  }

  /// What the compiler wrote into the file that its command names.
  void add_own_notes(BuildEdge& edge) {
    for (const auto& command : shell_commands(edge.command)) {
      const auto named = engine::read_arguments(command.words).depfile;
      if (!named) continue;
      auto path = named->path;
      if (path.empty()) {
        path = edge.outputs.front();
        path = path.substr(0, std::min(path.rfind('.'), path.size())) + ".d";
      }
      edge.depfile = absolute_in(edge.cwd, path);
      read_depfile(edge);
    }
  }

  void add_log(const inspect::NinjaManifest& manifest, const inspect::NinjaEdge& edge, BuildEdge& made) {
    const auto found = log_.outputs.find(edge.outputs.front());
    if (found == log_.outputs.end()) return;
    made.logged_ns = found->second.mtime_ns;
    made.is_output_time = log_.version <= kLastOutputTime;
    const auto response = manifest.value(edge, "rspfile_content");
    made.is_logged_command = log_.is_made_by(
        found->second, response.empty() ? made.command : made.command + ";rspfile=" + response);
  }

  void add_notes(const inspect::NinjaManifest& manifest, const inspect::NinjaEdge& edge, BuildEdge& made) {
    const auto depfile = manifest.value(edge, "depfile");
    made.wants_notes = !depfile.empty() || !manifest.value(edge, "deps").empty();
    if (!depfile.empty()) made.depfile = absolute(depfile);
    if (!manifest.value(edge, "deps").empty()) {
      for (const auto& output : edge.outputs) {
        const auto found = deps_.outputs.find(output);
        if (found == deps_.outputs.end()) continue;
        made.has_notes = true;
        for (const auto path : found->second.paths) made.noted.push_back(absolute(deps_.paths[path]));
      }
      return;
    }
    if (!depfile.empty()) read_depfile(made);
  }

  void read_depfile(BuildEdge& made) {
    const auto text = os::read_file(files_, made.depfile, kDepfileBytes);
    if (!text.has_value()) return;
    const auto rules = engine::parse_make_text(*text);
    if (!rules) {
      graph_.complaints_.push_back(made.depfile + " is no dependency file");
      return;
    }
    made.has_notes = true;
    for (const auto& rule : rules->rules) {
      for (const auto& path : rule.prerequisites) made.noted.push_back(absolute_in(made.cwd, path));
    }
  }

  os::FileSystem& files_;
  engine::RealPaths real_;
  BuildGraph graph_;
  inspect::NinjaLog log_;
  inspect::NinjaDeps deps_;
  std::unordered_map<std::string, std::string> folders_;
};

Result<BuildGraph> BuildGraph::read(os::FileSystem& files, const std::string& folder) {
  return GraphReader(files, folder).read();
}

BuildGraph BuildGraph::of_make(os::FileSystem& files, const std::string& folder,
                               const std::vector<inspect::MakeTarget>& targets) {
  return GraphReader(files, folder).of_make(targets);
}

BuildGraph BuildGraph::of_compile_commands(os::FileSystem& files, const std::string& folder,
                                           const std::vector<CompileCommand>& commands) {
  return GraphReader(files, folder).of_compile_commands(commands);
}

const BuildEdge* BuildGraph::maker_of(const std::string& path) const {
  const auto found = makers_.find(path);
  return found == makers_.end() ? nullptr : &edges_[found->second];
}

std::vector<std::string> BuildGraph::without_phony(const std::vector<std::string>& paths) const {
  std::vector<std::string> found;
  for (const auto& path : paths) {
    const auto* edge = maker_of(path);
    if (edge == nullptr || !edge->is_phony()) {
      found.push_back(path);
      continue;
    }
    if (behind_phony_.try_emplace(path).second) {
      // In the meantime its entry is empty, so that a circle ends.
      auto all = without_phony(edge->inputs);
      // Headers have such edges, so that they may be missing.
      if (edge->inputs.empty() && edge->order_only.empty() && is_file_(path)) all.push_back(path);
      std::sort(all.begin(), all.end());
      all.erase(std::unique(all.begin(), all.end()), all.end());
      behind_phony_[path] = std::move(all);
    }
    const auto& all = behind_phony_[path];
    found.insert(found.end(), all.begin(), all.end());
  }
  return found;
}

bool BuildGraph::has_name_without_file(const std::vector<std::string>& paths) const {
  return std::any_of(paths.begin(), paths.end(), [&](const std::string& path) {
    const auto* edge = maker_of(path);
    return edge != nullptr && edge->is_phony() && edge->inputs.empty() && edge->order_only.empty() &&
           !is_file_(path);
  });
}

std::string tree_around(os::FileSystem& files, const std::string& build_folder) {
  auto sources = build_folder;
  constexpr std::string_view kHome = "\nCMAKE_HOME_DIRECTORY:INTERNAL=";
  const auto cache = os::read_file(files, path::join(build_folder, "CMakeCache.txt"), kCacheBytes);
  if (const auto at = cache.has_value() ? cache->find(kHome) : std::string::npos; at != std::string::npos) {
    const auto start = at + kHome.size();
    sources = cache->substr(start, cache->find('\n', start) - start);
  } else if (exists(files, path::join(build_folder, "meson-info"))) {
    sources = path::parent(build_folder);
  }
  for (std::string_view above = sources; !above.empty() && above != "/"; above = path::parent(above)) {
    for (const char* mark : {".hallmark", ".git"}) {
      if (exists(files, path::join(above, mark))) return std::string(above);
    }
  }
  return sources;
}

std::optional<std::string> ninja_folder_above(os::FileSystem& files, std::string_view folder) {
  while (!folder.empty()) {
    if (exists(files, path::join(folder, "build.ninja"))) return std::string(folder);
    if (folder == "/") break;
    folder = path::parent(folder);
  }
  return std::nullopt;
}

}  // namespace hallmark::prove
