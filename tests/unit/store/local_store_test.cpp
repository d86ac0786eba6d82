#include "store/local_store.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "unit/store/sample.h"

namespace hallmark::store {
namespace {

using test::key_of;
using test::kStore;
using test::restore_to;
using test::Sample;
using test::StoreTest;

class LocalStoreTest : public StoreTest {};

TEST_F(LocalStoreTest, WhatIsPublishedReplays) {
  const Sample sample("kernel.cu");
  EXPECT_FALSE(replays(sample)) << "a new store is empty";
  ASSERT_TRUE(publish(*open(), sample).has_value());
  EXPECT_TRUE(replays(sample));
  EXPECT_TRUE(defects().empty());
}

TEST_F(LocalStoreTest, ReflinksAreUsedWhereTheyWork) {
  disk_.set_can_clone(true);
  const Sample sample("kernel.cu");
  ASSERT_TRUE(publish(*open(), sample).has_value());
  EXPECT_TRUE(replays(sample));
}

TEST_F(LocalStoreTest, BlobsAreReadOnlyAndKeptOnce) {
  const auto store = open();
  const auto digest = store->put("bytes").value();
  EXPECT_EQ(store->put("bytes").value(), digest);
  EXPECT_TRUE(store->contains(digest).value());
  const auto files = disk_.files_below("/store/blobs");
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(disk_.lstat(files[0]).value()->mode, 0444u);
  EXPECT_EQ(files[0], "/store/blobs/" + digest.hex().substr(0, 2) + "/" + digest.hex());
}

TEST_F(LocalStoreTest, ReadKeepsToItsLimit) {
  const auto store = open();
  const auto digest = store->put("0123456789").value();
  EXPECT_EQ(store->read(digest, 10).value(), "0123456789");
  EXPECT_EQ(store->read(digest, 9).error().kind, ErrorKind::limit);
  EXPECT_EQ(store->read(digest::digest_of("other"), 10).value(), std::nullopt);
}

TEST_F(LocalStoreTest, ADigestOfAnotherSizeIsNotThere) {
  const auto store = open();
  auto digest = store->put("0123456789").value();
  digest.size_bytes = 11;
  EXPECT_FALSE(store->contains(digest).value());
  const auto read = store->read(digest, 100);
  EXPECT_FALSE(read.has_value() && read->has_value());
}

TEST_F(LocalStoreTest, AnAbsentBlobRestoresNothing) {
  EXPECT_EQ(restore_to(*open(), disk_, digest::digest_of("never stored"), "/w/new", 0644).value(), false);
  EXPECT_TRUE(disk_.files_below("/w").empty());
}

TEST_F(LocalStoreTest, OnlyRegularFilesAreTaken) {
  const auto store = open();
  EXPECT_EQ(store->put_file("/w").error().kind, ErrorKind::invalid);
  EXPECT_EQ(store->put_file("/w/none").error().kind, ErrorKind::not_found);
}

TEST_F(LocalStoreTest, TheFirstRecordStays) {
  const auto store = open();
  const Sample sample("a");
  model::Record second = sample.record;
  second.created_ns = 99;
  EXPECT_EQ(store->put_record(sample.strong, sample.record).value(), std::nullopt);
  EXPECT_EQ(store->put_record(sample.strong, second).value(), sample.record);
  EXPECT_EQ(store->record(sample.strong).value(), sample.record);
  ASSERT_TRUE(store->replace_record(sample.strong, second).has_value());
  EXPECT_EQ(store->record(sample.strong).value(), second);
}

TEST_F(LocalStoreTest, ADamagedRecordIsReplacedByTheNext) {
  const auto store = open();
  const Sample sample("a");
  ASSERT_TRUE(store->put_record(sample.strong, sample.record).has_value());
  disk_.damage(disk_.files_below("/store/records")[0], "torn");
  EXPECT_EQ(store->put_record(sample.strong, sample.record).value(), std::nullopt);
  EXPECT_EQ(store->record(sample.strong).value(), sample.record);
}

TEST_F(LocalStoreTest, ADamagedFileIsReportedOnceAndThenAbsent) {
  const auto store = open();
  const Sample sample("a");
  ASSERT_TRUE(publish(*store, sample).has_value());
  for (const std::string& file : disk_.files_below("/store/weak")) disk_.damage(file, "torn");
  EXPECT_EQ(store->weak_entry(sample.weak).error().kind, ErrorKind::corrupt);
  EXPECT_EQ(store->weak_entry(sample.weak).value(), std::nullopt);
  for (const std::string& file : disk_.files_below("/store/blobs")) disk_.damage(file, "torn");
  for (const std::string& bytes : {sample.small, sample.large}) {
    const auto digest = digest::digest_of(bytes);
    EXPECT_EQ(restore_to(*store, disk_, digest, "/w/x", 0644).error().kind, ErrorKind::corrupt);
    EXPECT_EQ(restore_to(*store, disk_, digest, "/w/x", 0644).value(), false);
  }
}

TEST_F(LocalStoreTest, AFileUnderTheNameOfAnotherIsFoundOut) {
  const auto store = open();
  const Sample a("a");
  const Sample b("b");
  ASSERT_TRUE(publish(*store, a).has_value());
  ASSERT_TRUE(publish(*store, b).has_value());
  for (const char* area : {"/store/weak", "/store/records", "/store/blobs", "/store/sites"}) {
    const auto files = disk_.files_below(area);
    ASSERT_GE(files.size(), 2u) << area;
    const std::string first = disk_.bytes(files[0]);
    disk_.damage(files[0], disk_.bytes(files[1]));
    disk_.damage(files[1], first);
  }
  EXPECT_FALSE(replays(a));
  EXPECT_FALSE(replays(b));
}

TEST_F(LocalStoreTest, APathSetThatIsNotSortedIsRefused) {
  const auto store = open();
  Sample sample("a");
  std::swap(sample.entry.sets[0].paths.questions[0], sample.entry.sets[0].paths.questions[1]);
  EXPECT_EQ(store->put_weak_entry(sample.weak, sample.entry).error().kind, ErrorKind::invalid);
  sample.entry.sets[0].paths.questions[0] = sample.entry.sets[0].paths.questions[1];
  EXPECT_EQ(store->put_weak_entry(sample.weak, sample.entry).error().kind, ErrorKind::invalid);
  sample.entry.sets[0].paths.questions.pop_back();
  EXPECT_EQ(store->put_weak_entry(sample.weak, sample.entry).error().kind, ErrorKind::invalid);
}

TEST_F(LocalStoreTest, SitesRememberTheMostRecentFirst) {
  const auto store = open();
  const auto site = key_of("site");
  EXPECT_TRUE(store->recent(site).value().empty());
  for (const char* weak : {"1", "2", "3", "4", "5", "3"})
    ASSERT_TRUE(store->remember(site, key_of(weak)).has_value());
  const std::vector<digest::Key> expected{key_of("3"), key_of("5"), key_of("4"), key_of("2")};
  EXPECT_EQ(store->recent(site).value(), expected);
  EXPECT_TRUE(store->recent(key_of("other")).value().empty());
}

TEST_F(LocalStoreTest, ADamagedSiteIsAnEmptyOne) {
  const auto store = open();
  ASSERT_TRUE(store->remember(key_of("site"), key_of("1")).has_value());
  disk_.damage(disk_.files_below("/store/sites")[0], "torn");
  EXPECT_TRUE(store->recent(key_of("site")).value().empty());
  EXPECT_TRUE(store->remember(key_of("site"), key_of("2")).has_value());
}

TEST_F(LocalStoreTest, TheLastMissIsKeptPerRoot) {
  const auto store = open();
  EXPECT_EQ(store->last_miss("/a").value(), std::nullopt);
  const std::vector<model::Reason> reasons{{model::ReasonCode::content_changed, "k.h", "", ""}};
  ASSERT_TRUE(store->put_last_miss("/a", "g++ -c k.cpp", reasons).has_value());
  ASSERT_TRUE(store->put_last_miss("/b", "other", {}).has_value());
  const auto miss = store->last_miss("/a").value();
  ASSERT_TRUE(miss);
  EXPECT_EQ(miss->command, "g++ -c k.cpp");
  EXPECT_EQ(miss->reasons, reasons);
  EXPECT_EQ(miss->at_ns, clock_.now_ns());
}

TEST_F(LocalStoreTest, TheLatestRunOfEachTestIsKeptPerRoot) {
  using Run = TestHistory::TestRun;
  const auto store = open();
  EXPECT_TRUE(store->test_runs("/a").value().empty());
  ASSERT_TRUE(store->note_test("/a", {"/a/t1", 1, {"/a/old.so"}}).has_value());
  ASSERT_TRUE(store->note_test("/a", {"/a/t2", 2, {"/a/x.so"}}).has_value());
  ASSERT_TRUE(store->note_test("/a", {"/a/t1", 3, {"/a/new.so"}}).has_value());
  ASSERT_TRUE(store->note_test("/b", {"/b/t", 4, {}}).has_value());
  EXPECT_EQ(open()->test_runs("/a").value(),
            (std::vector<Run>{{"/a/t1", 3, {"/a/new.so"}}, {"/a/t2", 2, {"/a/x.so"}}}));
  disk_.damage(disk_.files_below("/store/tests")[0], "torn");
  disk_.damage(disk_.files_below("/store/tests").back(), "torn");
  EXPECT_FALSE(open()->test_runs("/a").has_value()) << "damage is said once";
  EXPECT_TRUE(open()->test_runs("/a").value().empty());
}

TEST_F(LocalStoreTest, TestRunsAreBounded) {
  const auto store = open();
  for (std::size_t i = 0; i < limits::kTestRuns + 2; ++i)
    ASSERT_TRUE(store->note_test("/a", {std::to_string(i), 1, {}}).has_value());
  const auto runs = store->test_runs("/a").value();
  EXPECT_EQ(runs.size(), limits::kTestRuns);
  EXPECT_EQ(runs.back().name, "2");
}

TEST_F(LocalStoreTest, CountersAddUp) {
  const auto store = open();
  store->count({1, 2, 3, 4, 5, 6});
  open()->count({10, 20, 30, 40, 50, 60});
  const StoreCounters sum = store->counters().value();
  EXPECT_EQ(sum.replayed, 11u);
  EXPECT_EQ(sum.executed, 22u);
  EXPECT_EQ(sum.unproven, 33u);
  EXPECT_EQ(sum.failed, 44u);
  EXPECT_EQ(sum.uncacheable, 55u);
  EXPECT_EQ(sum.saved_ns, 66);
}

TEST_F(LocalStoreTest, TheCounterLogIsSummedUpBeforeItGrowsLong) {
  const auto store = open();
  const std::uint64_t runs = 3 * limits::kCounterLogBytes / 64;
  for (std::uint64_t i = 0; i < runs; ++i) store->count({1, 0, 0, 0, 0, 0});
  EXPECT_EQ(store->counters().value().replayed, runs);
  EXPECT_LE(disk_.bytes("/store/counters").size(), limits::kCounterLogBytes + 128);
}

TEST_F(LocalStoreTest, ATornCounterLineLosesOnlyItself) {
  const auto store = open();
  store->count({1, 0, 0, 0, 0, 0});
  disk_.damage("/store/counters", disk_.bytes("/store/counters") + "part of a line");
  store->count({1, 0, 0, 0, 0, 0});
  EXPECT_EQ(store->counters().value().replayed, 2u);
}

TEST_F(LocalStoreTest, UsageCountsWhatIsThere) {
  const auto store = open();
  ASSERT_TRUE(publish(*store, Sample("a")).has_value());
  const StoreUsage usage = store->usage().value();
  EXPECT_EQ(usage.blobs, 3u);
  const Sample sample("a");
  EXPECT_EQ(usage.blob_bytes, sample.small.size() + sample.large.size() + sample.out.size());
  EXPECT_EQ(usage.records, 1u);
  EXPECT_EQ(usage.weak_entries, 1u);
}

TEST_F(LocalStoreTest, ActionLocksWaitForEachOtherAndLeaveNoFile) {
  const auto store = open();
  const auto other = open();
  auto held = store->lock_action(key_of("w"), nullptr).value();
  EXPECT_NE(other->lock_action(key_of("another"), nullptr).value(), nullptr) << "other actions are free";
  std::atomic<int> holder = -1;
  std::thread waiter([&] {
    const auto got = other
                         ->lock_action(key_of("w"),
                                       [&](int process) {
                                         holder = process;
                                         return true;
                                       })
                         .value();
    EXPECT_NE(got, nullptr);
  });
  EXPECT_EQ(open()->lock_action(key_of("w"), [](int) { return false; }).value(), nullptr) << "not waited for";
  while (holder == -1) std::this_thread::yield();
  held.reset();
  waiter.join();
  EXPECT_EQ(holder, 4711) << "the number that the fake writes";
  EXPECT_TRUE(disk_.files_below("/store/locks").empty());
}

TEST_F(LocalStoreTest, LeftoversOfKilledWritersGoAfterADay) {
  auto store = open();
  ASSERT_TRUE(store->flush().has_value());
  disk_.put("/store/tmp/123-0-ab", "half a blob");
  disk_.put("/store/locks/abandoned", "123\n");
  ASSERT_TRUE(store->flush().has_value());
  EXPECT_TRUE(disk_.lstat("/store/tmp/123-0-ab").value()) << "it may be in use";
  clock_.advance_ns(limits::kStoreSweep_ns + 1);
  disk_.put("/store/tmp/124-0-ab", "a new half");
  const auto held = store->lock_action(key_of("w"), nullptr).value();
  ASSERT_TRUE(store->flush().has_value());
  EXPECT_FALSE(disk_.lstat("/store/tmp/123-0-ab").value());
  EXPECT_TRUE(disk_.lstat("/store/tmp/124-0-ab").value());
  EXPECT_FALSE(disk_.lstat("/store/locks/abandoned").value());
  EXPECT_EQ(disk_.files_below("/store/locks").size(), 1u) << "the held one stays";
}

TEST_F(LocalStoreTest, FoldersThatWentAwayAreMadeAgain) {
  const auto store = open();
  const Sample sample("a");
  ASSERT_TRUE(publish(*store, sample).has_value());
  for (const std::string& file : disk_.files_below(kStore)) {
    if (file.ends_with("FORMAT")) continue;
    ASSERT_TRUE(disk_.remove(file).has_value());
  }
  for (const char* folder : {"tmp", "locks"})
    ASSERT_TRUE(disk_.remove_folder(std::string(kStore) + "/" + folder).has_value());
  ASSERT_TRUE(publish(*store, sample).has_value());
  EXPECT_TRUE(replays(sample));
}

}  // namespace
}  // namespace hallmark::store
