// How the Prover judges one step: the questions of then, and the answers of today.
#include <algorithm>
#include <string_view>

#include "base/path.h"
#include "engine/answers.h"
#include "engine/explain.h"
#include "prove/internal/case.h"
#include "prove/internal/places.h"
#include "prove/internal/unrecorded.h"
#include "prove/prover.h"

namespace hallmark::prove {
namespace {

using model::Aspect;

/// Bytes of less are equal by chance: empty files, version numbers.
constexpr std::uint64_t kTellingBytes = 32;

/// A folded text as a person knows it.
std::string shown(const engine::Bindings& bindings, const std::string& folded) {
  return bindings.tokens().unfold(folded).value_or(folded);
}

/// Values of whoever ran the command. That the verifying person has others says nothing of the result.
bool is_personal(const model::Question& question) {
  return question.aspect == Aspect::bound &&
         (question.subject == "USER" || question.subject == "LOGNAME" || question.subject == "OLDPWD");
}

}  // namespace

/// Where the result shows the place of its tree, as debug information does: the tree is elsewhere, its files
/// are not different for that.
bool Prover::shows_tree(const Case& run, const model::Question& question) {
  if (question.aspect != Aspect::bound) return false;
  if (question.subject == "R_NAME") return true;
  const auto* value = run.today.bindings().value_of(question.subject);
  return value != nullptr && !run.root.empty() && path::is_within(*value, run.root);
}

/// Something that the step read may have been made of nobody knows what.
void Prover::doubt_origin(std::size_t index, std::string why) {
  auto& step = steps_[index];
  // What evidence was written with may be found out again.
  if (std::find(step.doubts.begin(), step.doubts.end(), why) != step.doubts.end()) return;
  step.doubts.push_back(why);
  step.origin_doubts.push_back(std::move(why));
}

void Prover::judge(Case& run) {
  auto& today = run.today;
  {
    auto& step = steps_[run.index];
    for (const auto& word : run.derivation.command.argv) step.argv.push_back(shown(today.bindings(), word));
    step.cwd = shown(today.bindings(), run.derivation.command.cwd);
    if (!run.root.empty() && !today.exists(run.root)) {
      step.doubts.push_back("the tree where it was made, " + run.root +
                            ", is gone; name the tree of today with --root");
      return;
    }
  }
  for (const auto& output : run.record.outputs) run.made_anew.push_back(shown(today.bindings(), output.path));
  const auto& questions = run.derivation.paths.questions;
  const auto answers = today.ask(run.derivation.paths);
  // By aspect: contents come first.
  for (std::size_t i = 0; i < questions.size(); ++i) {
    if (is_personal(questions[i]) || (tools_.evidence.is_carried() && shows_tree(run, questions[i])))
      continue;
    const Asked asked{questions[i], run.derivation.answers[i], answers[i]->answer, answers[i]->path};
    const bool is_file =
        asked.question.aspect == Aspect::content && asked.path && engine::digest_in(asked.before);
    if (is_file && judge_input(run, asked)) continue;
    if (asked.now != asked.before || engine::is_unknown(asked.now)) judge_answer(run, asked);
  }
}

/// A file that was read. True if nothing more is to be said of it.
bool Prover::judge_input(Case& run, const Asked& asked) {
  const auto& path = *asked.path;
  if (asked.now != asked.before && engine::digest_in(asked.now) && is_merely_loaded(run, path)) {
    const auto loaded = recorded_or_weighed(path, run.depth + 1);
    if (loaded && judged_[*loaded]) {
      steps_[run.index].inputs.push_back({path, loaded});
      return true;
    }
  }
  const auto doubts_before = steps_[run.index].doubts.size();
  const auto maker = maker_of(run, asked);
  // Nothing is known of who made it, and that was said.
  const bool is_doubted = steps_[run.index].doubts.size() > doubts_before;
  const auto doubt = [&](std::string why) { doubt_origin(run.index, std::move(why)); };
  if (maker && !judged_[*maker]) {
    doubt("the records of " + path + " lead in a circle");
  } else {
    steps_[run.index].inputs.push_back({path, maker});
  }
  if (!maker && !is_doubted) {
    if (const auto why = why_no_source(run, asked)) {
      const auto weighed = weigh(path, run.depth + 1);
      if (!weighed) {
        doubt(path + ": " + *why);
      } else if (!judged_[*weighed]) {
        doubt(path + " is made of what it makes");
      } else {
        steps_[run.index].inputs.back().step = weighed;
      }
    }
  }
  if (asked.now == asked.before) return true;
  const auto is_own_output = [&](const model::RecordedOutput& output) {
    return output.kind == NodeKind::file && output.path == asked.question.subject &&
           asked.now == engine::answer_digest(output.content);
  };
  if (std::any_of(run.record.outputs.begin(), run.record.outputs.end(), is_own_output)) {
    // Changed in place, as ranlib does: what it was before, its maker tells.
    if (!maker && !is_doubted) doubt(path + " is no longer what it was before this command changed it");
    return true;
  }
  if (engine::is_absent(asked.now)) {
    // Ninja removes a response file after its edge; it is words of the command, which are not judged.
    const auto& argv = run.derivation.command.argv;
    const auto is_response_file = [&](const std::string& word) {
      return word.starts_with('@') &&
             path::join(steps_[run.index].cwd, shown(run.today.bindings(), word.substr(1))) == path;
    };
    if (!maker && std::none_of(argv.begin(), argv.end(), is_response_file)) return false;
    run.gone.insert(asked.question.subject);
    if (maker) run.made_anew.push_back(path);
    return true;
  }
  if (maker && is_of_same_command(asked, *maker)) return true;
  if (!maker || !tools_.evidence.is_carried()) return false;
  steps_[run.index].doubts.push_back(
      path + " is not what was used; whether today's sources give it is not known here");
  return true;
}

/// Whether the build itself says that what this step makes is not linked again when a shared library changes
/// (an order-only input, as of CMake's LINK_DEPENDS_NO_SHARED): it loads the library as it is, so that counts
/// what the library is made of.
bool Prover::is_merely_loaded(const Case& run, const std::string& path) {
  const auto& output = steps_[run.index].output;
  if (!is_shared_library(path)) return false;
  const auto* graph = unrecorded_->graph_of(output);
  const auto* edge = graph == nullptr ? nullptr : graph->maker_of(output);
  if (edge == nullptr) return false;
  const auto names = [&](const std::vector<std::string>& inputs) {
    const auto all = graph->without_phony(inputs);
    return std::find(all.begin(), all.end(), path) != all.end();
  };
  return names(edge->order_only) && !names(edge->inputs);
}

/// Something that is not as it was, or cannot be told.
void Prover::judge_answer(Case& run, const Asked& asked) {
  auto& step = steps_[run.index];
  const auto& [question, before, now, path] = asked;
  // Whoever makes a file makes its folders first.
  const auto holds_what_is_made = [&, &question = question, &path = path] {
    return question.aspect == Aspect::kind && path &&
           std::any_of(run.made_anew.begin(), run.made_anew.end(),
                       [&](const std::string& file) { return path::is_within(file, *path); });
  };
  if (engine::is_unknown(now)) {
    step.doubts.push_back(path.value_or(question.subject) + ": " + engine::describe(now));
  } else if (engine::is_absent(now) && (run.gone.contains(question.subject) || holds_what_is_made())) {
    return;
  } else if (engine::is_absent(now) && is_in_temporary_place(question.subject)) {
    step.doubts.push_back(path.value_or(question.subject) + " lay in a temporary folder that is gone");
  } else {
    step.differences.push_back(engine::changed_answer(question, before, now, run.today.bindings()));
  }
}

/// The step that put these bytes into the very place where they are read, if a recorded command did. (Equal
/// bytes elsewhere say nothing: a header and its copy in a build folder are equal.) In a tree that nobody
/// built yet: the one that did in the tree of the run.
std::optional<std::size_t> Prover::maker_of(Case& run, const Asked& asked) {
  const auto digest = engine::digest_in(asked.before);
  const auto& path = *asked.path;
  auto makers = tools_.evidence.makers_of(*digest, store::place_of(path));
  const auto logged = run.logged.unfold(asked.question.subject);
  const bool elsewhere = logged && *logged != path;
  std::optional<std::string> root;
  if (makers.has_value() && makers->empty() && elsewhere) {
    makers = tools_.evidence.makers_of(*digest, store::place_of(*logged));
    root = run.origin.root;
  }
  if (!makers.has_value()) {
    doubt_origin(run.index, "who made " + path + " cannot be told: " + makers.error().what);
    return std::nullopt;
  }
  // A run that reads what it makes anew (ranlib) did not make it before; an earlier run of the same command
  // may have, out of what it then was, and so on: that is not followed.
  const auto maker = best_of(*makers, root, path, run.depth + 1, &run.origin.strong);
  if (!maker || !judged_[*maker] || steps_[*maker].verdict == Verdict::fresh) return maker;
  if (is_same_command(steps_[*maker].strong, run.origin.strong)) {
    doubt_origin(run.index, path + " was made by an earlier run of this command, of what has changed since");
    return std::nullopt;
  }
  return maker;
}

/// Why a file that no known run put there is surely no source.
std::optional<std::string> Prover::why_no_source(Case& run, const Asked& asked) {
  const auto& path = *asked.path;
  const auto logged = run.logged.unfold(asked.question.subject).value_or(path);
  for (const auto& place : {path, logged}) {
    const auto last = tools_.evidence.last_maker_at(store::place_of(place));
    if (!last.has_value()) return last.error().what;
    if (*last && !(*last)->strong) return "it was made by a command whose run could not be recorded";
    // What this run itself makes there came later.
    if (*last && *(*last)->strong != run.origin.strong)
      return "a recorded command made it, but not the bytes that were read";
  }
  const bool is_local = (!run.root.empty() && path::is_within(path, run.root)) ||
                        (!run.build_folder.empty() && path::is_within(path, run.build_folder));
  if (is_local) {
    const auto digest = engine::digest_in(asked.before);
    const auto makers = tools_.evidence.makers_of(*digest);
    if (!makers.has_value()) return makers.error().what;
    // Of few bytes only if what was made is not where it was made any more (it was moved), or is called the
    // same in its tree (a replay that could not be noted, as the store is read-only or the replay was
    // killed).
    const bool is_telling = digest->size_bytes >= kTellingBytes ||
                            std::any_of(makers->begin(), makers->end(), [&](const auto& maker) {
                              const auto made = made_as(maker, std::nullopt);
                              return !made.empty() && (made_as(maker, run.root) == path ||
                                                       (digest->size_bytes > 0 && !run.today.exists(made)));
                            });
    if (!makers->empty() && is_telling && !is_source_of_copy(*makers, path) &&
        !is_source_of_copy(*makers, logged))
      return "a recorded command made these bytes elsewhere, and how they came here is not known";
    const auto complete = tools_.evidence.has_all_notes();
    if (!complete.has_value() || !*complete)
      return "the store has lost notes, so it may be something that was made";
  }
  return run.today.sources().why_made(path);
}

/// Whether one of these runs read the bytes that it made from `path`.
bool Prover::is_source_of_copy(const Makers& makers, const std::string& path) {
  return std::any_of(makers.begin(), makers.end(), [&](const auto& maker) {
    const auto* places = logged_places(maker.places);
    const auto derivation = tools_.evidence.derivation(*maker.strong);
    if (places == nullptr || !derivation.has_value() || !*derivation) return false;
    const auto folded = tokens_of(*places).fold(path);
    const auto& questions = (*derivation)->paths.questions;
    return folded &&
           std::binary_search(questions.begin(), questions.end(), model::Question{Aspect::content, *folded});
  });
}

/// Whether what stands in the place of a step's output comes from another run of the same command, of other
/// inputs. Then that step tells whether the command would make its output again.
bool Prover::is_of_same_command(const Asked& asked, std::size_t maker) {
  const auto digest = engine::digest_in(asked.now);
  if (!digest) return false;
  const auto makers = tools_.evidence.makers_of(*digest, store::place_of(*asked.path));
  if (!makers.has_value() || makers->empty()) return false;
  const auto& other = *makers->front().strong;
  return other != steps_[maker].strong && is_same_command(other, steps_[maker].strong);
}

}  // namespace hallmark::prove
