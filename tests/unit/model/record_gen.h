// Generators of what the store keeps, for properties of the codecs.
#pragma once

#include <rapidcheck.h>

#include <map>
#include <optional>
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

// Each value is put together step by step (gen::exec): tuples and builders of generators take the compiler
// half a minute.

inline rc::Gen<model::Question> questions() {
  return rc::gen::exec([] {
    const auto aspect = *rc::gen::inRange(1, 12);
    return model::Question{static_cast<model::Aspect>(aspect), *subjects()};
  });
}

inline rc::Gen<std::string> texts() {
  return rc::gen::arbitrary<std::string>();
}

inline int count() {
  return *rc::gen::inRange(0, 8);
}

inline rc::Gen<model::SeenSet> seen_sets() {
  return rc::gen::exec([] {
    const auto answers =
        rc::gen::element<std::string>("", "1", "2", std::string(33, 'd'), std::string(33, 'e'));
    std::map<model::Question, model::Answer> asked;
    for (int i = count(); i > 0; --i) {
      const auto question = *questions();
      asked[question] = *answers;
    }
    return seen_set(asked);
  });
}

inline rc::Gen<model::WeakEntry> weak_entries() {
  return rc::gen::exec([] {
    model::WeakEntry entry;
    for (int i = count(); i > 0; --i) entry.command.argv.push_back(*texts());
    entry.command.cwd = *texts();
    for (int i = count(); i > 0; --i) {
      const auto name = *texts();
      entry.command.environment.emplace_back(name, *texts());
    }
    for (int i = count(); i > 0; --i) entry.command.others.push_back(*texts());
    for (int i = count(); i > 0; --i) entry.sets.push_back(*seen_sets());
    return entry;
  });
}

inline digest::Digest any_digest() {
  return digest::digest_of(*texts());
}

inline rc::Gen<model::RecordedOutput> outputs() {
  return rc::gen::exec([] {
    model::RecordedOutput output;
    output.path = *texts();
    output.mode = *rc::gen::inRange(0U, 010000U);
    output.kind = static_cast<NodeKind>(*rc::gen::inRange(0, 4));
    output.role = static_cast<model::OutputRole>(*rc::gen::inRange(0, 3));
    output.content = any_digest();
    output.target = *texts();
    return output;
  });
}

inline rc::Gen<model::Derivation> derivations() {
  return rc::gen::exec([] {
    const auto set = *seen_sets();
    return model::Derivation{{any_digest().hash}, (*weak_entries()).command, set.paths, set.answers};
  });
}

inline rc::Gen<model::Reason> reasons() {
  return rc::gen::exec([] {
    model::Reason reason;
    reason.code = static_cast<model::ReasonCode>(*rc::gen::inRange(0, 65536));
    reason.subject = *texts();
    reason.before = *texts();
    reason.after = *texts();
    return reason;
  });
}

inline std::optional<digest::Digest> maybe_digest() {
  return *rc::gen::inRange(0, 2) == 1 ? std::optional(any_digest()) : std::nullopt;
}

inline rc::Gen<model::Record> records() {
  return rc::gen::exec([] {
    model::Record record;
    record.weak_key = {any_digest().hash};
    for (int i = count(); i > 0; --i) record.outputs.push_back(*outputs());
    record.out = maybe_digest();
    record.err = maybe_digest();
    record.tier = static_cast<model::Tier>(*rc::gen::inRange(1, 5));
    record.created_ns = *rc::gen::arbitrary<std::int64_t>();
    record.wall_ns = *rc::gen::arbitrary<std::int64_t>();
    record.peak_rss_bytes = *rc::gen::arbitrary<std::uint64_t>();
    for (int i = count(); i > 0; --i) record.programs.push_back(*texts());
    for (int i = count(); i > 0; --i) record.notes.push_back(*reasons());
    return record;
  });
}

}  // namespace hallmark::test
