#include "prove/chain.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/path.h"
#include "engine/answers.h"
#include "prove/internal/places.h"

namespace hallmark::prove {
namespace {

using model::Aspect;

constexpr std::string_view kRoot = "R";

std::string token(std::string_view name) {
  return "\x01" + std::string(name) + "\x02";
}

/// Gathers the steps of one proof.
class Gatherer {
 public:
  Gatherer(const Steps& steps, const std::vector<std::size_t>& order, Evidence& evidence)
      : steps_(steps), order_(order), evidence_(evidence) {}

  Result<Chain> gather(const std::string& artifact, const digest::Digest& content) {
    for (const auto index : order_) {
      if (steps_[index].is_recorded) HALLMARK_CHECK(take(index));
    }
    if (taken_.empty() || taken_.front().index != order_.front())
      return fail({ErrorKind::not_found, "what it was made of is not in the store", {}});
    HALLMARK_CHECK(add_output(taken_.front(), artifact, content));
    for (auto& reader : taken_) HALLMARK_CHECK(follow(reader));
    return finish();
  }

 private:
  struct Taken {
    std::size_t index = 0;
    ChainStep step;
    model::Tokens tokens;  ///< of all its folders
    model::Places places;  ///< all of them, as they are
  };

  Status take(std::size_t index) {
    const auto& step = steps_[index];
    HALLMARK_TRY(auto derivation, evidence_.derivation(step.strong));
    HALLMARK_TRY(const auto places, evidence_.places(step.places));
    if (!derivation || !places) return {};  // whoever reads its output gets a doubt
    HALLMARK_TRY(const auto record, evidence_.record(step.strong));
    Taken taken{index, {}, tokens_of(*places), *places};
    taken.step.strong = step.strong;
    taken.step.derivation = *std::move(derivation);
    // It may hold secrets, and no verdict needs it: the weak key covers it.
    taken.step.derivation.command.environment.clear();
    for (const auto& output : record.value_or(model::Record{}).outputs) {
      if (output.kind == NodeKind::file && output.role == model::OutputRole::plain)
        taken.step.outputs.push_back({output.path, output.content});
    }
    for (const auto& doubt : step.origin_doubts) HALLMARK_CHECK(add_doubt(taken, doubt));
    taken_.push_back(std::move(taken));
    return {};
  }

  static Result<std::string> folded(const Taken& taken, const std::string& text) {
    auto result = taken.tokens.fold(text);
    if (!result) return fail({ErrorKind::invalid, text + ": a name that cannot be folded", {}});
    return *std::move(result);
  }
  static Status add_doubt(Taken& taken, const std::string& doubt) {
    HALLMARK_TRY(auto text, folded(taken, doubt));
    taken.step.doubts.push_back(std::move(text));
    return {};
  }
  static Status add_output(Taken& taken, const std::string& path, const digest::Digest& content) {
    HALLMARK_TRY(auto name, folded(taken, path));
    taken.step.outputs.push_back({std::move(name), content});
    return {};
  }

  /// What it read was made by steps that are taken, or there is a doubt. A step may have made other bytes
  /// than its record holds, if an equal run was first: those that were read count.
  Status follow(Taken& reader) {
    std::map<std::string, digest::Digest> contents;
    const auto& derivation = reader.step.derivation;
    for (std::size_t i = 0; i < derivation.paths.questions.size(); ++i) {
      const auto& question = derivation.paths.questions[i];
      if (question.aspect != Aspect::content) continue;
      const auto path = reader.tokens.unfold(question.subject);
      const auto content = engine::digest_in(derivation.answers[i]);
      if (path && content) contents.emplace(*path, *content);
    }
    for (const auto& input : steps_[reader.index].inputs) {
      if (!input.step) continue;
      const auto content = contents.find(input.path);
      const auto maker = std::find_if(taken_.begin(), taken_.end(),
                                      [&](const Taken& other) { return other.index == *input.step; });
      if (maker == taken_.end() || content == contents.end()) {
        HALLMARK_CHECK(add_doubt(reader, input.path + ": what it was made of was not recorded"));
      } else {
        HALLMARK_CHECK(add_output(*maker, input.path, content->second));
      }
    }
    return {};
  }

  /// The folders that the step mentions, by the artifact's root.
  Status add_places(Taken& taken) {
    model::Tokens root;
    root.add(std::string(kRoot), place_named(taken_.front().places, kRoot));
    for (const auto& [name, value] : taken.places) {
      if (name != kRoot && !mentions(taken.step, name)) continue;
      auto text = root.fold(value);
      if (!text) return fail({ErrorKind::invalid, value + ": a folder that cannot be folded", {}});
      taken.step.places.emplace_back(name, *std::move(text));
    }
    return {};
  }

  static bool mentions(const ChainStep& step, const std::string& name) {
    const auto mark = token(name);
    const auto holds = [&](const std::string& text) { return text.find(mark) != std::string::npos; };
    const auto& [strong, places, derivation, outputs, doubts] = step;
    const auto& command = derivation.command;
    const auto is_asked = [&](const model::Question& question) {
      return (question.aspect == Aspect::program && name == "PATH") ||
             (question.aspect == Aspect::bound && question.subject == name) || holds(question.subject);
    };
    return std::any_of(derivation.paths.questions.begin(), derivation.paths.questions.end(), is_asked) ||
           std::any_of(derivation.answers.begin(), derivation.answers.end(), holds) ||
           std::any_of(command.argv.begin(), command.argv.end(), holds) || holds(command.cwd) ||
           std::any_of(outputs.begin(), outputs.end(),
                       [&](const auto& output) { return holds(output.path); }) ||
           std::any_of(doubts.begin(), doubts.end(), holds);
  }

  Result<Chain> finish() {
    Chain chain;
    for (auto& taken : taken_) {
      HALLMARK_CHECK(add_places(taken));
      auto& outputs = taken.step.outputs;
      std::sort(outputs.begin(), outputs.end());
      outputs.erase(std::unique(outputs.begin(), outputs.end()), outputs.end());
      chain.steps.push_back(std::move(taken.step));
    }
    return chain;
  }

  const Steps& steps_;
  const std::vector<std::size_t>& order_;
  Evidence& evidence_;
  std::vector<Taken> taken_;
};

/// A step's folders as they are in the tree `root`.
model::Places places_below(const model::Places& places, const std::string& root) {
  model::Tokens tokens;
  tokens.add(std::string(kRoot), root);
  model::Places found;
  for (const auto& [name, value] : places) {
    // A root of "/" is no token: its folders have no name in another tree.
    if (auto text = tokens.unfold(value)) found.emplace_back(name, *std::move(text));
  }
  return found;
}

/// Whether a folded path lies below the root that is yet to be known.
bool lies_in_tree(std::string_view subject, const model::Places& places) {
  return std::any_of(places.begin(), places.end(), [&](const auto& place) {
    return subject.starts_with(token(place.first)) && place.second.find(token(kRoot)) != std::string::npos;
  });
}

/// Calls visit(Leaf) for each file that a step read and none made; one that several read comes several times.
template <class Visit>
void for_each_leaf(const Chain& chain, const std::string& root, Visit visit) {
  std::unordered_multimap<digest::Sha256, std::string, digest::HashOfSha256> made;
  std::vector<model::Tokens> tokens;
  for (const auto& step : chain.steps) {
    tokens.push_back(tokens_of(places_below(step.places, root)));
    for (const auto& output : step.outputs) {
      if (auto path = tokens.back().unfold(output.path)) made.emplace(output.content.hash, *std::move(path));
    }
  }
  const auto is_made = [&](const std::string& path, const digest::Digest& content) {
    const auto [begin, end] = made.equal_range(content.hash);
    return std::any_of(begin, end, [&](const auto& each) { return each.second == path; });
  };
  for (std::size_t s = 0; s < chain.steps.size(); ++s) {
    const auto& derivation = chain.steps[s].derivation;
    for (std::size_t i = 0; i < derivation.paths.questions.size(); ++i) {
      const auto& question = derivation.paths.questions[i];
      if (question.aspect != Aspect::content) continue;
      const auto content = engine::digest_in(derivation.answers[i]);
      auto path = tokens[s].unfold(question.subject);
      if (!content || !path || is_made(*path, *content)) continue;
      visit(Leaf{*std::move(path), *content, lies_in_tree(question.subject, chain.steps[s].places)});
    }
  }
}

}  // namespace

Result<Chain> chain_of(const Steps& steps, const Proof& proof, const digest::Digest& content,
                       Evidence& evidence) {
  const auto order = steps_of(steps, proof);
  if (order.empty()) return fail({ErrorKind::not_found, proof.doubt, {}});
  return Gatherer(steps, order, evidence).gather(proof.artifact, content);
}

std::vector<Leaf> leaves_of(const Chain& chain, const std::string& root) {
  std::set<Leaf> leaves;
  for_each_leaf(chain, root, [&](Leaf leaf) { leaves.insert(std::move(leaf)); });
  return {leaves.begin(), leaves.end()};
}

std::vector<std::string> sources_in_tree(const Chain& chain) {
  constexpr const char* kTree = "/tree";
  std::vector<std::string> sources;
  for_each_leaf(chain, kTree, [&](const Leaf& leaf) {
    if (leaf.in_tree) sources.push_back(path::relative_below(leaf.path, kTree));
  });
  return sources;
}

digest::Key inputs_key(const model::Derivation& derivation) {
  digest::Encoder files;
  std::size_t count = 0;
  for (std::size_t i = 0; i < derivation.paths.questions.size(); ++i) {
    const auto& question = derivation.paths.questions[i];
    const auto content = engine::digest_in(derivation.answers[i]);
    if (question.aspect != Aspect::content || !content) continue;
    files.text(question.subject).digest(*content);
    ++count;
  }
  digest::Encoder out;
  out.text("hallmark inputs 1").number(count).text(files.bytes());
  return out.key();
}

ChainEvidence::ChainEvidence(const Chain& chain, const std::string& root) : chain_(chain), root_(root) {
  for (const auto& step : chain_.steps) {
    steps_.emplace(step.strong, &step);
    auto places = places_below(step.places, root);
    const digest::Key key{digest::digest_of(model::encode(places)).hash};
    const auto tokens = tokens_of(places);
    places_.emplace(key, std::move(places));
    for (const auto& output : step.outputs) {
      const auto path = tokens.unfold(output.path);
      if (!path) continue;
      const Maker maker{step.strong, key, store::place_of(*path)};
      by_content_.emplace(output.content.hash, maker);
      by_place_.try_emplace(maker.place, maker);
    }
  }
}

Result<std::vector<Evidence::Maker>> ChainEvidence::makers_of(const digest::Digest& content,
                                                              std::optional<std::uint64_t> place) {
  std::vector<Maker> makers;
  const auto [begin, end] = by_content_.equal_range(content.hash);
  for (auto at = begin; at != end && makers.size() < limits::kMakersPerContent; ++at) {
    if (!place || at->second.place == *place) makers.push_back(at->second);
  }
  return makers;
}

Result<std::optional<Evidence::Maker>> ChainEvidence::last_maker_at(std::uint64_t place) {
  const auto found = by_place_.find(place);
  return found == by_place_.end() ? std::nullopt : std::optional(found->second);
}

Result<std::optional<model::Places>> ChainEvidence::places(const digest::Key& key) {
  const auto found = places_.find(key);
  return found == places_.end() ? std::nullopt : std::optional(found->second);
}

Result<std::optional<model::Derivation>> ChainEvidence::derivation(const digest::Key& strong) {
  const auto found = steps_.find(strong);
  return found == steps_.end() ? std::nullopt : std::optional(found->second->derivation);
}

Result<std::optional<model::Record>> ChainEvidence::record(const digest::Key& strong) {
  const auto found = steps_.find(strong);
  if (found == steps_.end()) return std::nullopt;
  model::Record record;
  record.weak_key = found->second->derivation.weak_key;
  for (const auto& output : found->second->outputs)
    record.outputs.push_back(
        {output.path, NodeKind::file, 0644, model::OutputRole::plain, output.content, {}});
  return record;
}

std::vector<std::string> ChainEvidence::doubts_of(const digest::Key& strong) {
  std::vector<std::string> doubts;
  const auto [begin, end] = steps_.equal_range(strong);
  for (auto at = begin; at != end; ++at) {
    const auto& step = *at->second;
    const auto tokens = tokens_of(places_below(step.places, root_));
    for (const auto& doubt : step.doubts) doubts.push_back(tokens.unfold(doubt).value_or(doubt));
  }
  return doubts;
}

}  // namespace hallmark::prove
