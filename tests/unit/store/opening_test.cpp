// Opening a store: what is taken for a store, and what is left alone.
#include <gtest/gtest.h>

#include "unit/store/sample.h"

namespace hallmark::store {
namespace {

using test::kStore;
using test::Sample;
using test::StoreTest;

class OpeningTest : public StoreTest {
 protected:
  Result<std::unique_ptr<LocalStore>> try_open() { return LocalStore::open(files_, clock_, kStore); }
};

TEST_F(OpeningTest, AnAbsentFolderBecomesAStore) {
  ASSERT_TRUE(try_open().has_value());
  EXPECT_EQ(disk_.bytes("/store/FORMAT"), "hallmark store 1\n");
  EXPECT_FALSE(open()->read_only());
  EXPECT_EQ(open()->folder(), kStore);
}

TEST_F(OpeningTest, ALaterFormatIsNotTouched) {
  disk_.put("/store/FORMAT", "hallmark store 2\n");
  disk_.put("/store/blobs/strange", "x");
  files_.heal();
  const auto store = try_open();
  ASSERT_FALSE(store.has_value());
  EXPECT_EQ(store.error().kind, ErrorKind::newer_format);
  EXPECT_FALSE(store.error().hint.empty());
  EXPECT_EQ(files_.steps(), 0u) << "nothing was written";
}

TEST_F(OpeningTest, ADamagedFormatIsCorrupt) {
  for (const char* text :
       {"", "hallmark store", "hallmark store x\n", "hallmark store 0\n", "hallmark store 1",
        "hallmark store 1\nx", "allmark store 1\n", "hallmark store 99999999999999\n"}) {
    disk_.put("/store/FORMAT", text);
    const auto store = try_open();
    ASSERT_FALSE(store.has_value()) << text;
    EXPECT_EQ(store.error().kind, ErrorKind::corrupt) << text;
  }
  disk_.put("/store/FORMAT", std::string(1000, 'x'));
  EXPECT_EQ(try_open().error().kind, ErrorKind::corrupt);
}

TEST_F(OpeningTest, AFolderOfSomebodyElseIsRefused) {
  disk_.put("/store/thesis.tex", "years of work");
  const auto store = try_open();
  ASSERT_FALSE(store.has_value());
  EXPECT_EQ(store.error().kind, ErrorKind::invalid);
  EXPECT_NE(store.error().what.find("thesis.tex"), std::string::npos);
  EXPECT_EQ(disk_.files_below(kStore), std::vector<std::string>{"/store/thesis.tex"});
}

TEST_F(OpeningTest, AFileInTheWayIsAnError) {
  disk_.put(kStore, "a file");
  EXPECT_FALSE(try_open().has_value());
}

TEST_F(OpeningTest, AReadOnlyStoreReplaysAndRefusesToPublish) {
  const Sample sample("a");
  ASSERT_TRUE(publish(*open(), sample).has_value());
  clock_.advance_ns(2 * limits::kStoreSweep_ns);
  disk_.set_read_only(true);
  const auto store = open();
  EXPECT_TRUE(store->read_only());
  EXPECT_EQ(store->read(digest::digest_of(sample.small), 100).value(), sample.small);
  EXPECT_EQ(store->record(sample.strong).value(), sample.record);
  EXPECT_EQ(store->put("new").error().kind, ErrorKind::permission);
  EXPECT_EQ(store->put_record(sample.strong, sample.record).error().kind, ErrorKind::permission);
  EXPECT_EQ(store->put_weak_entry(sample.weak, sample.entry).error().kind, ErrorKind::permission);
  EXPECT_FALSE(store->lock_action(sample.weak, nullptr).has_value());
  EXPECT_TRUE(store->flush().has_value());
  store->count({});
  EXPECT_TRUE(store->verify(true, nullptr).value().empty());
}

TEST_F(OpeningTest, AReadOnlyStoreKeepsWhatIsDamagedAndStillRefusesIt) {
  const Sample sample("a");
  ASSERT_TRUE(publish(*open(), sample).has_value());
  for (const std::string& file : disk_.files_below("/store/blobs")) disk_.damage(file, "torn");
  disk_.set_read_only(true);
  const auto store = open();
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(store->read(digest::digest_of(sample.small), 100).error().kind, ErrorKind::corrupt);
  }
}

TEST_F(OpeningTest, AStoreThatCannotBeMadeIsAnError) {
  disk_.set_read_only(true);
  EXPECT_EQ(try_open().error().kind, ErrorKind::permission);
}

TEST_F(OpeningTest, AFullDiskAtBirthIsNoSpaceAndTheNextOpenWorks) {
  files_.fail_from(3, ENOSPC);
  EXPECT_EQ(try_open().error().kind, ErrorKind::no_space);
  files_.heal();
  EXPECT_TRUE(try_open().has_value());
}

TEST_F(OpeningTest, OpeningAndReadingTakeFewStepsAndNoLock) {
  const Sample sample("a");
  ASSERT_TRUE(publish(*open(), sample).has_value());
  files_.heal();
  const auto store = open();
  ASSERT_TRUE(store->weak_entry(sample.weak).value());
  ASSERT_TRUE(store->record(sample.strong).value());
  ASSERT_TRUE(store->read(digest::digest_of(sample.out), 1000).value());
  EXPECT_EQ(files_.steps(), 0u) << "a reader changes nothing, not even a lock";
  EXPECT_EQ(files_.reads(), 4u) << "FORMAT, weak entry, record, blob: one read each";
}

}  // namespace
}  // namespace hallmark::store
