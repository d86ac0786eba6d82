// Every byte of every file of a store, damaged: never a wrong answer, never a crash, and one more run heals
// it.
#include <gtest/gtest.h>

#include "unit/store/sample.h"

namespace hallmark::store {
namespace {

using test::kStore;
using test::Sample;
using test::StoreTest;

class BitFlipTest : public StoreTest {
 protected:
  void SetUp() override {
    disk_.put("/w/input.h", "#define K 1\n");
    clock_.advance_ms(1000);
    const auto store = open();
    input_ = store->hasher().hash("/w/input.h").value().digest;
    ASSERT_TRUE(publish(*store, sample_).has_value());
    ASSERT_TRUE(disk_.lstat("/store/digests").value());
  }

  /// Places to damage: each byte of a short file, some of a long one.
  static std::vector<std::size_t> places(std::size_t size) {
    std::vector<std::size_t> chosen;
    const std::size_t step = size < 4096 ? 1 : size / 97 + 1;
    for (std::size_t at = 0; at < size; at += step) chosen.push_back(at);
    if (size > 0) chosen.push_back(size - 1);
    return chosen;
  }

  void check(const std::string& file, const std::string& good, const std::string& bad) {
    disk_.damage(file, bad);
    auto store = LocalStore::open(files_, clock_, kStore);
    if (!store.has_value()) {
      EXPECT_TRUE(file.ends_with("/FORMAT")) << store.error().what;
    } else {
      (void)sample_.replay(**store, files_, "/w");
      EXPECT_EQ((*store)->hasher().hash("/w/input.h").value().digest, input_);
      const auto sites = (*store)->recent(sample_.site).value();
      EXPECT_TRUE(sites.empty() || sites == std::vector<digest::Key>{sample_.weak});
      const auto miss = (*store)->last_miss("/root");
      EXPECT_TRUE(!miss.has_value() || !*miss || (*miss)->command == "g++ -c");
      EXPECT_LE((*store)->counters().value().executed, 1u);
    }
    disk_.put(file, good, 0444);
  }

  const Sample sample_{"kernel.cu"};
  digest::Digest input_;
};

TEST_F(BitFlipTest, NoFlippedBitGivesAWrongAnswer) {
  std::size_t damaged = 0;
  for (const std::string& file : disk_.files_below(kStore)) {
    SCOPED_TRACE(file);
    const std::string good = disk_.bytes(file);
    for (const std::size_t at : places(good.size())) {
      SCOPED_TRACE(at);
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ (1 << (at % 8)));
      check(file, good, bad);
      ++damaged;
    }
  }
  EXPECT_GT(damaged, 800u);
  EXPECT_TRUE(replays(sample_)) << "the test put back what it damaged";
}

TEST_F(BitFlipTest, NoShortenedFileGivesAWrongAnswer) {
  for (const std::string& file : disk_.files_below(kStore)) {
    SCOPED_TRACE(file);
    const std::string good = disk_.bytes(file);
    for (const std::size_t at : places(good.size())) check(file, good, good.substr(0, at));
    if (!file.ends_with("/counters")) check(file, good, good + good);
  }
}

TEST_F(BitFlipTest, VerifyFindsEveryFlipInBlobsAndRecordsAndRepairs) {
  for (const std::string& file : disk_.files_below(kStore)) {
    if (file.ends_with("/FORMAT") || file.ends_with("/counters") || file.starts_with("/store/tmp")) continue;
    SCOPED_TRACE(file);
    const std::string good = disk_.bytes(file);
    for (const std::size_t at : {std::size_t{0}, good.size() / 2, good.size() - 1}) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ 0x10);
      // Most of the digest table is unused space, where only bytes that become an entry matter.
      if (file.ends_with("/digests") && at > 0) continue;
      disk_.damage(file, bad);
      const auto found = defects();
      ASSERT_FALSE(found.empty()) << at;
      EXPECT_EQ(found[0].path, file);
      EXPECT_FALSE(found[0].what.empty());
      EXPECT_FALSE(defects(true).empty());
      EXPECT_TRUE(defects().empty()) << "repaired";
      disk_.put(file, good, 0444);
      // A repaired blob takes the record that needs it along.
      ASSERT_TRUE(publish(*open(), sample_).has_value());
      clock_.advance_ms(1000);
      EXPECT_TRUE(replays(sample_));
    }
  }
}

TEST_F(BitFlipTest, VerifyNamesStrangersAndLeavesThem) {
  disk_.put("/store/blobs/ab/notes.txt", "mine");
  const auto found = defects(true);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].path, "/store/blobs/ab/notes.txt");
  EXPECT_TRUE(disk_.lstat("/store/blobs/ab/notes.txt").value());
}

TEST_F(BitFlipTest, VerifyTellsOfARecordThatLacksABlob) {
  const auto store = open();
  const auto digest = digest::digest_of(sample_.small);
  ASSERT_TRUE(disk_.remove("/store/blobs/" + digest.hex().substr(0, 2) + "/" + digest.hex()).has_value());
  const auto found = defects();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found[0].what.find(digest.hex()), std::string::npos);
}

TEST_F(BitFlipTest, VerifyReportsItsProgress) {
  std::uint64_t last = 0;
  ASSERT_TRUE(open()
                  ->verify(false,
                           [&](std::uint64_t done) {
                             EXPECT_EQ(done, last + 1);
                             last = done;
                           })
                  .has_value());
  EXPECT_EQ(last, 9u) << "3 blobs, record, weak entry, derivation, places, site, last miss";
}

}  // namespace
}  // namespace hallmark::store
