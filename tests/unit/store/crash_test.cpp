// A publish that is stopped at every step, on a disk that is full, failing, or loses power: the store never
// gives a wrong answer, and the next publish works.
#include <gtest/gtest.h>

#include <cerrno>

#include "unit/store/sample.h"

namespace hallmark::store {
namespace {

using test::FakeFileSystem;
using test::kStore;
using test::restore_to;
using test::Sample;
using test::StoreTest;

class CrashTest : public StoreTest {
 protected:
  /// All that happens from nothing to a published result.
  void run_all() {
    auto store = LocalStore::open(files_, clock_, kStore);
    if (store.has_value()) (void)publish(**store, sample_);
  }

  std::uint64_t count_steps() {
    FakeFileSystem disk(clock_);
    (void)disk.make_folder("/w", 0755);
    test::FaultFileSystem files(disk);
    auto store = LocalStore::open(files, clock_, kStore);
    EXPECT_TRUE(sample_.publish(**store, files, "/w/large").has_value());
    return files.steps();
  }

  void forget_everything() {
    files_.heal();
    for (const std::string& file : disk_.files_below("/")) ASSERT_TRUE(disk_.remove(file).has_value());
    remove_folders(kStore);
  }

  void remove_folders(const std::string& folder) {
    const auto names = disk_.list(folder);
    if (!names.has_value()) return;
    for (const std::string& name : *names) remove_folders(folder + "/" + name);
    (void)disk_.remove_folder(folder);
  }

  const Sample sample_{"kernel.cu"};
};

TEST_F(CrashTest, ASequenceHasEnoughStepsToBeWorthIt) {
  EXPECT_GT(count_steps(), 50u);
}

TEST_F(CrashTest, StoppedAtEveryStepNothingIsPartialAndTheNextPublishWorks) {
  const std::uint64_t steps = count_steps();
  std::uint64_t whole = 0;
  for (std::uint64_t step = 1; step <= steps; ++step) {
    SCOPED_TRACE(step);
    forget_everything();
    files_.stop_at(step);
    run_all();
    ASSERT_TRUE(files_.stopped());
    files_.heal();
    if (replays(sample_)) ++whole;
    EXPECT_TRUE(defects().empty()) << "what a killed writer leaves is no damage";
    const auto store = open();
    ASSERT_NE(store, nullptr);
    ASSERT_TRUE(publish(*store, sample_).has_value());
    EXPECT_TRUE(replays(sample_));
    EXPECT_TRUE(defects().empty());
  }
  EXPECT_GT(whole, 0u) << "stops behind the last write leave a whole result";
  EXPECT_LT(whole, steps);
}

TEST_F(CrashTest, ARecordNeverPrecedesItsBlobs) {
  const std::uint64_t steps = count_steps();
  for (std::uint64_t step = 1; step <= steps; ++step) {
    SCOPED_TRACE(step);
    forget_everything();
    files_.stop_at(step);
    run_all();
    files_.heal();
    const auto store = open();
    const auto record = store->record(sample_.strong).value();
    if (!record) continue;
    for (const auto& output : record->outputs) EXPECT_TRUE(store->contains(output.content).value());
    EXPECT_TRUE(store->contains(*record->out).value());
  }
}

TEST_F(CrashTest, APowerLossAtEveryStepIsFoundByTheChecksums) {
  const std::uint64_t steps = count_steps();
  for (const auto how :
       {FakeFileSystem::Lost::empty, FakeFileSystem::Lost::half, FakeFileSystem::Lost::zeros}) {
    for (std::uint64_t round = 2; round <= 2 * steps + 3; ++round) {
      const std::uint64_t step = round / 2;
      SCOPED_TRACE(step);
      forget_everything();
      files_.stop_at(step);
      run_all();
      files_.heal();
      disk_.power_cut(how);
      // Fails the test if anything is found that is not what was stored. It also removes what is damaged:
      // every other time the publish meets it as it is.
      if (round % 2 == 0) (void)replays(sample_);
      const auto store = open();
      ASSERT_NE(store, nullptr);
      ASSERT_TRUE(publish(*store, sample_).has_value());
      EXPECT_TRUE(replays(sample_)) << "one rerun heals it";
    }
  }
}

TEST_F(CrashTest, AFullDiskAtAnyStepIsAnErrorAndNothingElse) {
  const std::uint64_t steps = count_steps();
  for (std::uint64_t step = 1; step <= steps; ++step) {
    SCOPED_TRACE(step);
    forget_everything();
    files_.fail_from(step, ENOSPC);
    auto store = LocalStore::open(files_, clock_, kStore);
    if (store.has_value()) {
      const Status published = publish(**store, sample_);
      if (!published.has_value()) {
        EXPECT_EQ(published.error().kind, ErrorKind::no_space) << published.error().what;
      }
      auto left = disk_.files_below("/store/tmp");
      std::erase(left, "/store/tmp/swept");
      EXPECT_TRUE(left.empty()) << "half a file on a full disk must not stay: " << left[0];
    } else {
      EXPECT_EQ(store.error().kind, ErrorKind::no_space);
    }
    files_.heal();
    (void)replays(sample_);
    EXPECT_TRUE(defects().empty());
    ASSERT_TRUE(publish(*open(), sample_).has_value());
    EXPECT_TRUE(replays(sample_));
  }
}

TEST_F(CrashTest, OneFailingWriteAtAnyStepIsAnErrorAndNothingElse) {
  const std::uint64_t steps = count_steps();
  for (std::uint64_t step = 1; step <= steps; ++step) {
    SCOPED_TRACE(step);
    forget_everything();
    files_.fail_at(step, EIO);
    run_all();
    files_.heal();
    (void)replays(sample_);
    EXPECT_TRUE(defects().empty());
    ASSERT_TRUE(publish(*open(), sample_).has_value());
    EXPECT_TRUE(replays(sample_));
  }
}

TEST_F(CrashTest, FailingReadsAreErrorsAndRemoveNothing) {
  ASSERT_TRUE(publish(*open(), sample_).has_value());
  const auto files_before = disk_.files_below(kStore);
  files_.heal();
  (void)replays(sample_);
  const std::uint64_t reads = files_.reads();
  ASSERT_GT(reads, 5u);
  for (std::uint64_t read = 2; read <= reads; ++read) {  // the first is FORMAT
    SCOPED_TRACE(read);
    const auto store = open();
    files_.fail_reads_from(read - 1);
    (void)sample_.replay(*store, files_, "/w");
    files_.heal();
    EXPECT_EQ(disk_.files_below(kStore), files_before)
        << "a disk that cannot be read may be readable tomorrow";
  }
  EXPECT_TRUE(replays(sample_));
}

TEST_F(CrashTest, AFailedRestoreLeavesNoFile) {
  ASSERT_TRUE(publish(*open(), sample_).has_value());
  for (const std::string& bytes : {sample_.small, sample_.large}) {
    const auto digest = digest::digest_of(bytes);
    for (std::uint64_t step = 1;; ++step) {
      SCOPED_TRACE(step);
      const auto store = open();
      files_.fail_at(step, ENOSPC);
      const auto restored = restore_to(*store, files_, digest, "/w/out", 0644);
      const std::uint64_t steps = files_.steps();
      files_.heal();
      const bool there = disk_.lstat("/w/out").value().has_value();
      EXPECT_EQ(restored.has_value(), there);
      ASSERT_TRUE(!there || disk_.bytes("/w/out") == bytes);
      if (steps < step) break;
      (void)disk_.remove("/w/out");
    }
    (void)disk_.remove("/w/out");
  }
}

}  // namespace
}  // namespace hallmark::store
