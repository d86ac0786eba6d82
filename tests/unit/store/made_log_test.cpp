#include <gmock/gmock.h>

#include "base/limits.h"
#include "support/golden.h"
#include "unit/store/sample.h"

namespace hallmark::store {
namespace {

using test::key_of;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class MadeLogTest : public test::StoreTest {
 protected:
  static constexpr const char* kLog = "/store/made";
  static constexpr std::size_t kLineBytes = 112;
  const model::Places kPlaces = {{"R", "/r"}};

  static digest::Digest content(const std::string& bytes) { return digest::digest_of(bytes); }
  void note(const std::string& run, const std::string& bytes, const std::string& path) {
    ASSERT_TRUE(open()->note_made(key_of(run), kPlaces, {{content(bytes), path}}).has_value());
  }
  /// Names of the runs among "1", "2", "3".
  std::vector<std::string> makers(const std::string& bytes, std::optional<std::uint64_t> place = {}) {
    std::vector<std::string> names;
    const auto found = open()->makers_of(content(bytes), place);
    EXPECT_TRUE(found.has_value());
    for (const auto& maker : found.value_or(std::vector<DerivationStore::Maker>())) {
      for (const char* name : {"1", "2", "3"}) {
        if (maker.strong == key_of(name)) names.emplace_back(name);
      }
    }
    return names;
  }
};

TEST_F(MadeLogTest, Bytes) {
  note("1", "object", "/r/a.o");
  test::expect_golden(HALLMARK_SOURCE_DIR, "made", disk_.bytes(kLog));
}

TEST_F(MadeLogTest, TheLatestComesFirst) {
  EXPECT_THAT(makers("object"), IsEmpty());
  note("1", "object", "/a.o");
  note("2", "object", "/b.o");
  note("3", "another", "/c.o");
  note("1", "object", "/a.o");
  EXPECT_THAT(makers("object"), ElementsAre("1", "2")) << "a run and place once, by its last note";
  EXPECT_THAT(makers("object", place_of("/b.o")), ElementsAre("2"));
  EXPECT_THAT(makers("object", place_of("/c.o")), IsEmpty());
  EXPECT_THAT(makers("another"), ElementsAre("3"));
  EXPECT_THAT(makers("unheard of"), IsEmpty());
}

TEST_F(MadeLogTest, DamageHidesOneLine) {
  note("1", "object", "/a.o");
  note("2", "object", "/b.o");
  note("3", "object", "/c.o");
  const std::string bytes = disk_.bytes(kLog);
  const std::size_t line = bytes.size() / 3;
  for (std::size_t at = 0; at < line; ++at) {
    std::string bad = bytes;
    bad[line + at] = static_cast<char>(bad[line + at] ^ 0x10);
    disk_.damage(kLog, bad);
    EXPECT_THAT(makers("object"), ElementsAre("3", "1")) << at;
    EXPECT_FALSE(open()->has_all_notes().value()) << at;
    disk_.damage(kLog, bytes.substr(0, line + at) + bytes.substr(2 * line));
    EXPECT_THAT(makers("object"), ElementsAre("3", "1")) << "a full disk took a part of the line, " << at;
  }
}

TEST_F(MadeLogTest, ARepairLeavesAMark) {
  note("1", "object", "/a.o");
  EXPECT_TRUE(open()->has_all_notes().value());
  disk_.damage(kLog, disk_.bytes(kLog) + "half a line");
  EXPECT_FALSE(open()->has_all_notes().value());
  EXPECT_EQ(open()->verify(true, nullptr)->size(), 1u);
  EXPECT_TRUE(open()->verify(true, nullptr)->empty());
  EXPECT_FALSE(open()->has_all_notes().value()) << "what was cut out may have been notes";
  EXPECT_THAT(makers("object"), ElementsAre("1"));
}

TEST_F(MadeLogTest, TheLastOneAtAPlace) {
  EXPECT_EQ(open()->last_maker_at(place_of("/a.o")).value(), std::nullopt);
  note("1", "object", "/a.o");
  note("2", "another", "/a.o");
  note("3", "object", "/b.o");
  EXPECT_EQ(open()->last_maker_at(place_of("/a.o")).value()->strong, key_of("2"));
  ASSERT_TRUE(open()->note_made(std::nullopt, kPlaces, {{content("object"), "/a.o"}}).has_value());
  const auto last = open()->last_maker_at(place_of("/a.o")).value();
  ASSERT_TRUE(last);
  EXPECT_EQ(last->strong, std::nullopt);
  EXPECT_THAT(makers("object"), ElementsAre("3", "1")) << "the bytes of an unrecorded run are not kept";
  EXPECT_THAT(open()->places(last->places).value(), kPlaces);
}

TEST_F(MadeLogTest, EqualBytesHaveALimit) {
  std::vector<DerivationStore::Made> many;
  for (int i = 0; i < 1000; ++i) many.push_back({content(""), "/stamp" + std::to_string(i)});
  const auto store = open();
  ASSERT_TRUE(store->note_made(key_of("1"), kPlaces, many).has_value());
  EXPECT_EQ(store->makers_of(content(""))->size(), limits::kMakersPerContent);
  EXPECT_EQ(store->makers_of(content(""), place_of("/stamp0"))->size(), 1u);
}

TEST_F(MadeLogTest, BeyondItsLimitEachLineStaysOnce) {
  note("1", "object", "/a.o");
  const std::string line = disk_.bytes(kLog);
  std::string log = line;
  note("2", "object", "/b.o");
  const std::string second = disk_.bytes(kLog).substr(line.size());
  while (log.size() <= limits::kMadeLogBytes) log += second;
  disk_.put(kLog, log);
  note("3", "object", "/c.o");
  EXPECT_EQ(disk_.bytes(kLog).size(), 3 * line.size());
  EXPECT_THAT(makers("object"), ElementsAre("3", "2", "1"));
  EXPECT_TRUE(open()->has_all_notes().value());
}

TEST_F(MadeLogTest, BeyondItsLimitTheLatestStay) {
  note("1", "first", "/first");
  std::vector<DerivationStore::Made> many(limits::kMadeLogBytes / kLineBytes + 1, {content("object"), ""});
  for (std::size_t i = 0; i < many.size(); ++i) many[i].path = std::to_string(i);
  ASSERT_TRUE(open()->note_made(key_of("2"), kPlaces, many).has_value());
  note("3", "object", "/c.o");
  EXPECT_LE(disk_.bytes(kLog).size(), limits::kMadeLogBytes / 2 + 3 * kLineBytes);
  EXPECT_THAT(makers("first"), IsEmpty());
  EXPECT_FALSE(open()->has_all_notes().value()) << "and that is known from then on";
  EXPECT_THAT(makers("object", place_of(many.back().path)), ElementsAre("2"));
  EXPECT_THAT(makers("object", place_of(many.front().path)), IsEmpty());
  EXPECT_THAT(makers("object", place_of("/c.o")), ElementsAre("3"));
}

TEST_F(MadeLogTest, WhatCannotBeReadIsAnError) {
  note("1", "object", "/a.o");
  const auto store = open();
  files_.fail_reads_from(1);
  EXPECT_FALSE(store->makers_of(content("object")).has_value());
}

class DerivationTest : public test::StoreTest {};

TEST_F(DerivationTest, ComesBackAndTheFirstStays) {
  const test::Sample sample("a");
  const auto store = open();
  EXPECT_EQ(store->derivation(sample.strong).value(), std::nullopt);
  ASSERT_TRUE(store->put_derivation(sample.strong, sample.derivation).has_value());
  EXPECT_EQ(store->derivation(sample.strong).value(), sample.derivation);
  auto other = sample.derivation;
  other.command.argv = {"other"};
  ASSERT_TRUE(store->put_derivation(sample.strong, other).has_value());
  EXPECT_EQ(store->derivation(sample.strong).value(), sample.derivation);
  EXPECT_EQ(store->usage()->derivations, 1u);
}

TEST_F(DerivationTest, ADamagedOneIsReplaced) {
  const test::Sample sample("a");
  const auto store = open();
  ASSERT_TRUE(store->put_derivation(sample.strong, sample.derivation).has_value());
  disk_.damage(disk_.files_below("/store/derivations")[0], "damage");
  EXPECT_EQ(store->verify(false, nullptr)->size(), 1u);
  ASSERT_TRUE(store->put_derivation(sample.strong, sample.derivation).has_value());
  EXPECT_EQ(store->derivation(sample.strong).value(), sample.derivation);
  EXPECT_TRUE(store->verify(false, nullptr)->empty());
}

TEST_F(DerivationTest, OnlyAWellFormedOneIsTaken) {
  test::Sample sample("a");
  sample.derivation.answers.pop_back();
  EXPECT_EQ(open()->put_derivation(sample.strong, sample.derivation).error().kind, ErrorKind::invalid);
}

}  // namespace
}  // namespace hallmark::store
