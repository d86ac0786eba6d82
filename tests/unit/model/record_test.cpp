#include "model/record.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "unit/model/record_gen.h"

namespace hallmark::model {
namespace {

using test::derivations;
using test::records;
using test::seen_set;
using test::weak_entries;

RC_GTEST_PROP(RecordCodec, WeakEntriesComeBack, ()) {
  const WeakEntry entry = *weak_entries();
  const std::string bytes = encode(entry);
  const auto decoded = decode_weak_entry(bytes);
  RC_ASSERT(decoded.has_value());
  RC_ASSERT(*decoded == entry);
}

RC_GTEST_PROP(RecordCodec, RecordsComeBack, ()) {
  const Record record = *records();
  const auto decoded = decode_record(encode(record));
  RC_ASSERT(decoded.has_value());
  RC_ASSERT(*decoded == record);
}

RC_GTEST_PROP(RecordCodec, DerivationsComeBack, ()) {
  const Derivation derivation = *derivations();
  const auto decoded = decode_derivation(encode(derivation));
  RC_ASSERT(decoded.has_value());
  RC_ASSERT(*decoded == derivation);
}

TEST(RecordCodec, PlacesComeBack) {
  for (const auto& places : {Places{}, Places{{"R", "/r"}}, Places{{"R", "/r"}, {"PATH", ""}}}) {
    const auto bytes = encode(places);
    EXPECT_EQ(decode_places(bytes).value(), places);
    EXPECT_FALSE(decode_places(bytes + "x").has_value());
    for (std::size_t size = 0; size < bytes.size(); ++size)
      EXPECT_FALSE(decode_places(bytes.substr(0, size)).has_value());
  }
}

/// Canonical: bytes that decode at all are exactly what encode makes of the value.
template <class Decode>
void check_mutations(const std::string& good, Decode decode) {
  const auto place = *rc::gen::inRange<std::size_t>(0, good.size());
  std::string bad = good;
  switch (*rc::gen::inRange(0, 4)) {
    case 0:
      bad[place] = static_cast<char>(bad[place] ^ (1 << *rc::gen::inRange(0, 8)));
      break;
    case 1:
      bad.resize(place);
      break;
    case 2:
      bad.insert(place, 1, *rc::gen::arbitrary<char>());
      break;
    default:
      bad.erase(place, *rc::gen::inRange<std::size_t>(1, 5));
      break;
  }
  const auto decoded = decode(bad);
  if (decoded.has_value()) {
    RC_ASSERT(encode(*decoded) == bad);
  } else {
    RC_ASSERT(decoded.error().kind == ErrorKind::corrupt);
  }
}

RC_GTEST_PROP(RecordCodec, MutatedWeakEntriesAreRefusedOrCanonical, ()) {
  check_mutations(encode(*weak_entries()), decode_weak_entry);
}

RC_GTEST_PROP(RecordCodec, MutatedRecordsAreRefusedOrCanonical, ()) {
  check_mutations(encode(*records()), decode_record);
}

RC_GTEST_PROP(RecordCodec, MutatedDerivationsAreRefusedOrCanonical, ()) {
  check_mutations(encode(*derivations()), decode_derivation);
}

RC_GTEST_PROP(RecordCodec, NoiseDoesNotCrashTheDecoders, (const std::string& noise)) {
  (void)decode_weak_entry(noise);
  (void)decode_record(noise);
  (void)decode_derivation(noise);
}

TEST(RecordCodec, EqualSetsAndAnswersAreStoredOnce) {
  std::map<Question, Answer> asked;
  for (int i = 0; i < 1000; ++i) {
    const std::string path = "\x01root\x02/include/some/folder/header_" + std::to_string(i) + ".h";
    asked[{Aspect::content, path}] = std::string(33, static_cast<char>(i));
  }
  WeakEntry entry;
  entry.sets.push_back(seen_set(asked));
  const std::size_t one = encode(entry).size();
  for (int i = 1; i < 20; ++i) {
    asked[{Aspect::content, "\x01root\x02/kernel.cu"}] = std::to_string(i);
    entry.sets.push_back(seen_set(asked));
  }
  const std::size_t twenty = encode(entry).size();
  EXPECT_LT(one, 1000 * 45u) << "33 bytes of answer and a few of path";
  EXPECT_LT(twenty - one, 19 * 1050u) << "about one byte a question for each further set";
  EXPECT_EQ(*decode_weak_entry(encode(entry)), entry);
}

/// A weak entry of one set, whose questions and answers are written by hand: number aspect, number shared,
/// text rest.
struct Spelled {
  int aspect;
  int shared;
  std::string rest;
};
Result<WeakEntry> decode_spelled(const std::vector<Spelled>& questions,
                                 const std::vector<std::string>& answers, const std::vector<int>& cells) {
  digest::Encoder out;
  out.number(0).text("").number(0).number(0).number(questions.size());
  for (const Spelled& question : questions)
    out.number(question.aspect).number(question.shared).text(question.rest);
  for (std::size_t i = 0; i < questions.size(); ++i) {
    out.number(answers.size());
    for (const std::string& answer : answers) out.text(answer);
  }
  out.number(cells.size() / std::max<std::size_t>(questions.size(), 1));
  for (const int cell : cells) out.number(cell);
  return decode_weak_entry(out.bytes());
}

TEST(RecordCodec, OnlyOneSpellingIsAccepted) {
  EXPECT_TRUE(decode_spelled({{1, 0, "/a/x"}, {1, 3, "y"}}, {"1"}, {1, 1}).has_value());
  EXPECT_FALSE(decode_spelled({{1, 0, "/a/x"}, {1, 2, "/y"}}, {"1"}, {1, 1}).has_value())
      << "less shared than can be";
  EXPECT_FALSE(decode_spelled({{1, 0, "/a/x"}, {1, 5, "y"}}, {"1"}, {1, 1}).has_value())
      << "more shared than there is";
  EXPECT_FALSE(decode_spelled({{1, 0, "/a/x"}, {2, 3, "y"}}, {"1"}, {1, 1}).has_value())
      << "another aspect shares nothing";
  EXPECT_FALSE(decode_spelled({{1, 0, "/b"}, {1, 1, "a"}}, {"1"}, {1, 1}).has_value()) << "out of order";
  EXPECT_FALSE(decode_spelled({{1, 0, "/a"}, {1, 2, ""}}, {"1"}, {1, 1}).has_value()) << "twice";
  EXPECT_FALSE(decode_spelled({{12, 0, "/a"}}, {"1"}, {1}).has_value()) << "no such aspect";
  EXPECT_FALSE(decode_spelled({{0, 0, "/a"}}, {"1"}, {1}).has_value()) << "no such aspect";
}

TEST(RecordCodec, AnswersAreUsedOnceAndInOrder) {
  EXPECT_TRUE(decode_spelled({{1, 0, "/a"}}, {"1", "2"}, {1, 2}).has_value());
  EXPECT_TRUE(decode_spelled({{1, 0, "/a"}}, {"1", "2"}, {0, 1, 2, 1}).has_value());
  EXPECT_FALSE(decode_spelled({{1, 0, "/a"}}, {"1", "2"}, {2, 1}).has_value()) << "the second is used first";
  EXPECT_FALSE(decode_spelled({{1, 0, "/a"}}, {"1", "2"}, {1, 1}).has_value()) << "the second is not used";
  EXPECT_FALSE(decode_spelled({{1, 0, "/a"}}, {"1", "1"}, {1, 2}).has_value()) << "the same answer twice";
  EXPECT_FALSE(decode_spelled({{1, 0, "/a"}}, {"1"}, {2}).has_value()) << "there is no second";
  EXPECT_FALSE(decode_spelled({{1, 0, "/a"}}, {}, {0}).has_value()) << "a question without an answer";
  EXPECT_FALSE(decode_spelled({{1, 0, "/a"}}, {"1"}, {0}).has_value()) << "a question that nobody asks";
}

TEST(RecordCodec, ADerivationHasOneSet) {
  digest::Encoder out;
  out.hash(digest::Sha256{}).number(0).text("").number(0).number(0);
  std::string head = out.bytes();
  EXPECT_FALSE(decode_derivation(head + std::string("\0\0", 2)).has_value()) << "none";
  EXPECT_TRUE(decode_derivation(head + std::string("\0\1", 2)).has_value());
  EXPECT_FALSE(decode_derivation(head + std::string("\0\2", 2)).has_value()) << "two";
}

TEST(RecordCodec, TooManySetsAreRefused) {
  WeakEntry entry;
  for (std::size_t i = 0; i <= limits::kPathSetsPerWeakKey; ++i) entry.sets.push_back(seen_set({}));
  EXPECT_FALSE(decode_weak_entry(encode(entry)).has_value());
}

TEST(RecordCodec, AHugeCountAllocatesNothing) {
  digest::Encoder out;
  out.number(0).text("").number(0).number(0).number(std::uint64_t{1} << 40);
  EXPECT_FALSE(decode_weak_entry(out.bytes()).has_value());
}

TEST(StrongKey, DependsOnEveryPart) {
  const digest::Key weak{digest::digest_of("weak").hash};
  const digest::Key other{digest::digest_of("other").hash};
  const PathSet paths{{{Aspect::content, "a"}, {Aspect::content, "b"}}};
  std::set<digest::Key> keys;
  keys.insert(strong_key(weak, paths, {"1", "2"}));
  keys.insert(strong_key(other, paths, {"1", "2"}));
  keys.insert(strong_key(weak, paths, {"1", "3"}));
  keys.insert(strong_key(weak, paths, {"2", "1"}));
  keys.insert(strong_key(weak, paths, {"12", ""}));
  keys.insert(strong_key(weak, {{{Aspect::content, "a"}}}, {"1"}));
  keys.insert(strong_key(weak, {{{Aspect::content, "a"}, {Aspect::kind, "b"}}}, {"1", "2"}));
  keys.insert(strong_key(weak, {{{Aspect::content, "ab"}, {Aspect::content, ""}}}, {"1", "2"}));
  EXPECT_EQ(keys.size(), 8u);
}

TEST(StrongKey, IsTheSameForManyPiecesAsForOne) {
  // More than one piece of the hash; the value is the golden one of docs/formats/record.md.
  PathSet paths;
  std::vector<Answer> answers;
  digest::Encoder whole;
  const digest::Key weak{digest::digest_of("weak").hash};
  whole.text("hallmark strong key 1").hash(weak.hash).number(2000);
  for (int i = 0; i < 2000; ++i) {
    paths.questions.push_back({Aspect::kind, "path/" + std::to_string(10'000 + i)});
    answers.push_back(std::to_string(i));
    whole.number(2).text(paths.questions.back().subject).text(answers.back());
  }
  EXPECT_EQ(strong_key(weak, paths, answers), whole.key());
}

}  // namespace
}  // namespace hallmark::model
