// Rules 1 and 2: what a replay puts on the disk, when, and over what.
#include "engine/replay.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "support/fault_file_system.h"
#include "unit/engine/engine_world.h"

namespace hallmark::engine {
namespace {

using test::Lines;
using test::lines_of;
using test::Play;

class ReplayTest : public test::EngineTest {
 protected:
  static constexpr const char* kObject = "object of #include \"a.h\"\nint a;\n";
};

TEST_F(ReplayTest, WhatSomebodyWroteIsNotOverwritten) {
  ASSERT_EQ(outcome(), "published");
  edit("/r/a.o", "somebody's own");
  const auto result = run();
  EXPECT_EQ(result.outcome, Outcome::published) << "the command itself may, and did";
  EXPECT_EQ(lines_of(result.reasons).front(), "outputs_in_the_way /r/a.o");
  EXPECT_EQ(result.reasons.front().before, "it holds bytes that hallmark did not put there");
  EXPECT_EQ(runner_.runs, 2);
}

TEST_F(ReplayTest, NothingIsTouchedWhenOneOutputIsInTheWay) {
  runner_.script = [this](Play& play) {
    compile(play);
    play.write("/r/b.o", "second");
  };
  ASSERT_EQ(outcome(), "published");
  remove("/r/a.o");
  edit("/r/b.o", "somebody's own");
  runner_.script = [this](Play& play) {
    EXPECT_FALSE(exists("/r/a.o")) << "not even the one that was free";
    EXPECT_EQ(disk_.bytes("/r/b.o"), "somebody's own");
    compile(play);
    play.write("/r/b.o", "second");
  };
  EXPECT_EQ(outcome(), "published");
}

TEST_F(ReplayTest, KnownBytesAreOverwritten) {
  ASSERT_EQ(outcome(), "published");
  edit("/r/a.h", "int b;\n");
  ASSERT_EQ(outcome(), "published");
  edit("/r/a.h", "int a;\n");
  EXPECT_EQ(outcome(), "replayed") << "over what our other action made";
  EXPECT_EQ(disk_.bytes("/r/a.o"), kObject);
  edit("/r/a.o", "");
  EXPECT_EQ(outcome(), "replayed") << "over nothing, as mktemp leaves it";
  EXPECT_EQ(disk_.bytes("/r/a.o"), kObject);
}

TEST_F(ReplayTest, WhatTheCommandReadMayBeOverwritten) {
  command_.argv = {"sh", "-c", "sort list > x && mv x list"};
  options_.cache_any = true;
  disk_.put("/r/list", "b\na\n");
  clock_.advance_ms(1000);
  runner_.script = [](Play& play) {
    const auto stat = play.files.lstat("/r/list").value();
    play.observation.inputs.push_back(
        {"/r/list", model::Use::content, stat, digest::digest_of(play.files.bytes("/r/list")), {}, {}});
    play.write("/r/list", "a\nb\n");
  };
  ASSERT_EQ(outcome(), "published");
  edit("/r/list", "b\na\n");
  EXPECT_EQ(outcome(), "replayed") << "the look-up compared it";
  EXPECT_EQ(disk_.bytes("/r/list"), "a\nb\n");
}

TEST_F(ReplayTest, AnotherKindOfNodeIsInTheWay) {
  ASSERT_EQ(outcome(), "published");
  remove("/r/a.o");
  (void)disk_.make_link("a.h", "/r/a.o");
  runner_.script = [](Play& play) {
    EXPECT_EQ(play.files.read_link("/r/a.o").value(), "a.h");
    play.exit(1);
  };
  const auto result = run();
  EXPECT_EQ(lines_of(result.reasons).front(), "outputs_in_the_way /r/a.o");
  EXPECT_EQ(result.reasons.front().before, "it is a link now");
}

TEST_F(ReplayTest, ALinkThatLeadsElsewhereIsInTheWay) {
  runner_.script = [this](Play& play) {
    compile(play);
    play.make_link("a.o", "/r/current");
  };
  ASSERT_EQ(outcome(), "published");
  ASSERT_EQ(outcome(), "replayed");
  (void)disk_.remove("/r/current");
  (void)disk_.make_link("other", "/r/current");
  EXPECT_EQ(reasons().front(), "outputs_in_the_way /r/current");
}

TEST_F(ReplayTest, AFolderThatIsGoneIsTheCommandsAffair) {
  (void)disk_.make_folder("/r/out", 0755);
  runner_.script = [](Play& play) { play.write("/r/out/a.o", "object"); };
  ASSERT_EQ(outcome(), "published");
  remove("/r/out/a.o");
  (void)disk_.remove_folder("/r/out");
  runner_.script = [](Play& play) { play.exit(1); };
  const auto result = run();
  EXPECT_EQ(result.outcome, Outcome::failed) << "as without hallmark";
  EXPECT_EQ(result.reasons.front().before, "its folder is not there");
}

TEST_F(ReplayTest, TheFolderOfADepfileThatIsGoneIsTheCommandsAffair) {
  (void)disk_.make_folder("/r/deps", 0755);
  command_.argv = {"g++", "-c", "a.cpp", "-o", "a.o", "-MD", "-MF", "deps/a.d"};
  runner_.script = [this](Play& play) {
    compile(play);
    play.write("/r/deps/a.d", "a.o: a.cpp a.h\n");
  };
  ASSERT_EQ(outcome(), "published");
  remove("/r/deps/a.d");
  (void)disk_.remove_folder("/r/deps");
  runner_.script = [](Play& play) { play.exit(1); };
  clock_.advance_ms(1000);
  const auto store = open_store();
  const auto result = try_run(store.get());
  ASSERT_TRUE(result.has_value()) << result.error().message();
  EXPECT_EQ(result->outcome, Outcome::failed);
  EXPECT_EQ(lines_of(result->reasons).front(), "outputs_in_the_way /r/deps/a.d");
}

TEST_F(ReplayTest, OnlyAModeThatDiffersIsSet) {
  ASSERT_EQ(outcome(), "published");
  const auto inode = stat_of("/r/a.o").inode;
  (void)disk_.set_mode("/r/a.o", 0600);
  ASSERT_EQ(outcome(), "replayed");
  EXPECT_EQ(stat_of("/r/a.o").mode, 0644u);
  EXPECT_EQ(stat_of("/r/a.o").inode, inode) << "equal bytes are not copied again";
}

TEST_F(ReplayTest, EveryOutputGetsAFreshTime) {
  ASSERT_EQ(outcome(), "published");
  const auto made = stat_of("/r/a.o").mtime_ns;
  const auto before = clock_.now_ns();
  ASSERT_EQ(outcome(), "replayed");
  EXPECT_GT(stat_of("/r/a.o").mtime_ns, made);
  EXPECT_GE(stat_of("/r/a.o").mtime_ns, before);
  remove("/r/a.o");
  ASSERT_EQ(outcome(), "replayed");
  EXPECT_EQ(stat_of("/r/a.o").mtime_ns, clock_.now_ns());
}

TEST_F(ReplayTest, WithRestatEqualBytesKeepTheirTime) {
  options_.restat = true;
  ASSERT_EQ(outcome(), "published");
  const auto made = stat_of("/r/a.o").mtime_ns;
  ASSERT_EQ(outcome(), "replayed");
  EXPECT_EQ(stat_of("/r/a.o").mtime_ns, made);
  remove("/r/a.o");
  ASSERT_EQ(outcome(), "replayed");
  EXPECT_EQ(stat_of("/r/a.o").mtime_ns, clock_.now_ns()) << "new bytes have a new time";
}

TEST_F(ReplayTest, WithRestatAnExecutedOutputWithEqualBytesKeepsItsTime) {
  options_.restat = true;
  runner_.script = [](Play& play) {
    (void)play.read("/r/a.h");
    play.write("/r/a.o", "always the same");
    play.write("/r/side", "the same, too");
  };
  ASSERT_EQ(outcome(), "published");
  const auto made = stat_of("/r/a.o").mtime_ns;
  const auto side = stat_of("/r/side").mtime_ns;
  edit("/r/a.h", "a comment");
  ASSERT_EQ(outcome(), "published");
  EXPECT_EQ(stat_of("/r/a.o").mtime_ns, made);
  EXPECT_EQ(stat_of("/r/side").mtime_ns, side) << "not named, but known from the last run";
  options_.restat = false;
  edit("/r/a.h", "another comment");
  ASSERT_EQ(outcome(), "published");
  EXPECT_GT(stat_of("/r/a.o").mtime_ns, made);
}

TEST_F(ReplayTest, WithoutRestatATimeThatTheCommandSetBackIsRenewed) {
  runner_.script = [](Play& play) {
    play.write("/r/a.o", "object");
    (void)play.files.touch("/r/a.o", 1'000'000'000);
  };
  const auto before = clock_.now_ns();
  ASSERT_EQ(outcome(), "published");
  EXPECT_GT(stat_of("/r/a.o").mtime_ns, before) << "cp -p: else the build tool runs it for ever";
}

TEST_F(ReplayTest, TheTimeIsNoneBeforeAnInputs) {
  ASSERT_EQ(outcome(), "published");
  // An input that is touched between the start of the look-up and its hashing is older than the outputs.
  clock_.advance_ms(1000);
  (void)disk_.touch("/r/a.h", clock_.now_ns());
  const auto store = open_store();
  const auto result = try_run(store.get());
  EXPECT_EQ(result.value().outcome, Outcome::replayed);
  EXPECT_GE(stat_of("/r/a.o").mtime_ns, stat_of("/r/a.h").mtime_ns);
}

TEST_F(ReplayTest, AnotherRootGetsTheSameResult) {
  ASSERT_EQ(outcome(), "published");
  for (const char* name : {"a.cpp", "a.h"})
    disk_.put(std::string("/r2/") + name, disk_.bytes(std::string("/r/") + name));
  (void)disk_.make_folder("/r2/include", 0755);
  clock_.advance_ms(1000);
  command_.cwd = options_.root = "/r2";
  ASSERT_EQ(outcome(), "replayed");
  EXPECT_EQ(disk_.bytes("/r2/a.o"), kObject);
}

TEST_F(ReplayTest, AResultThatShowsItsRootStaysThere) {
  runner_.script = [this](Play& play) {
    play.execute("/usr/bin/g++");
    play.write(command_.cwd + "/a.o", "debug information of " + command_.cwd);
  };
  ASSERT_EQ(outcome(), "published");
  ASSERT_EQ(outcome(), "replayed");
  (void)disk_.make_folder("/r2", 0755);
  command_.cwd = options_.root = "/r2";
  const auto result = run();
  EXPECT_EQ(lines_of(result.reasons), (Lines{"bound_value_changed R", "published"}));
  EXPECT_EQ(result.reasons[0].before, "/r");
  EXPECT_EQ(result.reasons[0].after, "/r2");
}

TEST_F(ReplayTest, BytesThatNobodyCanSearchStayWithTheirRoot) {
  runner_.script = [this](Play& play) {
    play.execute("/usr/bin/g++");
    play.write(command_.cwd + "/a.o", std::string("\x1f\x8b\x08\0packed", 10));
  };
  ASSERT_EQ(outcome(), "published");
  (void)disk_.make_folder("/r2", 0755);
  command_.cwd = options_.root = "/r2";
  EXPECT_EQ(lines_of(run().reasons).front(), "bound_value_changed R");
}

TEST_F(ReplayTest, AMessageThatShowsTheUserStaysWithThem) {
  command_.argv.front() = "sh";
  options_.cache_any = true;
  command_.environment["USER"] = "alice";
  runner_.script = [this](Play& play) {
    compile(play);
    play.say("built by " + command_.environment.at("USER"));
  };
  ASSERT_EQ(outcome(), "published");
  command_.environment["USER"] = "bob";
  EXPECT_EQ(reasons(), (Lines{"bound_value_changed USER", "published"}));
  EXPECT_EQ(outcome(), "replayed");
  EXPECT_EQ(streams_.out, "built by bob");
  command_.environment["USER"] = "alice";
  EXPECT_EQ(outcome(), "replayed");
  EXPECT_EQ(streams_.out, "built by alice");
}

TEST_F(ReplayTest, AStrangerInAFolderThatIsLookedIntoIsInTheWay) {
  runner_.script = [this](Play& play) {
    compile(play);
    play.make_searched_folder("/r/gen");
    play.write("/r/gen/a.cu", "a");
    play.make_folder("/r/gen/sub");
    play.write("/r/gen/sub/b.cu", "b");
  };
  ASSERT_EQ(outcome(), "published");
  EXPECT_EQ(outcome(), "replayed") << "its own files are no strangers";
  edit("/r/gen/sub/theirs.cu", "x");
  EXPECT_EQ(outcome(), "replayed") << "nobody looked into gen/sub";
  remove("/r/gen/a.cu");
  edit("/r/gen/__pycache__/x.pyc", "x");
  EXPECT_EQ(outcome(), "replayed");
  edit("/r/gen/theirs.cu", "x");
  const auto result = run();
  EXPECT_NE(result.outcome, Outcome::replayed);
  EXPECT_EQ(lines_of(result.reasons).front(), "outputs_in_the_way /r/gen/theirs.cu");
}

/// Whatever the disk refuses: the command's effect is delivered, and nothing wrong is kept.
class FaultTest : public test::EngineTest {
 protected:
  void check_every_step(const std::function<void()>& prepare, const char* healthy_outcome) {
    runner_.script = [this](Play& play) {
      if (expect_clean_) {
        for (const char* output : {"/r/a.o", "/r/out"})
          EXPECT_FALSE(exists(output)) << output << " is left of a replay that failed";
      }
      compile(play);
      play.make_folder("/r/out");
      play.write("/r/out/tool", "tool", 0755);
      play.make_link("tool", "/r/out/link");
      play.say("note\n");
    };
    test::FaultFileSystem faulty(disk_);
    for (std::uint64_t step = 1;; ++step) {
      prepare();
      clock_.advance_ms(1000);
      const auto store = store::LocalStore::open(faulty, clock_, kStore).value();
      files_ = &faulty;
      faulty.heal();
      faulty.fail_at(step, ENOSPC);
      const auto result = try_run(store.get());
      const bool all_steps_done = faulty.steps() < step;
      faulty.heal();
      files_ = &disk_;
      ASSERT_TRUE(result.has_value()) << "step " << step << ": " << result.error().message();
      ASSERT_EQ(result->exit_code, 0);
      ASSERT_FALSE(result->reasons.empty());
      if (all_steps_done) {
        EXPECT_EQ(name_of(result->outcome), healthy_outcome);
        EXPECT_GT(step, 5u);
        return;
      }
      check_outputs(step);
      for (const auto& defect : defects()) {
        // A torn entry of the digest table is hashed anew; anything else would be lost.
        EXPECT_EQ(defect.path, "/store/digests") << "step " << step << ": " << defect.what;
      }
      const auto after = run();
      ASSERT_TRUE(after.outcome == Outcome::replayed || after.outcome == Outcome::published)
          << "step " << step << ": " << testing::PrintToString(lines_of(after.reasons));
      check_outputs(step);
    }
  }
  void check_outputs(std::uint64_t step) {
    ASSERT_EQ(disk_.bytes("/r/a.o"), "object of #include \"a.h\"\nint a;\n") << step;
    ASSERT_EQ(disk_.bytes("/r/out/tool"), "tool") << step;
    ASSERT_EQ(stat_of("/r/out/tool").mode, 0755u) << step;
    ASSERT_EQ(disk_.read_link("/r/out/link").value(), "tool") << step;
    for (const auto& file : disk_.files_below("/r"))
      ASSERT_EQ(file.find(".tmp"), std::string::npos) << step << ": " << file;
  }
  bool expect_clean_ = false;  ///< whenever the command runs, none of its outputs is there

  void remove_outputs() {
    for (const char* file : {"/r/a.o", "/r/out/tool", "/r/out/link"}) (void)disk_.remove(file);
    (void)disk_.remove_folder("/r/out");
  }
  void empty_store() {
    for (const auto& file : disk_.files_below(kStore)) {
      if (!file.ends_with("FORMAT")) (void)disk_.remove(file);
    }
  }
};

TEST_F(FaultTest, AnExecutionSurvivesEveryFailingStep) {
  check_every_step(
      [this] {
        remove_outputs();
        empty_store();
      },
      "published");
}

TEST_F(FaultTest, AReplaySurvivesEveryFailingStep) {
  expect_clean_ = true;
  check_every_step(
      [this] {
        remove_outputs();
        empty_store();
        (void)run();
        remove_outputs();
      },
      "replayed");
}

}  // namespace
}  // namespace hallmark::engine
