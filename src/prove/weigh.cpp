// How the Prover weighs a step that nobody recorded: by the build tool's own graph and logs, the times of
// files, and #include lines. That can show that something is stale. It cannot show that it is fresh: what the
// tool does not know of is not looked at, and times lie.
#include <algorithm>
#include <unordered_set>

#include "base/limits.h"
#include "base/path.h"
#include "prove/internal/compile_words.h"
#include "prove/internal/shell_words.h"
#include "prove/internal/unrecorded.h"
#include "prove/prover.h"

namespace hallmark::prove {
namespace {

model::Reason newer(const std::string& input, const std::string& output, std::string who) {
  return {model::ReasonCode::newer_than_output, input, output, std::move(who)};
}

}  // namespace

/// One edge that is being weighed.
struct Prover::Scales {
  std::size_t index;  ///< into steps_
  const BuildGraph& graph;
  const BuildEdge& edge;
  std::string output;
  std::int64_t made_ns;     ///< what is newer came after it
  std::int64_t changed_ns;  ///< when the output's node last changed
  std::size_t depth;
  bool is_link = false;
  std::unordered_set<std::string> seen{};  ///< inputs that were weighed
};

std::optional<std::size_t> Prover::weigh(const std::string& output, std::size_t depth) {
  const auto* graph = unrecorded_->graph_of(output);
  const auto* edge = graph == nullptr ? nullptr : graph->maker_of(output);
  if (edge == nullptr || edge->is_phony() || path::base_name(output) == "build.ninja") return std::nullopt;
  const auto [known, is_new] = weighed_.try_emplace(output, steps_.size());
  const auto index = known->second;
  if (!is_new) return index;
  steps_.emplace_back();
  judged_.push_back(false);
  auto& step = steps_[index];
  step.is_recorded = false;
  step.output = output;
  step.cwd = graph->folder();
  step.root = tree_around(tools_.files, graph->folder());
  // One command in its words; what only a shell understands as it stands.
  auto commands = shell_commands(edge->command);
  std::erase_if(commands, [](const ShellCommand& command) { return command.words.front() == ":"; });
  if (commands.size() == 1 && commands.front().is_plain) {
    step.argv = std::move(commands.front().words);
  } else {
    step.argv = {edge->command};
  }
  const auto stat = unrecorded_->stat(output);
  if (depth >= limits::kDerivationSteps) {
    step.doubts.emplace_back("its chain is longer than kDerivationSteps");
  } else if (!stat) {
    step.differences.push_back({model::ReasonCode::vanished, output, {}, {}});
  } else {
    const auto logged_ns = edge->logged_ns.value_or(stat->mtime_ns);
    const auto made_ns = edge->is_restat ? logged_ns : std::min(stat->mtime_ns, logged_ns);
    const auto changed_ns = edge->is_restat ? std::max(stat->ctime_ns, logged_ns) : stat->ctime_ns;
    Scales scales{index, *graph, *edge, output, made_ns, changed_ns, depth};
    scales.is_link = is_link(*edge);
    // Up to version 5 of its log, Ninja notes the output's own time.
    if (edge->logged_ns && edge->is_output_time && !edge->is_restat && stat->mtime_ns != logged_ns)
      step.doubts.push_back(output + " was changed since Ninja made it");
    weigh_edge(scales);
  }
  finish_step(index);
  return index;
}

void Prover::weigh_edge(Scales& scales) {
  const auto& edge = scales.edge;
  const auto doubt = [&](std::string why) { steps_[scales.index].doubts.push_back(std::move(why)); };
  steps_[scales.index].made_ns = scales.made_ns;
  if (edge.is_logged_command == false)
    steps_[scales.index].differences.push_back({model::ReasonCode::command_not_run, scales.output, {}, {}});
  if (edge.wants_notes && !edge.has_notes)
    doubt("what its compiler wrote down that it read is not there any more, so it would be made again");
  const auto last = tools_.evidence.last_maker_at(store::place_of(scales.output));
  if (!tools_.accept_weaker && last.has_value() && *last && (*last)->strong)
    doubt(
        "a recorded command made it, and another one changed its bytes since (as strip and patchelf do): "
        "with "
        "hallmark run --stamp in front of the first it is judged all the same");
  if (edge.has_more_inputs) doubt("some of its inputs are found only while it is built (dyndep)");
  if (scales.graph.has_name_without_file(edge.inputs)) doubt("it is made in every build");
  for (const auto& input : scales.graph.without_phony(edge.inputs)) weigh_input(scales, input, "build.ninja");
  for (const auto& input : edge.noted) weigh_input(scales, input, "its dependency file");
  // A library that is only made first may still be loaded.
  for (const auto& input : scales.graph.without_phony(edge.order_only)) {
    if (is_shared_library(input)) weigh_input(scales, input, "build.ninja");
  }
  for (const auto& file : unrecorded_->includes(edge)) {
    if (!file.certain) {
      const auto stat = unrecorded_->stat(file.path);
      if (stat && stat->mtime_ns > scales.made_ns)
        doubt(file.path + " is newer, and " + file.includer + ":" + std::to_string(file.line) +
              " may include it (its conditions are not worked out)");
      continue;
    }
    weigh_input(scales, file.path,
                file.includer.empty() ? "the command" : file.includer + ":" + std::to_string(file.line),
                file.named);
  }
  if (!edge.logged_ns) doubt("Ninja's log does not know that it was made");
  if (const auto why = unrecorded_->why_outdated(scales.graph)) doubt(*why);
}

/// `who`: says that it is read. `named`: how it is come to, if not by `path`.
void Prover::weigh_input(Scales& scales, const std::string& path, std::string who, const std::string& named) {
  // Named by several: the first is enough.
  if (path == scales.output || !scales.seen.insert(path).second) return;
  const auto maker = recorded_or_weighed(path, scales.depth + 1);
  auto& step = steps_[scales.index];
  if (maker && !judged_[*maker]) {
    step.doubts.push_back(path + " is made of what it makes");
    return;
  }
  step.inputs.push_back({path, maker});
  // Only the names in a shared library go into what is linked with it; it is loaded as it is today. (A copy
  // has its bytes.)
  if (scales.is_link && is_shared_library(path)) return;
  const auto stat = unrecorded_->stat(path);
  if (!stat) {
    step.differences.push_back({model::ReasonCode::vanished, path, {}, {}});
  } else if (stat->kind == NodeKind::file && stat->mtime_ns > scales.made_ns) {
    step.differences.push_back(newer(path, scales.output, std::move(who)));
  } else if (stat->kind == NodeKind::file && stat->ctime_ns > scales.changed_ns) {
    step.doubts.push_back(path + " was put there or changed after " + scales.output +
                          " was made, though its time is older");
  } else if (const auto link = unrecorded_->newest_link(named.empty() ? path : named);
             link && link->changed_ns > scales.changed_ns) {
    step.doubts.push_back(path + " is reached through the link " + link->path + ", which was made after " +
                          scales.output);
  }
}

Status Prover::know_build(const std::string& folder) {
  return unrecorded_->know(folder);
}

/// The step that made a file which an unrecorded step reads.
std::optional<std::size_t> Prover::recorded_or_weighed(const std::string& path, std::size_t depth) {
  const auto place = store::place_of(path);
  const auto last = tools_.evidence.last_maker_at(place);
  if (last.has_value() && *last && (*last)->strong) {
    if (const auto hashed = tools_.hasher.hash(path); hashed.has_value()) {
      const auto makers = tools_.evidence.makers_of(hashed->digest, place);
      if (makers.has_value() && !makers->empty()) return best_of(*makers, std::nullopt, path, depth, nullptr);
    }
  }
  return weigh(path, depth);
}

}  // namespace hallmark::prove
