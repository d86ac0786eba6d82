#include "app/places.h"

#include <gtest/gtest.h>

#include "support/fake_clock.h"
#include "support/fake_file_system.h"

namespace hallmark::app {
namespace {

class Places : public testing::Test {
 protected:
  void process(int id, std::string_view name, int parent) {
    files_.put("/proc/" + std::to_string(id) + "/stat",
               std::to_string(id) + " (" + std::string(name) + ") S " + std::to_string(parent) + " 1 1 0 -1");
  }

  std::optional<std::string> name_above(pid_t process) {
    const auto tool = build_tool_above(files_, process);
    return tool ? std::optional(tool->name) : std::nullopt;
  }

  test::FakeClock clock_;
  test::FakeFileSystem files_{clock_};
};

TEST_F(Places, TheRootIsTheNearestHallmarkFolder) {
  files_.put("/a/.hallmark/config.toml", "");
  files_.put("/a/b/.git/HEAD", "");
  files_.put("/a/b/c/x", "");
  EXPECT_EQ(find_root(files_, "/a/b/c"), "/a");
  files_.put("/a/b/c/.hallmark/watch/x", "");
  EXPECT_EQ(find_root(files_, "/a/b/c"), "/a/b/c");
}

TEST_F(Places, ElseTheGitTopLevelAlsoOfAWorktree) {
  files_.put("/a/.git/HEAD", "");
  files_.put("/a/sub/.git", "gitdir: elsewhere");
  files_.put("/a/sub/c/x", "");
  files_.put("/a/d/x", "");
  EXPECT_EQ(find_root(files_, "/a/sub/c"), "/a/sub");
  EXPECT_EQ(find_root(files_, "/a/d"), "/a");
}

TEST_F(Places, ElseTheWorkingFolder) {
  files_.put("/a/b/x", "");
  EXPECT_EQ(find_root(files_, "/a/b"), "/a/b");
  EXPECT_EQ(find_root(files_, "/"), "/");
}

TEST_F(Places, TheBuildFolderIsTheGeneratedOneEvenBehindMakefiles) {
  files_.put("/s/b/CMakeCache.txt", "");
  files_.put("/s/b/sub/dir/Makefile", "");
  EXPECT_EQ(find_build_folder(files_, "/s/b/sub/dir"), "/s/b");
  files_.put("/m/GNUmakefile", "");
  files_.put("/m/x/y", "");
  EXPECT_EQ(find_build_folder(files_, "/m/x"), "/m");
  files_.put("/n/x", "");
  EXPECT_EQ(find_build_folder(files_, "/n"), "");
}

TEST_F(Places, FindsABuildToolAmongTheAncestors) {
  process(10, "sh", 9);
  process(9, "ninja", 1);
  EXPECT_EQ(name_above(10), "ninja");
  process(20, "zsh", 1);
  EXPECT_EQ(name_above(20), std::nullopt);
}

TEST_F(Places, TellsAncestors) {
  process(10, "sh", 9);
  process(9, "hallmark", 8);
  process(8, "ninja", 1);
  for (const int ancestor : {10, 9, 8}) EXPECT_TRUE(is_ancestor(files_, ancestor, 10)) << ancestor;
  for (const int other : {0, 1, 7, 11}) EXPECT_FALSE(is_ancestor(files_, other, 10)) << other;
}

TEST_F(Places, TellsWhenTheBuildToolStarted) {
  process(10, "ninja", 1);
  files_.put("/proc/11/stat", "11 (ninja) S 1 9 9 0 -1 4194560 1 0 0 0 3 4 5 6 20 0 1 0 4711 9000 100");
  EXPECT_EQ(build_tool_above(files_, 11)->start_ticks, 4711u);
  EXPECT_TRUE(is_ninja(*build_tool_above(files_, 11)));
  EXPECT_EQ(build_tool_above(files_, 10)->start_ticks, std::nullopt);
  EXPECT_FALSE(is_ninja({"make", 1}));
}

TEST_F(Places, AProcessMayBeNamedAnything) {
  process(10, "evil) S 5 (", 9);
  process(9, "make", 1);
  process(5, "bash", 1);
  EXPECT_EQ(name_above(10), "make");
  process(11, "ninjatool", 1);
  EXPECT_EQ(name_above(11), std::nullopt);
}

TEST_F(Places, ALoopInTheProcessTableEnds) {
  process(10, "a", 11);
  process(11, "b", 10);
  EXPECT_EQ(name_above(10), std::nullopt);
}

TEST_F(Places, AnUnreadableProcessTableIsNoBuildTool) {
  EXPECT_EQ(name_above(77), std::nullopt);
}

}  // namespace
}  // namespace hallmark::app
