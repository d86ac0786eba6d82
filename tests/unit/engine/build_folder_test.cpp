#include "engine/build_folder.h"

#include <gtest/gtest.h>

#include "unit/engine/engine_world.h"

namespace hallmark::engine {
namespace {

class BuildFolderTest : public test::EngineTest {
 protected:
  BuildFolderTest() {
    for (const char* folder : {"/r/b", "/r/b/obj", "/r/b/other", "/r/src", "/w"})
      (void)disk_.make_folder(folder, 0755);
    clock_.advance_ms(1000);
    start_ns_ = clock_.now_ns();
    command_.cwd = "/r/b";
  }
  bool writes_into(const std::string& folder, const std::vector<std::string>& own = {},
                   const std::string& build = "/r/b") {
    BuildFolder it(disk_, command_, build, cache_, own);
    return it.writes_into(folder, start_ns_);
  }
  std::int64_t start_ns_ = 0;
  std::string cache_;
};

TEST_F(BuildFolderTest, OwnFoldersAndTheWorkingFolder) {
  EXPECT_TRUE(writes_into("/r/b"));
  EXPECT_FALSE(writes_into("/r/src"));
  EXPECT_TRUE(writes_into("/r/src", {"/r/src/gen.h"}));
  EXPECT_FALSE(writes_into("/r", {"/r/src/gen.h"}));
}

TEST_F(BuildFolderTest, TemporaryFoldersThemselves) {
  (void)disk_.make_folder("/tmp/kept", 0755);
  command_.environment["TMPDIR"] = "/w";
  start_ns_ = clock_.now_ns() + 1;
  EXPECT_TRUE(writes_into("/tmp"));
  EXPECT_TRUE(writes_into("/w"));
  EXPECT_FALSE(writes_into("/tmp/kept"));
}

TEST_F(BuildFolderTest, AFolderWithTheMarksOfABuild) {
  for (const char* mark : {".ninja_log", ".ninja_deps", "build.ninja", "CMakeCache.txt"}) {
    EXPECT_FALSE(writes_into("/w"));
    disk_.put(std::string("/w/") + mark, "");
    start_ns_ = clock_.now_ns() + 1;
    EXPECT_TRUE(writes_into("/w")) << mark;
    (void)disk_.remove(std::string("/w/") + mark);
  }
}

TEST_F(BuildFolderTest, AFolderThatChangedSinceTheRunBegan) {
  EXPECT_FALSE(writes_into("/r/src"));
  disk_.put("/r/src/new.h", "");
  EXPECT_TRUE(writes_into("/r/src"));
  EXPECT_FALSE(writes_into("/none"));
}

TEST_F(BuildFolderTest, WhereNinjaRunsItsManifestTells) {
  disk_.put("/r/b/build.ninja", "build obj/a.o: cc a.c\n");
  start_ns_ = clock_.now_ns() + 1;
  EXPECT_TRUE(writes_into("/r/b/obj"));
  EXPECT_FALSE(writes_into("/r/b/other"));
  disk_.put("/r/b/CMakeCache.txt", "");
  BuildFolder build(disk_, command_, "/r/b", "", {});
  EXPECT_EQ(build.ninja_folder(), "/r/b");
  EXPECT_TRUE(build.made_by_cmake());
  command_.cwd = "/r/b/other";
  BuildFolder below(disk_, command_, "/r/b", "", {});
  EXPECT_EQ(below.ninja_folder(), "/r/b") << "a command that changed into another folder first";
}

TEST_F(BuildFolderTest, ScriptsOfCMakesCustomTargetsWriteAnywhereInItsFolder) {
  disk_.put("/r/b/build.ninja", "build obj/a.o: cc a.c\n");
  disk_.put("/r/b/CMakeCache.txt", "");
  start_ns_ = clock_.now_ns() + 1;
  EXPECT_TRUE(writes_into("/r/b/generated")) << "no build statement names it";
  EXPECT_FALSE(writes_into("/r/src"));
  disk_.put("/r/b/CMakeLists.txt", "");
  EXPECT_FALSE(writes_into("/r/b/generated")) << "built in the source tree: it may hold sources";
  EXPECT_TRUE(writes_into("/r/b/obj"));
}

TEST_F(BuildFolderTest, AMakefileBuildOfCMakeWritesAnywhereInIt) {
  disk_.put("/r/b/CMakeCache.txt", "");
  start_ns_ = clock_.now_ns() + 1;
  command_.cwd = "/r";
  EXPECT_TRUE(writes_into("/r/b/other"));
  EXPECT_FALSE(writes_into("/r/src"));
  BuildFolder build(disk_, command_, "/r/b", "", {});
  EXPECT_EQ(build.ninja_folder(), std::nullopt);
  EXPECT_FALSE(build.has_response_files());
}

TEST_F(BuildFolderTest, WhatWasReadIsKeptUntilAManifestChanges) {
  (void)disk_.make_folder("/cache", 0755);
  cache_ = "/cache";
  disk_.put("/r/b/rules.ninja", "rule link\n  rspfile = x\n");
  disk_.put("/r/b/build.ninja", "include rules.ninja\nbuild obj/a.o: link a.c\n");
  start_ns_ = clock_.now_ns() + 1;
  EXPECT_TRUE(writes_into("/r/b/obj"));
  ASSERT_EQ(disk_.files_below("/cache").size(), 1u);
  // Only a reader of the cache does not see this damage.
  const auto intact = disk_.bytes("/r/b/build.ninja");
  auto damaged = intact;
  damaged.replace(damaged.find("obj/"), 4, "xxx/");
  disk_.damage("/r/b/build.ninja", damaged);
  EXPECT_TRUE(writes_into("/r/b/obj"));
  BuildFolder kept(disk_, command_, "/r/b", cache_, {});
  EXPECT_TRUE(kept.has_response_files());

  disk_.put("/r/b/build.ninja", "build other/a.o: cc a.c\n");
  start_ns_ = clock_.now_ns() + 1;
  EXPECT_FALSE(writes_into("/r/b/obj"));
  EXPECT_TRUE(writes_into("/r/b/other"));
  BuildFolder renewed(disk_, command_, "/r/b", cache_, {});
  EXPECT_FALSE(renewed.has_response_files());
}

TEST_F(BuildFolderTest, AnIncludedFileThatChangesCountsToo) {
  (void)disk_.make_folder("/cache", 0755);
  cache_ = "/cache";
  disk_.put("/r/b/build.ninja", "include more.ninja\n");
  start_ns_ = clock_.now_ns() + 1;
  EXPECT_FALSE(writes_into("/r/b/obj")) << "it is not there yet";
  disk_.put("/r/b/more.ninja", "build obj/a.o: cc a.c\n");
  start_ns_ = clock_.now_ns() + 1;
  EXPECT_TRUE(writes_into("/r/b/obj"));
}

TEST_F(BuildFolderTest, ADamagedCacheIsReadAnew) {
  (void)disk_.make_folder("/cache", 0755);
  cache_ = "/cache";
  disk_.put("/r/b/build.ninja", "build obj/a.o: cc a.c\n");
  start_ns_ = clock_.now_ns() + 1;
  EXPECT_TRUE(writes_into("/r/b/obj"));
  const auto file = disk_.files_below("/cache").at(0);
  const auto whole = disk_.bytes(file);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    disk_.put(file, whole.substr(0, size));
    start_ns_ = clock_.now_ns() + 1;
    EXPECT_TRUE(writes_into("/r/b/obj")) << size;
  }
  disk_.put(file, "hallmark ninja folders 2\nfile absent\nend\n");
  EXPECT_TRUE(writes_into("/r/b/obj"));
}

TEST_F(BuildFolderTest, WithoutAFolderForItNothingIsKept) {
  cache_ = "/cache";
  disk_.put("/r/b/build.ninja", "build obj/a.o: cc a.c\n");
  start_ns_ = clock_.now_ns() + 1;
  EXPECT_TRUE(writes_into("/r/b/obj"));
  EXPECT_FALSE(exists("/cache"));
}

}  // namespace
}  // namespace hallmark::engine
