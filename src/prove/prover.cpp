#include "prove/prover.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "base/limits.h"
#include "base/path.h"
#include "engine/answers.h"
#include "engine/explain.h"
#include "prove/internal/places.h"
#include "prove/internal/today.h"

namespace hallmark::prove {
namespace {

using model::Aspect;

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

/// A step while it is judged. Steps that it leads to come in between: no reference to it may be kept.
struct Prover::Case {
  std::size_t index;
  const model::Derivation& derivation;
  const model::Record& record;
  const Origin& origin;
  std::size_t depth;
  Today& today;
  std::set<std::string_view> gone;     ///< folded: absent today, but a step makes them
  std::vector<std::string> made_anew;  ///< absolute: what is made on the way to the outputs, and they
};

struct Prover::Asked {
  const model::Question& question;
  const model::Answer& before;
  const model::Answer& now;
  const std::optional<std::string>& path;  ///< the subject, if it is one
};

Prover::Prover(Tools tools) : tools_(tools) {}
Prover::~Prover() = default;

Today& Prover::today_at(const model::Places& places) {
  auto& today = todays_[places];
  if (!today) {
    today = std::make_unique<Today>(
        Today::Tools{tools_.files, tools_.store.hasher(), tools_.machine, tools_.environment}, places);
  }
  return *today;
}

/// Of a lost record a key that no other has.
digest::Key Prover::weak_key_of(const digest::Key& strong) {
  const auto record = tools_.store.record(strong);
  if (record.has_value() && *record) return (*record)->weak_key;
  const auto derivation = tools_.store.derivation(strong);
  return derivation.has_value() && *derivation ? (*derivation)->weak_key : strong;
}

/// The runs that may have made the artifact, in the trees where it may have been: the latest first, and of
/// each run where it was made first.
std::vector<Prover::Candidate> Prover::candidates(const digest::Digest& content,
                                                  const std::vector<store::DerivationStore::Maker>& makers,
                                                  const std::string& artifact, const Trees& trees) {
  std::vector<std::optional<std::string>> roots;
  if (trees.only) {
    roots = {trees.only};
  } else {
    roots.assign(trees.more.begin(), trees.more.end());
    roots.insert(roots.begin(), std::nullopt);
  }
  std::vector<Candidate> found;
  std::set<digest::Key> seen;
  for (const auto& maker : makers) {
    if (!seen.insert(maker.strong).second) continue;
    const auto weak = weak_key_of(maker.strong);
    const auto derivation = tools_.store.derivation(maker.strong);
    const auto record = tools_.store.record(maker.strong);
    if (!derivation.has_value() || !*derivation || !record.has_value() || !*record) {
      // Its step says what is missing.
      found.push_back({{maker.strong, trees.only}, artifact, weak, false});
      continue;
    }
    for (const auto& root : roots) {
      const auto& tokens =
          today_at(places_in((*derivation)->places, root, tools_.environment)).bindings().tokens();
      Candidate candidate{{maker.strong, root}, artifact, weak, false};
      bool named = false;
      for (const auto& output : (*record)->outputs) {
        // Where another run's bytes stay in the record, the place tells that it is this output.
        if (output.kind != NodeKind::file ||
            (output.content != content && store::place_of(output.path) != maker.place))
          continue;
        const auto path = tokens.unfold(output.path);
        if (!path) continue;
        candidate.in_place = candidate.in_place || *path == artifact;
        if (!named || *path == artifact) candidate.output = *path;
        named = true;
      }
      found.push_back(std::move(candidate));
    }
  }
  return found;
}

Result<Proof> Prover::prove(const std::string& artifact, const Trees& trees, const std::string& bytes) {
  HALLMARK_TRY(const auto hashed, tools_.store.hasher().hash(bytes.empty() ? artifact : bytes));
  HALLMARK_TRY(const auto makers, tools_.store.makers_of(hashed.digest));
  Proof proof;
  proof.artifact = artifact;
  auto known = candidates(hashed.digest, makers, artifact, trees);
  if (std::any_of(known.begin(), known.end(), [](const Candidate& one) { return one.in_place; }))
    std::erase_if(known, [](const Candidate& one) { return !one.in_place; });
  // Several commands may have made these bytes. The one that did it last is the one that a build would run
  // again; whether another would make the same is not asked. Of its runs with other inputs any may be fresh.
  if (!known.empty())
    std::erase_if(known, [weak = known.front().weak](const Candidate& one) { return one.weak != weak; });
  for (const auto& candidate : known) {
    const auto index = step(candidate.origin, candidate.output, 0);
    const auto verdict = steps_[index].verdict;
    if (proof.step && verdict != Verdict::fresh) continue;
    proof.step = index;
    proof.verdict = verdict;
    if (verdict == Verdict::fresh) break;
  }
  if (!proof.step) {
    proof.doubt =
        "no command that hallmark recorded made these bytes: it was built without hallmark, or changed since "
        "(stripped, patched, signed)";
  }
  return proof;
}

std::size_t Prover::step(const Origin& origin, const std::string& output, std::size_t depth) {
  const auto [known, is_new] = known_.try_emplace(origin, steps_.size());
  const auto index = known->second;
  if (!is_new) return index;
  steps_.emplace_back();
  judged_.push_back(false);
  steps_[index].strong = origin.strong;
  steps_[index].output = output;

  const auto derivation = tools_.store.derivation(origin.strong);
  if (!derivation.has_value()) {
    steps_[index].doubts.push_back(derivation.error().message());
  } else if (!*derivation) {
    steps_[index].doubts.emplace_back("what it was made of is no longer in the store");
  } else if (model::strong_key((*derivation)->weak_key, (*derivation)->paths, (*derivation)->answers) !=
             origin.strong) {
    steps_[index].doubts.emplace_back("what the store says of it belongs to another run");
  } else if (depth >= limits::kDerivationSteps) {
    steps_[index].doubts.emplace_back("its chain is longer than kDerivationSteps");
  } else {
    const auto found = tools_.store.record(origin.strong);
    // Its inputs are all in the derivation.
    const auto record = found.has_value() && *found ? **found : model::Record{};
    const auto places = places_in((*derivation)->places, origin.root, tools_.environment);
    steps_[index].made_ns = record.created_ns;
    steps_[index].root = place(places, "R");
    Case run{index, **derivation, record, origin, depth, today_at(places), {}, {}};
    judge(run);
  }

  auto& step = steps_[index];
  step.verdict = !step.differences.empty() ? Verdict::stale
                 : !step.doubts.empty()    ? Verdict::unknown
                                           : Verdict::fresh;
  for (const auto& input : step.inputs) {
    if (step.verdict == Verdict::stale) break;
    if (input.step && steps_[*input.step].verdict != Verdict::fresh)
      step.verdict = steps_[*input.step].verdict;
  }
  judged_[index] = true;
  return index;
}

/// The step that made an input, if a recorded command did, in the very place where it is read. (Equal bytes
/// elsewhere say nothing: a header and its copy in a build folder are equal.) Of several runs of the command
/// that made it last the one that is fresh, else the latest.
std::optional<std::size_t> Prover::maker_of(const Case& run, const Asked& asked) {
  const auto digest = engine::digest_in(asked.before);
  if (!digest) return std::nullopt;
  const auto makers = tools_.store.makers_of(*digest, store::place_of(asked.question.subject));
  if (!makers.has_value()) return std::nullopt;
  std::optional<std::size_t> latest;
  std::optional<digest::Key> weak;
  for (const auto& maker : *makers) {
    // What a run both reads and makes anew (ranlib) it did not make before.
    if (maker.strong == run.origin.strong) continue;
    if (makers->size() > 1) {
      const auto command = weak_key_of(maker.strong);
      if (weak && *weak != command) continue;
      weak = command;
    }
    const auto index = step({maker.strong, run.origin.root}, *asked.path, run.depth + 1);
    if (judged_[index] && steps_[index].verdict == Verdict::fresh) return index;
    if (!latest) latest = index;
  }
  return latest;
}

/// Whether what stands in the place of a step's output comes from another run of the same command. Then that
/// step tells whether the command would make its output again.
bool Prover::is_of_same_command(const Asked& asked, std::size_t maker) {
  const auto digest = engine::digest_in(asked.now);
  if (!digest) return false;
  const auto makers = tools_.store.makers_of(*digest, store::place_of(asked.question.subject));
  return makers.has_value() && !makers->empty() &&
         weak_key_of(makers->front().strong) == weak_key_of(steps_[maker].strong);
}

void Prover::judge(Case& run) {
  auto& today = run.today;
  {
    auto& step = steps_[run.index];
    for (const auto& word : run.derivation.command.argv) step.argv.push_back(shown(today.bindings(), word));
    step.cwd = shown(today.bindings(), run.derivation.command.cwd);
    if (!step.root.empty() && !today.exists(step.root)) {
      step.doubts.push_back("the tree where it was made, " + step.root +
                            ", is gone; name the tree of today with --root");
      return;
    }
  }
  for (const auto& output : run.record.outputs) run.made_anew.push_back(shown(today.bindings(), output.path));
  const auto& questions = run.derivation.paths.questions;
  const auto answers = today.ask(run.derivation.paths);
  // By aspect: contents come first.
  for (std::size_t i = 0; i < questions.size(); ++i) {
    if (is_personal(questions[i])) continue;
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
  const auto maker = maker_of(run, asked);
  auto& step = steps_[run.index];
  if (maker && !judged_[*maker]) {
    step.doubts.push_back("the records of " + path + " lead in a circle");
  } else {
    step.inputs.push_back({path, maker});
  }
  if (!maker) {
    if (const auto why = run.today.sources().why_made(path)) step.doubts.push_back(path + ": " + *why);
  }
  if (asked.now == asked.before) return true;
  const auto is_own_output = [&](const model::RecordedOutput& output) {
    return output.kind == NodeKind::file && output.path == asked.question.subject &&
           asked.now == engine::answer_digest(output.content);
  };
  if (std::any_of(run.record.outputs.begin(), run.record.outputs.end(), is_own_output)) {
    // Changed in place, as ranlib does: what it was before, its maker tells.
    if (!maker) step.doubts.push_back(path + " is no longer what it was before this command changed it");
    return true;
  }
  if (!maker) return false;
  if (engine::is_absent(asked.now)) {
    run.gone.insert(asked.question.subject);
    run.made_anew.push_back(path);
    return true;
  }
  return is_of_same_command(asked, *maker);
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

}  // namespace hallmark::prove
