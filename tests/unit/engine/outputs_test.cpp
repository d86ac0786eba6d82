#include "engine/outputs.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "unit/engine/engine_world.h"

namespace hallmark::engine {
namespace {

using model::ReasonCode;
using test::Lines;
using test::lines_of;

model::Observation clean() {
  model::Observation observation;
  observation.tier = model::Tier::hybrid;
  observation.outputs.push_back({"/r/a.o", NodeKind::file, true, {}});
  return observation;
}

Lines doubts(const model::Observation& observation) {
  return lines_of(doubts_of(observation, {{"/r", "/b"}, {"/opt/named", "/opt/x.d"}}));
}

TEST(Outputs, TerritoryIsFoldersAndNamedOutputs) {
  const Territory territory{{"/r", "/b"}, {"/opt/named"}};
  for (const char* path : {"/r", "/r/a", "/b/c/d", "/opt/named", "/opt/named/below"})
    EXPECT_TRUE(territory.holds(path)) << path;
  for (const char* path : {"/rest", "/opt/named2", "/opt", "/", ""})
    EXPECT_FALSE(territory.holds(path)) << path;
}

TEST(Outputs, ACleanRunHasNoDoubts) {
  EXPECT_EQ(doubts(clean()), Lines{});
}

TEST(Outputs, EveryDoubtHasItsReason) {
  auto run = clean();
  run.wait_status = 3 << 8;
  const auto failed = doubts_of(run, {{"/r"}, {}});
  EXPECT_EQ(lines_of(failed), Lines{"command_failed"});
  EXPECT_EQ(failed[0].before, "3");
  run.wait_status = 9;
  const auto killed = doubts_of(run, {{"/r"}, {}});
  EXPECT_EQ(killed[0].subject, "signal 9 (SIGKILL)");
  EXPECT_EQ(killed[0].before, "137");
  EXPECT_EQ(killed.size(), 1u);

  run = clean();
  run.tier = model::Tier::none;
  EXPECT_EQ(doubts(run), Lines{"not_observed"});

  run = clean();
  run.doubts = {{ReasonCode::network_used, "10.0.0.1:80", {}, {}}};
  run.notes = {{ReasonCode::tier_degraded, "notify", {}, {}}};
  EXPECT_EQ(doubts(run), Lines{"network_used 10.0.0.1:80"}) << "a lesser tier is no doubt";

  run = clean();
  run.outputs = {{"/r/fifo", NodeKind::other, true, {}},
                 {"/r/log", NodeKind::file, false, FileStat{}},
                 {"/etc/passwd", NodeKind::file, true, {}},
                 {"/b/x", NodeKind::file, true, {}},
                 {"/opt/x.d", NodeKind::file, true, {}}};
  run.removals = {{"/r/old", NodeKind::file}};
  run.out.truncated = run.err.truncated = true;
  EXPECT_EQ(doubts(run),
            (Lines{"special_output /r/fifo", "write_in_place /r/log", "write_elsewhere /etc/passwd",
                   "removed_foreign /r/old", "stream_too_long stdout", "stream_too_long stderr"}));
}

TEST(Outputs, ExitCodesAreAShells) {
  EXPECT_EQ(exit_code_of(0), 0);
  EXPECT_EQ(exit_code_of(3 << 8), 3);
  EXPECT_EQ(exit_code_of(11), 139);
}

TEST(Outputs, PathsBecomeAbsoluteByText) {
  EXPECT_EQ(absolute_path("/r", "a.o"), "/r/a.o");
  EXPECT_EQ(absolute_path("/r/b", "../a.o"), "/r/a.o");
  EXPECT_EQ(absolute_path("/r", "./x//y/./z/"), "/r/x/y/z");
  EXPECT_EQ(absolute_path("/r", "/abs/../a"), "/a");
  EXPECT_EQ(absolute_path("/r", "../../.."), "/");
  EXPECT_EQ(absolute_path("/r", ""), "/r");
  EXPECT_EQ(absolute_path("/", "..x/...y"), "/..x/...y");
}

RC_GTEST_PROP(OutputsProperty, AbsolutePathsAreInNormalForm, ()) {
  const auto piece = rc::gen::element<std::string>("a", "..", ".", "/", "//", "b.c", "...");
  std::string spelled;
  for (const auto& part : *rc::gen::container<std::vector<std::string>>(piece)) spelled += part;
  const auto path = absolute_path("/w/x", spelled);
  RC_ASSERT(path.starts_with('/'));
  RC_ASSERT(path == "/" || !path.ends_with('/'));
  RC_ASSERT(path.find("//") == std::string::npos);
  RC_ASSERT((path + "/").find("/../") == std::string::npos);
  RC_ASSERT((path + "/").find("/./") == std::string::npos);
  RC_ASSERT(absolute_path("/other", path) == path);
}

class LitterTest : public test::EngineTest {};

/// hipcc leaves an empty folder in /tmp with each run.
TEST_F(LitterTest, EmptyFoldersInTemporaryFoldersAreNoOutputs) {
  for (const char* folder : {"/tmp/hip-1", "/tmp/full", "/r/made", "/tmp/sub", "/tmp/sub/deep", "/tmp/known"})
    (void)disk_.make_folder(folder, 0755);
  disk_.put("/tmp/full/x", "x");
  disk_.put("/tmp/file", "");
  model::Observation run;
  for (const char* folder : {"/r/made", "/tmp/full", "/tmp/hip-1", "/tmp/sub/deep", "/tmp/gone"})
    run.outputs.push_back({folder, NodeKind::directory, true, {}});
  run.outputs.push_back({"/tmp/file", NodeKind::file, true, {}});
  run.outputs.push_back({"/tmp/known", NodeKind::directory, true, FileStat{}});
  drop_litter(run, disk_, {"/tmp"});
  Lines left;
  for (const auto& output : run.outputs) left.push_back(output.path);
  EXPECT_EQ(left, (Lines{"/r/made", "/tmp/full", "/tmp/sub/deep", "/tmp/gone", "/tmp/file", "/tmp/known"}));
}

}  // namespace
}  // namespace hallmark::engine
