#include "prove/internal/audit_findings.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <unordered_set>

#include "base/path.h"
#include "inspect/cmake_lists.h"
#include "prove/artifacts.h"

namespace hallmark::prove {
namespace {

constexpr std::size_t kCMakeBytes = 16u << 20;

/// What Ninja, CMake and Meson keep in a build folder for themselves.
bool is_of_build_tool(const std::string& path, const std::string& folder) {
  const auto below = path::relative_below(path, folder);
  const auto name = path::base_name(path);
  if (below.starts_with("CMakeFiles/") || below.starts_with("meson-") || below.starts_with("_deps/") ||
      below.find("-prefix/") != std::string::npos)
    return true;
  return name.ends_with(".cmake") || name.ends_with(".ninja") || name.starts_with(".ninja_") ||
         name == "CMakeCache.txt" || name == "compile_commands.json" || name.ends_with(".rsp");
}

class Finder {
 public:
  Finder(os::FileSystem& files, const BuildGraph& graph, const std::vector<std::optional<StepReads>>& reads,
         const std::string& tree)
      : files_(files), graph_(graph), reads_(reads), tree_(tree) {}

  std::vector<Finding> find() {
    read_configuration();
    find_frozen_globs();
    find_sources_of_configuration();
    find_temporaries();
    find_undeclared();
    find_artifacts_without_rule();
    find_shared_depfiles();
    std::sort(found_.begin(), found_.end(), [](const Finding& a, const Finding& b) {
      return a.kind != b.kind ? a.kind < b.kind : a.subject < b.subject;
    });
    return std::move(found_);
  }

 private:
  using Kind = Finding::Kind;

  std::string near(const std::string& path) const { return path::relative_below(path, tree_); }
  bool exists(const std::string& path) const {
    const auto stat = files_.stat(path);
    return stat.has_value() && stat->has_value();
  }

  /// The files that CMake read when it configured, if it did.
  void read_configuration() {
    for (const auto& edge : graph_.edges()) {
      if (!edge.is_generator) continue;
      for (auto& path : graph_.without_phony(edge.inputs)) configuration_.insert(std::move(path));
    }
    for (const auto& path : configuration_) {
      const auto name = path::base_name(path);
      if ((name != "CMakeLists.txt" && !name.ends_with(".cmake")) || !path::is_within(path, tree_)) continue;
      if (path::is_within(path, graph_.folder()) && graph_.folder() != tree_) continue;
      if (const auto text = os::read_file(files_, path, kCMakeBytes); text.has_value())
        commands_.emplace_back(path, inspect::cmake_commands_in(*text));
    }
  }

  void find_frozen_globs() {
    for (const auto& [file, commands] : commands_) {
      for (const auto& command : commands) {
        if (!inspect::is_frozen_glob(command)) continue;
        std::string patterns;
        for (std::size_t i = 2; i < command.arguments.size(); ++i) patterns += " " + command.arguments[i];
        found_.push_back({Kind::glob, file + ":" + std::to_string(command.line),
                          "file(" + command.arguments[0] + ") of" + patterns +
                              " is looked at only when the build is configured: a new file is not built",
                          "add CONFIGURE_DEPENDS"});
      }
    }
  }

  void find_sources_of_configuration() {
    // Built among its sources, they look alike; of a mere list of compiles nothing is known of generators.
    if (path::is_within(tree_, graph_.folder()) || graph_.tool() == BuildGraph::Tool::compile_commands)
      return;
    std::map<std::string, std::size_t> readers;
    const auto note = [&](const std::string& path) {
      if (path::is_within(path, graph_.folder()) && graph_.maker_of(path) == nullptr &&
          !is_of_build_tool(path, graph_.folder()) && !is_copied_by_configure(path) && exists(path))
        ++readers[path];
    };
    for (std::size_t i = 0; i < graph_.edges().size(); ++i) {
      const auto& edge = graph_.edges()[i];
      if (edge.is_phony() || edge.is_generator) continue;
      std::set<std::string> read(edge.inputs.begin(), edge.inputs.end());
      read.insert(edge.noted.begin(), edge.noted.end());
      if (reads_[i]) read.insert(reads_[i]->read.begin(), reads_[i]->read.end());
      for (const auto& path : read) {
        if (!reads_[i] ||
            std::find(reads_[i]->written.begin(), reads_[i]->written.end(), path) == reads_[i]->written.end())
          note(path);
      }
    }
    std::string where;
    for (const auto& [file, commands] : commands_) {
      for (const auto& command : commands) {
        if (command.name == "execute_process")
          where += (where.empty() ? "" : ", ") + near(file) + ":" + std::to_string(command.line);
      }
    }
    for (const auto& [path, count] : readers) {
      if (written_.contains(path)) continue;
      found_.push_back({Kind::made_at_configure, path,
                        "no edge makes it, " + std::to_string(count) +
                            (count == 1 ? " edge reads it" : " edges read it") +
                            ": it was made when the build was configured" +
                            (where.empty() ? std::string() : " (execute_process in " + where + ")") +
                            "; unless configure_file made it, editing what made it rebuilds nothing",
                        "make it with add_custom_command(OUTPUT ... DEPENDS ...)"});
    }
  }

  /// CMake configures again when the template of configure_file changes.
  bool is_copied_by_configure(const std::string& path) const {
    const std::string name(path::base_name(path));
    return std::any_of(configuration_.begin(), configuration_.end(), [&](const std::string& input) {
      const auto of = path::base_name(input);
      return of == name + ".in" || of == name + ".cmakein" || of == name;
    });
  }

  void find_temporaries() {
    for (const auto& edge : graph_.edges()) {
      if (edge.is_phony() || edge.is_generator) continue;
      for (const auto& path : edge.noted) {
        if (graph_.maker_of(path) != nullptr || exists(path)) continue;
        found_.push_back(
            {Kind::temporary, path,
             "the dependency file of " + near(edge.outputs.front()) +
                 " names it, and it is gone: the edge runs again, and in every build if it is a temporary",
             "build; if it is named again, keep temporary names out of the dependency file, or build with "
             "hallmark run"});
        break;
      }
    }
  }

  void find_undeclared() {
    std::map<std::string, std::set<std::size_t>> writers;
    for (std::size_t i = 0; i < graph_.edges().size(); ++i) {
      if (!reads_[i]) continue;
      for (const auto& path : reads_[i]->written) writers[path].insert(i);
      written_.insert(reads_[i]->written.begin(), reads_[i]->written.end());
    }
    for (auto& [path, edges] : writers) {
      const auto* declared = graph_.maker_of(path);
      const auto is_declared_by = [&](std::size_t i) { return &graph_.edges()[i] == declared; };
      if (edges.size() > 1 || (declared != nullptr && !is_declared_by(*edges.begin()))) {
        std::string names;
        for (const auto i : edges)
          names += (names.empty() ? "" : ", ") + near(graph_.edges()[i].outputs.front());
        if (declared != nullptr && std::none_of(edges.begin(), edges.end(), is_declared_by))
          names += ", " + near(declared->outputs.front());
        found_.push_back({Kind::two_writers, path, "the edges of " + names + " write it: the last one wins",
                          "let one edge write it"});
        continue;
      }
      if (declared != nullptr || graph_.edges()[*edges.begin()].depfile == path) continue;
      const auto& edge = graph_.edges()[*edges.begin()];
      found_.push_back({Kind::undeclared, path,
                        "the edge of " + near(edge.outputs.front()) +
                            " writes it and does not declare it: if it is removed, nothing makes it again",
                        "declare it (OUTPUT or BYPRODUCTS of add_custom_command)"});
    }
  }

  bool is_of_other_build(const std::string& path) const {
    for (auto folder = path::parent(path); folder.size() > graph_.folder().size();
         folder = path::parent(folder)) {
      for (const char* mark : {"build.ninja", "Makefile", "makefile", "GNUmakefile"}) {
        if (exists(path::join(folder, mark))) return true;
      }
    }
    return is_of_build_tool(path, graph_.folder()) && path.find("/CMakeFiles/") == std::string::npos;
  }

  void find_artifacts_without_rule() {
    if (path::is_within(tree_, graph_.folder())) return;  // built among its sources
    const auto artifacts = artifacts_below(files_, graph_.folder());
    if (!artifacts.has_value()) return;
    for (const auto& path : *artifacts) {
      if (graph_.maker_of(path) != nullptr || written_.contains(path)) continue;
      if (is_of_other_build(path)) continue;
      found_.push_back(
          {Kind::no_rule, path,
           "no edge makes it: it is left from an earlier configuration, a step writes it and does not "
           "say so (POST_BUILD), or it was made by hand",
           "if nothing needs it, remove it"});
    }
  }

  void find_shared_depfiles() {
    for (const auto& path : graph_.made_twice())
      found_.push_back(
          {Kind::two_writers, path, "two edges make it: the last one wins", "let one edge make it"});
    std::map<std::string, std::vector<const BuildEdge*>> writers;
    for (const auto& edge : graph_.edges()) {
      if (!edge.depfile.empty()) writers[edge.depfile].push_back(&edge);
    }
    for (const auto& [path, edges] : writers) {
      if (edges.size() < 2) continue;
      std::string names;
      for (const auto* edge : edges) names += (names.empty() ? "" : ", ") + near(edge->outputs.front());
      found_.push_back({Kind::two_writers, path,
                        "it is the dependency file of " + names + ": each overwrites the other's",
                        "give each edge its own, as in depfile = $out.d"});
    }
  }

  os::FileSystem& files_;
  const BuildGraph& graph_;
  const std::vector<std::optional<StepReads>>& reads_;
  const std::string& tree_;
  std::set<std::string> configuration_;
  std::vector<std::pair<std::string, std::vector<inspect::CMakeCommand>>> commands_;
  std::set<std::string> written_;
  std::vector<Finding> found_;
};

}  // namespace

std::vector<Finding> findings_in(os::FileSystem& files, const BuildGraph& graph,
                                 const std::vector<std::optional<StepReads>>& reads,
                                 const std::string& tree) {
  return Finder(files, graph, reads, tree).find();
}

std::string language_of(const BuildEdge& edge) {
  struct Language {
    std::string_view end;
    std::string_view name;
  };
  constexpr std::array<Language, 7> kLanguages = {{{".c", "C"},
                                                   {".cc", "CXX"},
                                                   {".cpp", "CXX"},
                                                   {".cxx", "CXX"},
                                                   {".cu", "CUDA"},
                                                   {".hip", "HIP"},
                                                   {".C", "CXX"}}};
  for (const auto& input : edge.inputs) {
    for (const auto& language : kLanguages) {
      if (input.ends_with(language.end)) return std::string(language.name);
    }
  }
  return {};
}

}  // namespace hallmark::prove
