#include "engine/sentinels.h"

#include <gtest/gtest.h>

#include "unit/engine/engine_world.h"

namespace hallmark::engine {
namespace {

using Names = std::set<std::string>;

class SentinelsTest : public test::EngineTest {
 protected:
  std::string watch(const std::string& folder, const Names& names) {
    appeared_ = false;
    return sentinels().watch(folder, names, appeared_).value_or("none");
  }
  /// As each process makes its own.
  Sentinels sentinels() { return {disk_, clock_, "/r"}; }
  std::int64_t time_of(const std::string& sentinel) { return stat_of(sentinel).mtime_ns; }
  bool appeared_ = false;
};

TEST_F(SentinelsTest, StandForAFolderAndAreOld) {
  const auto sentinel = watch("/r/b", {"x.h"});
  EXPECT_TRUE(sentinel.starts_with("/r/.hallmark/watch/"));
  EXPECT_EQ(time_of(sentinel), 1'000'000'000) << "older than any output, and not Ninja's \"missing\"";
  EXPECT_EQ(watch("/r/b", {"y.h"}), sentinel);
  EXPECT_NE(watch("/r/c", {"x.h"}), sentinel);
  EXPECT_FALSE(appeared_);
  EXPECT_EQ(disk_.bytes("/r/.hallmark/watch/.gitignore"), "*\n");
}

TEST_F(SentinelsTest, ANameThatAppearsTouchesThemIfSomebodyLookedForIt) {
  const auto sentinel = watch("/r/b", {"x.h", "y.h"});
  const auto other = watch("/r/c", {"x.h"});
  clock_.advance_ms(1000);
  sentinels().announce({"/r/b/z.h", "/r/d/x.h"});
  EXPECT_EQ(time_of(sentinel), 1'000'000'000);
  sentinels().announce({"/r/b/z.h", "/r/b/y.h"});
  EXPECT_EQ(time_of(sentinel), clock_.now_ns());
  EXPECT_EQ(time_of(other), 1'000'000'000);
}

TEST_F(SentinelsTest, WatchingAgainKeepsTheTime) {
  const auto sentinel = watch("/r/b", {"x.h"});
  sentinels().announce({"/r/b/x.h"});
  const auto touched = time_of(sentinel);
  clock_.advance_ms(1000);
  (void)watch("/r/b", {"x.h", "y.h"});
  EXPECT_EQ(time_of(sentinel), touched);
}

TEST_F(SentinelsTest, NamesAreKeptOnce) {
  const auto sentinel = watch("/r/b", {"x.h", "y.h"});
  (void)watch("/r/b", {"x.h", "z.h"});
  EXPECT_EQ(disk_.bytes(sentinel + ".names"), "x.h\ny.h\nz.h\n");
}

TEST_F(SentinelsTest, ANameThatIsThereByNowIsNotLost) {
  disk_.put("/r/b/x.h", "");
  clock_.advance_ms(1000);
  const auto sentinel = watch("/r/b", {"x.h"});
  EXPECT_TRUE(appeared_);
  EXPECT_EQ(time_of(sentinel), clock_.now_ns());
}

TEST_F(SentinelsTest, TornAndImpossibleLinesAreNoNames) {
  const auto sentinel = watch("/r/b", {"x\ny"});
  EXPECT_FALSE(exists(sentinel + ".names"));
  disk_.put(sentinel + ".names", "whole.h\ntorn");
  sentinels().announce({"/r/b/torn"});
  EXPECT_EQ(time_of(sentinel), 1'000'000'000);
  sentinels().announce({"/r/b/whole.h"});
  EXPECT_EQ(time_of(sentinel), clock_.now_ns());
}

TEST_F(SentinelsTest, ATreeThatCannotBeWrittenHasNone) {
  disk_.set_read_only(true);
  EXPECT_EQ(watch("/r/b", {"x.h"}), "none");
  sentinels().announce({"/r/b/x.h"});
  disk_.set_read_only(false);
  (void)watch("/r/b", {"x.h"});
  disk_.set_read_only(true);
  EXPECT_EQ(watch("/r/b", {"y.h"}), "none") << "a name that is not kept would be lost";
}

TEST_F(SentinelsTest, AnnouncingWithoutAnyWatcherMakesNothing) {
  sentinels().announce({"/r/b/x.h"});
  EXPECT_FALSE(exists("/r/.hallmark"));
}

}  // namespace
}  // namespace hallmark::engine
