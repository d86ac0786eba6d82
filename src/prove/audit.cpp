#include "prove/audit.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <unordered_set>

#include "base/path.h"
#include "engine/program_search.h"
#include "prove/internal/audit_findings.h"
#include "prove/proof.h"

namespace hallmark::prove {
namespace {

/// Headers by name: outside of the tree, other files belong to some program's installation.
bool has_header_name(std::string_view path) {
  constexpr std::array<std::string_view, 12> kEnds = {"h",   "hh",  "hpp", "hxx", "cuh", "hip",
                                                      "inl", "inc", "ipp", "tcc", "tpp", "impl"};
  const auto name = path::base_name(path);
  const auto dot = name.rfind('.');
  return dot != std::string_view::npos &&
         std::find(kEnds.begin(), kEnds.end(), name.substr(dot + 1)) != kEnds.end();
}

bool is_of_system(const std::string& path, const std::string& tree) {
  if (path::is_within(path, tree)) return false;
  constexpr std::array<std::string_view, 11> kFolders = {
      "/usr", "/lib", "/lib64", "/bin", "/sbin", "/etc", "/proc", "/sys", "/dev", "/opt/rocm", "/var"};
  return !has_header_name(path) ||
         std::any_of(kFolders.begin(), kFolders.end(),
                     [&](std::string_view folder) { return path::is_within(path, folder); });
}

/// What the tool compares before it decides not to run an edge. A header that is compiled beforehand is an
/// input, and what it is made of is compared for it.
std::unordered_set<std::string> compared_by(const BuildGraph& graph, const BuildEdge& edge) {
  std::unordered_set<std::string> known(edge.inputs.begin(), edge.inputs.end());
  for (const auto& path : edge.inputs) {
    const auto* maker = path.ends_with(".gch") || path.ends_with(".pch") ? graph.maker_of(path) : nullptr;
    if (maker == nullptr) continue;
    known.insert(maker->inputs.begin(), maker->inputs.end());
    known.insert(maker->noted.begin(), maker->noted.end());
  }
  for (auto& path : graph.without_phony(edge.inputs)) known.insert(std::move(path));
  known.insert(edge.noted.begin(), edge.noted.end());
  // Loaded as they are: what is linked with them need not be linked again.
  for (auto& path : graph.without_phony(edge.order_only)) {
    if (is_shared_library(path)) known.insert(std::move(path));
  }
  return known;
}

/// Files that the command makes for itself are no inputs.
bool is_own(const BuildEdge& edge, const StepReads& reads, const std::string& path) {
  return path == edge.depfile ||
         std::find(edge.outputs.begin(), edge.outputs.end(), path) != edge.outputs.end() ||
         std::find(reads.written.begin(), reads.written.end(), path) != reads.written.end();
}

void sort_gaps(std::vector<Gap>& gaps) {
  std::sort(gaps.begin(), gaps.end(), [](const Gap& a, const Gap& b) {
    if (a.is_system != b.is_system) return b.is_system;
    return a.readers.size() != b.readers.size() ? a.readers.size() > b.readers.size() : a.file < b.file;
  });
}

}  // namespace

std::string_view name_of(Finding::Kind kind) {
  switch (kind) {
    case Finding::Kind::made_at_configure:
      return "made_at_configure";
    case Finding::Kind::glob:
      return "glob";
    case Finding::Kind::temporary:
      return "temporary";
    case Finding::Kind::no_rule:
      return "no_rule";
    case Finding::Kind::undeclared:
      return "undeclared";
    case Finding::Kind::two_writers:
      return "two_writers";
  }
  return "unknown";
}

Audit audit(os::FileSystem& files, const BuildGraph& graph,
            const std::vector<std::optional<StepReads>>& reads) {
  Audit result;
  result.complaints = graph.complaints();
  const auto tree = tree_around(files, graph.folder());
  engine::RealPaths real(files);
  std::size_t unbuilt = 0;
  std::map<std::string, std::vector<Gap::Reader>> unknown_to_build;
  for (std::size_t i = 0; i < graph.edges().size(); ++i) {
    const auto& edge = graph.edges()[i];
    if (edge.is_phony() || edge.is_generator) continue;
    ++result.edges;
    // What was never made, or has lost what was noted of it, runs anyway.
    if (edge.wants_notes && !edge.has_notes) ++unbuilt;
    if (!reads[i] || (edge.wants_notes && !edge.has_notes)) {
      ++result.unknown;
      continue;
    }
    ++(reads[i]->how == Testimony::record     ? result.recorded
       : reads[i]->how == Testimony::observed ? result.observed
                                              : result.by_includes);
    const auto known = compared_by(graph, edge);
    std::optional<std::unordered_set<std::string>> led_to;  // what the names that are compared lead to
    const auto is_known = [&](const std::string& path) {
      if (known.contains(path)) return true;
      if (!led_to) {
        led_to.emplace();
        for (const auto& name : known) {
          if (auto target = real.of(name); target && *target != name) led_to->insert(*std::move(target));
        }
      }
      return led_to->contains(path);
    };
    std::unordered_set<std::string> seen;
    for (const auto& path : reads[i]->read) {
      if (!is_known(path) && !is_own(edge, *reads[i], path) && seen.insert(path).second)
        unknown_to_build[path].push_back({edge.outputs.front(), reads[i]->how});
    }
  }
  for (auto& [path, readers] : unknown_to_build)
    result.gaps.push_back({path, is_of_system(path, tree), std::move(readers)});
  sort_gaps(result.gaps);
  if (result.edges == 0) result.complaints.push_back(graph.folder() + " has no edge that runs a command");
  if (unbuilt > 0)
    result.complaints.push_back(std::to_string(unbuilt) +
                                " edges are not built yet: what they read is not known");
  result.findings = findings_in(files, graph, reads, tree);
  return result;
}

std::vector<std::string> repair_lines(const BuildGraph& graph, const Audit& audit, bool is_made_by_cmake) {
  std::set<std::string> languages;  // a launcher completes the dependency file that their compiles order
  std::set<std::string> others;     // edges that order none, or run something else
  for (const auto& gap : audit.gaps) {
    if (gap.is_system) continue;
    for (const auto& reader : gap.readers) {
      const auto* edge = graph.maker_of(reader.output);
      if (edge == nullptr) continue;
      auto language = language_of(*edge);
      if (edge->depfile.empty() || language.empty()) {
        others.insert(reader.output);
      } else {
        languages.insert(std::move(language));
      }
    }
  }
  std::vector<std::string> lines;
  const auto words_of = [&](const std::string& output) {
    auto command = graph.maker_of(output)->command;
    std::replace(command.begin(), command.end(), '\n', ' ');
    return "# for " + path::relative_below(output, graph.folder()) + ": " + command;
  };
  const bool is_ninja = graph.tool() == BuildGraph::Tool::ninja;
  if (!languages.empty() && is_made_by_cmake) {
    std::string line = "cmake";
    for (const auto& language : languages)
      line += " -DCMAKE_" + language + "_COMPILER_LAUNCHER='hallmark;run;--'";
    lines.push_back(line + " " + graph.folder());
  } else if (!languages.empty()) {
    lines.emplace_back("# Rules whose compiler writes a dependency file: put in front of their commands");
    lines.emplace_back("hallmark run --");
  }
  if (!others.empty()) {
    lines.emplace_back(is_made_by_cmake ? "# In CMake: DEPFILE of add_custom_command, with the command"
                       : is_ninja ? "# Rules without a dependency file: depfile = $out.d, with the command"
                                  : "# Rules without a dependency file: -include it, with the command");
    lines.emplace_back(is_ninja ? "hallmark run --depfile $out.d --" : "hallmark run --depfile $@.d --");
    for (const auto& output : others) lines.push_back(words_of(output));
  }
  return lines;
}

}  // namespace hallmark::prove
