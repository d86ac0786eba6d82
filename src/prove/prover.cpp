#include "prove/prover.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>

#include "base/limits.h"
#include "base/path.h"
#include "engine/answers.h"
#include "prove/internal/case.h"
#include "prove/internal/places.h"
#include "prove/internal/today.h"
#include "prove/internal/unrecorded.h"

namespace hallmark::prove {
namespace {

/// The user of the command, among its notes ("uid=0").
std::string uid_note(std::uint32_t uid) {
  return "uid=" + std::to_string(uid);
}

constexpr const char* kNobody =
    "no command that hallmark recorded made these bytes: it was built without hallmark, or changed since "
    "(stripped, patched, signed)";

}  // namespace

Prover::Prover(Tools tools) : tools_(tools), unrecorded_(std::make_unique<Unrecorded>(tools.files)) {}
Prover::~Prover() = default;

Today& Prover::today_at(const model::Places& places, bool same_user) {
  auto& today = todays_[{places, same_user}];
  if (!today) {
    today = std::make_unique<Today>(
        Today::Tools{tools_.files, tools_.hasher, tools_.machine, tools_.environment, same_user}, places);
  }
  return *today;
}

const model::Places* Prover::logged_places(const digest::Key& key) {
  const auto [known, is_new] = places_.try_emplace(key);
  if (is_new) {
    if (auto places = tools_.evidence.places(key); places.has_value()) known->second = *std::move(places);
  }
  return known->second ? &*known->second : nullptr;
}

/// Whether two runs had the same words, folder and variables; terminals and pipes do not matter here. False
/// if a record is lost.
bool Prover::is_same_command(const digest::Key& a, const digest::Key& b) {
  const auto derivation_a = tools_.evidence.derivation(a);
  const auto derivation_b = tools_.evidence.derivation(b);
  if (!derivation_a.has_value() || !*derivation_a || !derivation_b.has_value() || !*derivation_b)
    return false;
  const auto& command_a = (*derivation_a)->command;
  const auto& command_b = (*derivation_b)->command;
  return command_a.argv == command_b.argv && command_a.cwd == command_b.cwd &&
         command_a.environment == command_b.environment;
}

/// The path under which the run made it, as it is called in the tree `root`; empty if that is not known.
std::string Prover::made_as(const Evidence::Maker& maker, const std::optional<std::string>& root) {
  const auto* places = logged_places(maker.places);
  const auto record = tools_.evidence.record(*maker.strong);
  if (places == nullptr || !record.has_value() || !*record) return {};
  const auto tokens = tokens_of(*places);
  for (const auto& output : (*record)->outputs) {
    const auto path = tokens.unfold(output.path);
    if (!path || store::place_of(*path) != maker.place) continue;
    return root ? in_other_tree(*path, place_named(*places, "R"), *root) : *path;
  }
  return {};
}

Result<Proof> Prover::prove(const std::string& artifact, const Trees& trees, const std::string& bytes) {
  HALLMARK_TRY(const auto hashed, tools_.hasher.hash(bytes.empty() ? artifact : bytes));
  const auto place = store::place_of(artifact);
  Proof proof;
  proof.artifact = artifact;
  auto root = trees.only;
  bool in_place = true;
  HALLMARK_TRY(auto makers, tools_.evidence.makers_of(hashed.digest, place));
  if (makers.empty()) {
    HALLMARK_TRY(makers, tools_.evidence.makers_of(hashed.digest));
    if (makers.empty()) {
      if (bytes.empty()) proof.step = weigh(artifact, 0);
      if (proof.step) {
        proof.verdict = steps_[*proof.step].verdict;
        return proof;
      }
      HALLMARK_TRY(const auto last, tools_.evidence.last_maker_at(place));
      proof.doubt = !last          ? kNobody
                    : last->strong ? "a recorded command made this file, but not these bytes: changed since "
                                     "(stripped, patched, signed), or made without hallmark"
                                   : "it was made by a command whose run could not be recorded";
      return proof;
    }
    // A copy of what was made elsewhere.
    in_place = false;
    if (!root && trees.around && made_as(makers.front(), trees.around) == artifact) root = trees.around;
  }
  proof.step = best_of(makers, root, in_place && !root ? artifact : std::string(), 0, nullptr);
  if (!proof.step) return proof;
  auto& made = steps_[*proof.step];
  if (made.output.empty()) made.output = artifact;
  proof.verdict = made.verdict;
  return proof;
}

Proof Prover::prove_run(const std::string& artifact, const digest::Key& strong, const Trees& trees) {
  Proof proof;
  proof.artifact = artifact;
  Makers makers;
  if (const auto record = tools_.evidence.record(strong); record.has_value() && *record) {
    for (const auto& output : (*record)->outputs) {
      if (output.kind != NodeKind::file) continue;
      const auto found = tools_.evidence.makers_of(output.content);
      if (!found.has_value()) continue;
      std::copy_if(found->begin(), found->end(), std::back_inserter(makers),
                   [&](const auto& maker) { return maker.strong == strong; });
    }
  }
  if (makers.empty()) {
    proof.doubt = "the run that made it is not known here";
    return proof;
  }
  // Of several outputs the one of this name.
  const auto has_its_name = [&](const auto& maker) {
    return path::base_name(made_as(maker, trees.only)) == path::base_name(artifact);
  };
  const auto named = std::find_if(makers.begin(), makers.end(), has_its_name);
  if (named != makers.end()) std::rotate(makers.begin(), named, named + 1);
  auto root = trees.only;
  if (!root && trees.around && made_as(makers.front(), trees.around) == artifact) root = trees.around;
  proof.step = best_of(makers, root, {}, 0, nullptr);
  if (proof.step) proof.verdict = steps_[*proof.step].verdict;
  return proof;
}

/// Several commands may have put these bytes there. The last one is the one that a build would run again,
/// with the folders that it had; whether another would make the same is not asked. Any of its runs may be the
/// fresh one, but for `reader`. `output`: the path; empty: as each run called it.
std::optional<std::size_t> Prover::best_of(const Makers& makers, const std::optional<std::string>& root,
                                           const std::string& output, std::size_t depth,
                                           const digest::Key* reader) {
  std::optional<std::size_t> latest;
  digest::Key last;
  digest::Key places;
  std::set<digest::Key> seen;
  for (const auto& maker : makers) {
    if ((reader != nullptr && *maker.strong == *reader) || !seen.insert(*maker.strong).second) continue;
    if (!latest) {
      last = *maker.strong;
      places = maker.places;
    } else if (!is_same_command(last, *maker.strong)) {
      continue;
    }
    const auto index =
        step({*maker.strong, places, root}, output.empty() ? made_as(maker, root) : output, depth);
    if (judged_[index] && steps_[index].verdict == Verdict::fresh) return index;
    if (!latest) latest = index;
  }
  return latest;
}

std::size_t Prover::step(const Origin& origin, const std::string& output, std::size_t depth) {
  const auto [known, is_new] = known_.try_emplace(origin, steps_.size());
  const auto index = known->second;
  if (!is_new) return index;
  steps_.emplace_back();
  judged_.push_back(false);
  steps_[index].strong = origin.strong;
  steps_[index].places = origin.places;
  steps_[index].output = output;
  for (auto& doubt : tools_.evidence.doubts_of(origin.strong)) doubt_origin(index, std::move(doubt));

  const auto derivation = tools_.evidence.derivation(origin.strong);
  const auto* logged = logged_places(origin.places);
  if (!derivation.has_value()) {
    steps_[index].doubts.push_back(derivation.error().message());
  } else if (!*derivation || logged == nullptr) {
    steps_[index].doubts.emplace_back("what it was made of is no longer in the store");
  } else if (model::strong_key((*derivation)->weak_key, (*derivation)->paths, (*derivation)->answers) !=
             origin.strong) {
    steps_[index].doubts.emplace_back("what the store says of it belongs to another run");
  } else if (depth >= limits::kDerivationSteps) {
    steps_[index].doubts.emplace_back("its chain is longer than kDerivationSteps");
  } else {
    const auto found = tools_.evidence.record(origin.strong);
    // Its inputs are all in the derivation.
    const auto record = found.has_value() && *found ? **found : model::Record{};
    const auto& notes = (*derivation)->command.others;
    const bool same_user = std::find(notes.begin(), notes.end(), uid_note(tools_.uid)) != notes.end();
    const auto places = places_in(*logged, origin.root);
    steps_[index].made_ns = record.created_ns;
    steps_[index].root = place_named(places, "R");
    Case run{index,
             origin,
             **derivation,
             record,
             depth,
             today_at(places, same_user),
             tokens_of(*logged),
             place_named(places, "R"),
             place_named(places, "B")};
    judge(run);
  }

  finish_step(index);
  return index;
}

/// All its inputs are known: the verdict.
void Prover::finish_step(std::size_t index) {
  auto& step = steps_[index];
  step.verdict = !step.differences.empty()                                             ? Verdict::stale
                 : !step.doubts.empty() || !(step.is_recorded || tools_.accept_weaker) ? Verdict::unknown
                                                                                       : Verdict::fresh;
  for (const auto& input : step.inputs) {
    if (step.verdict == Verdict::stale) break;
    if (input.step && steps_[*input.step].verdict != Verdict::fresh)
      step.verdict = steps_[*input.step].verdict;
  }
  judged_[index] = true;
}

}  // namespace hallmark::prove
