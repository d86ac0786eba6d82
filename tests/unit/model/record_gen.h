// Generators of what the store keeps, for properties of the codecs.
#pragma once

#include <rapidcheck.h>

#include <map>
#include <string>
#include <vector>

#include "model/record.h"

namespace hallmark::test {

inline model::SeenSet seen_set(const std::map<model::Question, model::Answer>& asked) {
  model::SeenSet set;
  for (const auto& [question, answer] : asked) {
    set.paths.questions.push_back(question);
    set.answers.push_back(answer);
  }
  return set;
}

/// Subjects that share beginnings, as paths do.
inline rc::Gen<std::string> subjects() {
  const auto piece = rc::gen::element<std::string>("/usr", "/include", "/a", "/b", "x.h", "\x01root\x02", "",
                                                   std::string("\0", 1));
  return rc::gen::map(rc::gen::container<std::vector<std::string>>(piece),
                      [](const std::vector<std::string>& pieces) {
                        std::string text;
                        for (const std::string& p : pieces) text += p;
                        return text;
                      });
}

inline rc::Gen<model::Question> questions() {
  return rc::gen::map(rc::gen::pair(rc::gen::inRange(1, 12), subjects()),
                      [](const std::pair<int, std::string>& from) {
                        return model::Question{static_cast<model::Aspect>(from.first), from.second};
                      });
}

inline rc::Gen<model::SeenSet> seen_sets() {
  const auto answers =
      rc::gen::element<std::string>("", "1", "2", std::string(33, 'd'), std::string(33, 'e'));
  return rc::gen::map(rc::gen::container<std::map<model::Question, model::Answer>>(questions(), answers),
                      seen_set);
}

inline rc::Gen<model::WeakEntry> weak_entries() {
  using Texts = std::vector<std::string>;
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  return rc::gen::map(rc::gen::tuple(rc::gen::arbitrary<Texts>(), rc::gen::arbitrary<std::string>(),
                                     rc::gen::arbitrary<Pairs>(), rc::gen::arbitrary<Texts>(),
                                     rc::gen::container<std::vector<model::SeenSet>>(seen_sets())),
                      [](std::tuple<Texts, std::string, Pairs, Texts, std::vector<model::SeenSet>> from) {
                        auto& [argv, cwd, environment, others, sets] = from;
                        if (sets.size() > limits::kPathSetsPerWeakKey)
                          sets.resize(limits::kPathSetsPerWeakKey);
                        return model::WeakEntry{{argv, cwd, environment, others}, sets};
                      });
}

inline rc::Gen<digest::Digest> digests() {
  return rc::gen::map(rc::gen::arbitrary<std::string>(),
                      [](const std::string& text) { return digest::digest_of(text); });
}

inline rc::Gen<model::RecordedOutput> outputs() {
  return rc::gen::build<model::RecordedOutput>(
      rc::gen::set(&model::RecordedOutput::path),
      rc::gen::set(&model::RecordedOutput::mode, rc::gen::inRange(0u, 010000u)),
      rc::gen::set(&model::RecordedOutput::kind,
                   rc::gen::element(NodeKind::file, NodeKind::directory, NodeKind::symlink, NodeKind::other)),
      rc::gen::set(&model::RecordedOutput::role,
                   rc::gen::element(model::OutputRole::plain, model::OutputRole::depfile,
                                    model::OutputRole::searched_folder)),
      rc::gen::set(&model::RecordedOutput::content, digests()), rc::gen::set(&model::RecordedOutput::target));
}

inline rc::Gen<model::Derivation> derivations() {
  return rc::gen::map(rc::gen::tuple(weak_entries(), seen_sets(), digests()),
                      [](std::tuple<model::WeakEntry, model::SeenSet, digest::Digest> from) {
                        auto& [entry, set, weak] = from;
                        return model::Derivation{{weak.hash}, entry.command, set.paths, set.answers};
                      });
}

inline rc::Gen<model::Reason> reasons() {
  return rc::gen::build<model::Reason>(
      rc::gen::set(
          &model::Reason::code,
          rc::gen::map(rc::gen::inRange(0, 65536), [](int n) { return static_cast<model::ReasonCode>(n); })),
      rc::gen::set(&model::Reason::subject), rc::gen::set(&model::Reason::before),
      rc::gen::set(&model::Reason::after));
}

inline rc::Gen<model::Record> records() {
  const auto maybe = [](const rc::Gen<digest::Digest>& gen) {
    return rc::gen::map(rc::gen::pair(rc::gen::arbitrary<bool>(), gen),
                        [](const std::pair<bool, digest::Digest>& from) {
                          return from.first ? std::optional(from.second) : std::nullopt;
                        });
  };
  const auto keys =
      rc::gen::map(digests(), [](const digest::Digest& digest) { return digest::Key{digest.hash}; });
  return rc::gen::build<model::Record>(
      rc::gen::set(&model::Record::weak_key, keys),
      rc::gen::set(&model::Record::outputs,
                   rc::gen::container<std::vector<model::RecordedOutput>>(outputs())),
      rc::gen::set(&model::Record::out, maybe(digests())),
      rc::gen::set(&model::Record::err, maybe(digests())),
      rc::gen::set(&model::Record::tier, rc::gen::element(model::Tier::hybrid, model::Tier::notify,
                                                          model::Tier::ptrace, model::Tier::none)),
      rc::gen::set(&model::Record::created_ns), rc::gen::set(&model::Record::wall_ns),
      rc::gen::set(&model::Record::peak_rss_bytes), rc::gen::set(&model::Record::programs),
      rc::gen::set(&model::Record::notes, rc::gen::container<std::vector<model::Reason>>(reasons())));
}

}  // namespace hallmark::test
