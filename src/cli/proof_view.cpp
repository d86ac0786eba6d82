#include "cli/proof_view.h"

#include <algorithm>
#include <set>

#include "base/format.h"
#include "base/path.h"
#include "cli/json.h"

namespace hallmark::cli {
namespace {

using prove::Proof;
using prove::Step;
using prove::Steps;
using prove::Verdict;

constexpr std::size_t kShownCommandBytes = 160;

std::string near(const std::string& path, const std::string& cwd) {
  return cwd == "/" ? path : path::relative_below(path, cwd);
}

/// For people: long command lines lose their middle.
std::string command_text(const Step& step) {
  std::string line;
  for (const auto& word : step.argv) line.append(line.empty() ? "" : " ").append(word);
  if (line.empty()) return "a command that is no longer known";
  if (!step.is_recorded) line += " (not recorded)";
  if (line.size() <= kShownCommandBytes) return line;
  constexpr std::size_t kHalf = kShownCommandBytes / 2;
  return line.substr(0, kHalf) + " ... " + line.substr(line.size() - kHalf);
}

bool is_in_tree(const std::string& path, const Step& step) {
  return !step.root.empty() && path::is_within(path, step.root);
}

/// Whether a step in its chain (to the cause, if it is stale) was not recorded.
bool is_weaker(const Steps& steps, const Proof& proof) {
  const auto chain = proof.verdict == Verdict::stale ? chain_to_cause(steps, proof) : steps_of(steps, proof);
  return std::any_of(chain.begin(), chain.end(),
                     [&](std::size_t index) { return !steps[index].is_recorded; });
}

/// Of a copy: what it is one of.
std::string origin_text(const Steps& steps, const Proof& proof, const std::string& cwd) {
  if (!proof.step) return {};
  if (proof.verdict != Verdict::unknown && is_weaker(steps, proof))
    return " (weaker evidence: not recorded; by Ninja's graph and logs, #include lines, file times)";
  const auto& output = steps[*proof.step].output;
  const auto basis = proof.basis == prove::Basis::stamp         ? "by its stamp"
                     : proof.basis == prove::Basis::attestation ? "by its attestation"
                                                                : "";
  if (output == proof.artifact) return *basis == '\0' ? std::string() : formatted(" ({})", basis);
  return formatted(" ({}{}made as {})", basis, *basis == '\0' ? "" : ", ", near(output, cwd));
}

std::size_t differences_in(const Steps& steps, const std::vector<std::size_t>& chain) {
  std::size_t count = 0;
  for (const auto index : chain) count += steps[index].differences.size();
  return count;
}

std::string chain_text(const Steps& steps, const Proof& proof, const std::string& cwd) {
  const auto chain = chain_to_cause(steps, proof);
  if (chain.empty()) return formatted("  {}\n", proof.doubt);
  const Step& cause = steps[chain.back()];
  std::string text =
      formatted("  {}\n", proof.verdict == Verdict::stale ? model::sentence(cause.differences.front())
                                                          : std::string(doubt_of(cause)));
  for (auto step = chain.rbegin(); step != chain.rend(); ++step)
    text += formatted("  {} {} -> {}\n", step == chain.rbegin() ? "used by" : "then by",
                      command_text(steps[*step]), near(steps[*step].output, cwd));
  const auto all = differences_in(steps, steps_of(steps, proof));
  if (proof.verdict == Verdict::stale && all > 1)
    text += formatted("  {} more: hallmark why --stale {}\n", all - 1, near(proof.artifact, cwd));
  return text;
}

Json reasons_json(const std::vector<model::Reason>& reasons) {
  Json list = Json::array();
  for (const auto& reason : reasons) list.push_back(to_json(reason));
  return list;
}

Json doubts_json(const Step& step) {
  if (step.doubts.empty() && step.verdict == Verdict::unknown && !step.is_recorded)
    return Json::array({doubt_of(step)});
  return step.doubts;
}

Json step_json(const Step& step) {
  return {{"output", step.output},
          {"command", step.argv},
          {"cwd", step.cwd},
          {"root", step.root},
          {"recorded", step.is_recorded},
          {"strong_key", step.is_recorded ? Json(step.strong.hex()) : Json(nullptr)},
          {"made_ns", step.made_ns},
          {"verdict", name_of(step.verdict)},
          {"differences", reasons_json(step.differences)},
          {"doubts", doubts_json(step)}};
}

/// Draws one artifact's tree.
class Tree {
 public:
  Tree(const Steps& steps, const std::string& cwd, const TreeOptions& options)
      : steps_(steps), cwd_(cwd), options_(options), leads_(steps.size(), Leads::not_asked) {}

  std::string of(const Proof& proof) {
    text_ = near(proof.artifact, cwd_) + "\n";
    draw(*proof.step, 1);
    return std::move(text_);
  }
  /// Whether some path of the step leads to the file that is asked for.
  bool leads(std::size_t index) {
    if (!options_.to) return true;
    if (leads_[index] != Leads::not_asked) return leads_[index] == Leads::yes;
    leads_[index] = Leads::no;
    const auto& inputs = steps_[index].inputs;
    const bool found = std::any_of(inputs.begin(), inputs.end(), [&](const prove::Input& input) {
      return input.path == *options_.to || (input.step && leads(*input.step));
    });
    if (found) leads_[index] = Leads::yes;
    return found;
  }

 private:
  enum class Leads : std::uint8_t { not_asked, no, yes };

  void line(std::size_t depth, const std::string& words) {
    text_.append(2 * depth, ' ').append(words).append("\n");
  }

  void draw(std::size_t index, std::size_t depth) {
    const Step& step = steps_[index];
    line(depth, "made by " + command_text(step));
    if (!drawn_.insert(index).second) {
      line(depth + 1, "(as above)");
      return;
    }
    for (const auto& difference : step.differences) line(depth + 1, "STALE: " + model::sentence(difference));
    for (const auto& doubt : step.doubts) line(depth + 1, "UNKNOWN: " + doubt);
    std::size_t outside = 0;
    for (const auto& input : step.inputs) {
      const bool is_asked_for = options_.to && input.path == *options_.to;
      if (options_.to && !is_asked_for && !(input.step && leads(*input.step))) continue;
      if (!input.step && !options_.all && !is_asked_for && !is_in_tree(input.path, step)) {
        ++outside;
        continue;
      }
      line(depth + 1, near(input.path, cwd_));
      if (input.step) draw(*input.step, depth + 2);
    }
    if (outside > 0) line(depth + 1, formatted("and {} files outside of the tree (--all)", outside));
  }

  const Steps& steps_;
  const std::string& cwd_;
  const TreeOptions& options_;
  std::vector<Leads> leads_;
  std::set<std::size_t> drawn_;
  std::string text_;
};

std::string dot_name(const std::string& text) {
  std::string name = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') name += '\\';
    name += c;
  }
  return name + "\"";
}

}  // namespace

std::string verdicts_text(const app::Proofs& found, const std::string& cwd, Shown which) {
  std::string text;
  std::size_t fresh = 0;
  std::size_t stale = 0;
  for (const auto& proof : found.proofs) {
    fresh += proof.verdict == Verdict::fresh ? 1 : 0;
    stale += proof.verdict == Verdict::stale ? 1 : 0;
    if (which == Shown::not_fresh && proof.verdict == Verdict::fresh) continue;
    text += formatted("{:<8}{}{}\n", name_of(proof.verdict), near(proof.artifact, cwd),
                      origin_text(found.steps, proof, cwd));
    if (proof.verdict != Verdict::fresh) text += chain_text(found.steps, proof, cwd);
  }
  if (found.proofs.size() > 1 || which == Shown::not_fresh)
    text += formatted("{} fresh, {} stale, {} unknown\n", fresh, stale, found.proofs.size() - fresh - stale);
  if (found.others > 0)
    text += formatted(
        "{} further files are not judged: no recorded command made them, and they lie outside of the tree\n",
        found.others);
  return text;
}

std::string verdicts_json(const app::Proofs& found) {
  Json list = Json::array();
  for (const auto& proof : found.proofs) {
    Json chain = Json::array();
    for (const auto index : chain_to_cause(found.steps, proof))
      chain.push_back(step_json(found.steps[index]));
    list.push_back({{"artifact", proof.artifact},
                    {"verdict", name_of(proof.verdict)},
                    {"basis", name_of(proof.basis)},
                    {"doubt", proof.doubt},
                    {"chain", std::move(chain)}});
  }
  return line_of(Json{{"artifacts", std::move(list)}, {"not_judged", found.others}});
}

std::optional<std::string> tree_text(const app::Proofs& found, const std::string& cwd,
                                     const TreeOptions& options) {
  const Proof& proof = found.proofs.front();
  Tree tree(found.steps, cwd, options);
  if (!tree.leads(*proof.step)) return std::nullopt;
  return tree.of(proof);
}

std::string differences_text(const app::Proofs& found, const std::string& cwd) {
  const Proof& proof = found.proofs.front();
  std::string text = formatted("{:<8}{}\n", name_of(proof.verdict), near(proof.artifact, cwd));
  std::string reruns;
  for (const auto index : steps_of(found.steps, proof)) {
    const Step& step = found.steps[index];
    for (const auto& difference : step.differences)
      text += formatted("  {}\n    used by {}\n", model::sentence(difference), command_text(step));
    for (const auto& doubt : step.doubts)
      text += formatted("  unknown: {}\n    used by {}\n", doubt, command_text(step));
    if (would_run_again(found.steps, index))
      reruns += formatted("  {}\n    {}\n", near(step.output, cwd), command_text(step));
  }
  if (!reruns.empty()) text += "would be made again:\n" + reruns;
  return text;
}

std::string steps_dot(const app::Proofs& found, const std::string& cwd, const TreeOptions& options) {
  const Proof& proof = found.proofs.front();
  std::string text = "digraph derivation {\n  rankdir=LR;\n  node [shape=box];\n";
  for (const auto index : steps_of(found.steps, proof)) {
    const Step& step = found.steps[index];
    const auto output = dot_name(near(step.output, cwd));
    text += formatted("  {} [style=rounded, tooltip={}{}];\n", output, dot_name(command_text(step)),
                      step.verdict == Verdict::stale ? ", color=red" : "");
    for (const auto& input : step.inputs) {
      if (input.step || options.all || is_in_tree(input.path, step))
        text += formatted("  {} -> {};\n", dot_name(near(input.path, cwd)), output);
    }
  }
  return text + "}\n";
}

std::string steps_json(const app::Proofs& found) {
  const Proof& proof = found.proofs.front();
  const auto order = steps_of(found.steps, proof);
  Json steps = Json::array();
  for (const auto index : order) {
    Json inputs = Json::array();
    for (const auto& input : found.steps[index].inputs) {
      Json maker = nullptr;
      if (input.step) maker = std::find(order.begin(), order.end(), *input.step) - order.begin();
      inputs.push_back({{"path", input.path}, {"step", std::move(maker)}});
    }
    Json step = step_json(found.steps[index]);
    step["inputs"] = std::move(inputs);
    steps.push_back(std::move(step));
  }
  return line_of(Json{{"artifact", proof.artifact},
                      {"verdict", name_of(proof.verdict)},
                      {"doubt", proof.doubt},
                      {"steps", std::move(steps)}});
}

std::string which_tests_text(const std::vector<app::SeeingProgram>& programs, const std::string& cwd) {
  std::string text;
  for (const auto& program : programs) {
    std::string via;
    for (const auto& artifact : program.via) via.append(via.empty() ? "" : ", ").append(near(artifact, cwd));
    const bool is_itself = program.via.size() == 1 && program.via.front() == program.name;
    text += near(program.name, cwd) + (is_itself ? std::string() : formatted(" (via {})", via)) + "\n";
  }
  return text;
}

std::string which_tests_json(const std::vector<app::SeeingProgram>& programs) {
  Json list = Json::array();
  for (const auto& program : programs)
    list.push_back({{"program", program.name}, {"via", program.via}, {"ran", program.was_run}});
  return line_of(Json{{"programs", std::move(list)}});
}

}  // namespace hallmark::cli
