#include "engine/build_folder.h"

#include <gtest/gtest.h>

#include "unit/engine/engine_world.h"

namespace hallmark::engine {
namespace {

using Paths = std::set<std::string>;

class NinjaOutputsTest : public test::EngineTest {
 protected:
  Paths folders(const std::string& manifest) {
    disk_.put("/b/build.ninja", manifest);
    NinjaOutputs outputs(disk_, "/b");
    EXPECT_TRUE(outputs.read("/b/build.ninja"));
    has_response_files_ = outputs.has_response_files();
    manifests_ = outputs.manifests();
    return outputs.folders();
  }
  bool has_response_files_ = false;
  std::vector<std::string> manifests_;
};

TEST_F(NinjaOutputsTest, FoldersOfAllOutputs) {
  EXPECT_EQ(folders("rule cc\n"
                    "  command = cc -o $out $in\n"
                    "# build comment/x: cc a\n"
                    "build obj/a.o: cc a.c\n"
                    "build obj/sub/b.o gen/b.h | implicit/c.h: cc b.c | dep/d.h || order/e.h |@ check/f\n"
                    "build top: phony obj/a.o\n"
                    "build /abs/x.o: cc x.c\n"
                    "build ../out/y.o: cc y.c\n"
                    "default top\n"),
            (Paths{"/b/obj", "/b/obj/sub", "/b/gen", "/b/implicit", "/b", "/abs", "/out"}));
  EXPECT_FALSE(has_response_files_);
}

TEST_F(NinjaOutputsTest, PathsOfEdgesThatRunSomething) {
  disk_.put("/b/build.ninja",
            "build obj/a.o: cc a.c\n"
            "build gen/b.h | gen/c.h: gen$\n"
            "  x\n"
            "build top alias: phony obj/a.o\n"
            "build last:cc\n"
            "build nothing\n"
            "build /r/CMakeLists.txt: phony\n"
            "build tricky: phony2 a\n"
            "include more.ninja\n");
  disk_.put("/b/more.ninja",
            "build inner.o: cc x\n"
            "rule again\n"
            "  command = cmake\n"
            "  generator = 1\n"
            "rule cc\n"
            "  command = cc\n"
            "build build.ninja: again\n"
            "build stamp | stamp2: cc\n"
            "  generator = 1\n");
  NinjaOutputs outputs(disk_, "/b", NinjaOutputs::Keep::paths);
  EXPECT_TRUE(outputs.read("/b/build.ninja"));
  EXPECT_EQ(outputs.paths(), (Paths{"/b/obj/a.o", "/b/gen/b.h", "/b/gen/c.h", "/b/last", "/b/nothing",
                                    "/b/tricky", "/b/inner.o"}));
}

TEST_F(NinjaOutputsTest, VariablesAndEscapes) {
  EXPECT_EQ(
      folders("dir = one\n"
              "both=$dir/two\n"
              "spaced   =   x y\n"
              "build $dir/a.o: cc a\n"
              "build ${both}/a.o: cc a\n"
              "build $dir.d/a.o: cc a\n"
              "build my$ dir/a$:b.o: cc a\n"
              "build cost$$/a.o: cc a\n"
              "build q/$spaced/a.o: cc a\n"
              "build $unknown/r/a.o: cc a\n"
              "dir = later\n"
              "build $dir/a.o: cc a\n"),
      (Paths{"/b/one", "/b/one/two", "/b/one.d", "/b/my dir", "/b/cost$", "/b/q/x y", "/r", "/b/later"}))
      << "a value counts from its line on; \"/r\" is absolute once $unknown is nothing";
}

TEST_F(NinjaOutputsTest, ContinuedLines) {
  EXPECT_EQ(folders("build one/a.o $\n"
                    "    two/b.o$\n"
                    " | three/c.o: cc a $\n"
                    "    four/in\n"
                    "dir = fi$\n"
                    "  ve\n"
                    "build $dir/x: cc a\n"
                    "build six/a|seven/b: cc a\n"
                    "price = 5$$\n"
                    "build eight/x: cc a\n"),
            (Paths{"/b/one", "/b/two", "/b/three", "/b/five", "/b/six", "/b/seven", "/b/eight"}));
}

TEST_F(NinjaOutputsTest, IncludesShareVariablesAndSubninjasHaveTheirOwn) {
  disk_.put("/b/sub/inc.ninja", "dir = included\n");
  disk_.put("/b/sub/own.ninja", "build $dir/own/x: cc a\ndir = private\nbuild $dir/x: cc a\n");
  EXPECT_EQ(folders("where = sub\n"
                    "include $where/inc.ninja\n"
                    "subninja $where/own.ninja\n"
                    "include none.ninja\n"
                    "build $dir/y: cc a\n"),
            (Paths{"/b/included", "/b/included/own", "/b/private"}));
  EXPECT_EQ(manifests_, (std::vector<std::string>{"/b/build.ninja", "/b/sub/inc.ninja", "/b/sub/own.ninja",
                                                  "/b/none.ninja"}));
}

TEST_F(NinjaOutputsTest, AFileThatIncludesItselfEnds) {
  EXPECT_EQ(folders("build a/x: cc a\ninclude build.ninja\n"), Paths{"/b/a"});
}

TEST_F(NinjaOutputsTest, ResponseFilesOfRulesAndEdges) {
  (void)folders("rule link\n  command = ld @$out.rsp\n  rspfile = $out.rsp\n  rspfile_content = $in\n");
  EXPECT_TRUE(has_response_files_);
  (void)folders("build a: link b\n  rspfile = a.rsp\n");
  EXPECT_TRUE(has_response_files_);
  (void)folders("rule link\n  command = ld rspfile\nrspfile = x\n");
  EXPECT_FALSE(has_response_files_) << "a variable of the file is none of an edge";
}

TEST_F(NinjaOutputsTest, OddTextIsReadWithoutHarm) {
  EXPECT_EQ(folders("build\nbuild \n$\n${\nbuild ${: x\nx\n= y\nbuild a/b"), (Paths{"/b/a"}));
  NinjaOutputs none(disk_, "/b");
  EXPECT_FALSE(none.read("/b/none.ninja"));
}

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
  disk_.put("/r/b/build.ninja", "include rules.ninja\nbuild obj/a.o: cc a.c\n");
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
