// Rule 1: what a build tool is told to watch.
#include "engine/depfile.h"

#include <gtest/gtest.h>

#include "base/limits.h"
#include "engine/make_text.h"
#include "unit/engine/engine_world.h"

namespace hallmark::engine {
namespace {

using test::Lines;
using test::lines_of;
using test::Play;

class DepfileTest : public test::EngineTest {
 protected:
  DepfileTest() {
    options_.depfile = "a.d";
    (void)disk_.make_folder("/r/b", 0755);
    (void)open_store();
    clock_.advance_ms(10'000);
  }
  /// Targets and prerequisites of the first rule; sentinels as "<sentinel>".
  Lines listed(const std::string& path = "/r/a.d") {
    const auto parsed = parse_make_text(disk_.bytes(path));
    if (!parsed) return {"no depfile"};
    targets_ = parsed->rules[0].targets;
    phony_.clear();
    for (std::size_t i = 1; i < parsed->rules.size(); ++i) {
      EXPECT_TRUE(parsed->rules[i].prerequisites.empty());
      phony_.push_back(parsed->rules[i].targets.at(0));
    }
    Lines lines;
    for (const auto& name : parsed->rules[0].prerequisites) {
      const bool sentinel = name.find(".hallmark/watch/") != std::string::npos;
      if (sentinel) sentinel_ = name.starts_with('/') ? name : command_.cwd + "/" + name;
      lines.push_back(sentinel ? "<sentinel>" : name);
    }
    return lines;
  }
  Lines run_and_list(const std::function<void(Play&)>& script) {
    runner_.script = script;
    (void)run();
    return listed();
  }
  static bool holds(const Lines& lines, const std::string& line) {
    return std::find(lines.begin(), lines.end(), line) != lines.end();
  }

  Lines targets_;
  Lines phony_;
  std::string sentinel_;
};

TEST_F(DepfileTest, ListsInputsAndWatchedFolders) {
  (void)run();
  EXPECT_EQ(listed(), (Lines{"a.cpp", "a.h", "/usr/bin/g++", "include"}))
      << "a new name in include/ starts the command again";
  EXPECT_EQ(targets_, Lines{"a.o"});
  EXPECT_EQ(phony_, Lines{});
}

TEST_F(DepfileTest, IsTheSameAfterAReplay) {
  (void)run();
  const auto text = disk_.bytes("/r/a.d");
  remove("/r/a.d");
  ASSERT_EQ(outcome(), "replayed");
  EXPECT_EQ(disk_.bytes("/r/a.d"), text);
}

TEST_F(DepfileTest, IsWrittenForUnprovenAndUncacheableRunsToo) {
  runner_.script = [this](Play& play) {
    compile(play);
    play.observation.doubts.push_back({model::ReasonCode::network_used, "10.0.0.1:80", {}, {}});
  };
  ASSERT_EQ(outcome(), "unproven");
  EXPECT_EQ(listed().size(), 4u);
  remove("/r/a.d");
  with_store_ = false;
  ASSERT_EQ(outcome(), "uncacheable");
  EXPECT_EQ(listed().size(), 4u);
}

TEST_F(DepfileTest, AFailedCommandHasNone) {
  runner_.script = [](Play& play) { play.exit(1); };
  ASSERT_EQ(outcome(), "failed");
  EXPECT_FALSE(exists("/r/a.d"));
}

TEST_F(DepfileTest, OutsideOfTheWorkingFolderNamesAreAbsolute) {
  command_.cwd = "/r/b";
  runner_.script = [](Play& play) {
    (void)play.read("/r/a.cpp");
    play.write("/r/b/a.o", "object");
  };
  (void)run();
  EXPECT_EQ(listed("/r/b/a.d"), Lines{"/r/a.cpp"});
}

TEST_F(DepfileTest, ACommandThatChangedFolderNamesWhatNinjaReads) {
  disk_.put("/r/b/build.ninja", "build a.o: cc a.c\n");
  (void)disk_.make_folder("/r/b/sub", 0755);
  clock_.advance_ms(1000);
  options_.build_folder = "/r/b";
  options_.depfile = "/r/b/a.d";
  options_.outputs = {"../a.o"};
  command_.cwd = "/r/b/sub";
  disk_.put("/r/b/gen.h", "");
  clock_.advance_ms(1000);
  runner_.script = [](Play& play) {
    (void)play.read("/r/b/gen.h");
    play.write("/r/b/a.o", "object");
  };
  (void)run();
  EXPECT_EQ(listed("/r/b/a.d"), Lines{"gen.h"}) << "seen from Ninja's folder";
  EXPECT_EQ(targets_, Lines{"a.o"}) << "as Ninja names it";
  edit("/r/b/CMakeCache.txt", "");
  (void)run();
  EXPECT_EQ(listed("/r/b/a.d"), Lines{"/r/b/gen.h"}) << "CMake transforms the file itself";
  EXPECT_EQ(targets_, Lines{"/r/b/a.o"});
}

TEST_F(DepfileTest, OutputsAreNoInputs) {
  EXPECT_EQ(run_and_list([](Play& play) {
              play.look("/r/out");
              play.make_folder("/r/out");
              play.write("/r/out/a.o", "object");
              play.look("/r/a.d");
              (void)play.read("/r/a.h");
            }),
            Lines{"a.h"});
}

TEST_F(DepfileTest, WhatIsNoFileIsNotListed) {
  disk_.put("/proc/cpuinfo", "");
  disk_.put("/dev/nvidia0", "");
  clock_.advance_ms(1000);
  EXPECT_EQ(run_and_list([](Play& play) {
              (void)play.read("/proc/cpuinfo");
              play.look("/proc/none");
              (void)play.read("/dev/nvidia0");
              play.look("/dev/none");
              play.list("/sys");
              play.list("/dev");
              (void)play.read("/r/a.h");
            }),
            Lines{"a.h"});
}

TEST_F(DepfileTest, TheRootFolderIsNeverListed) {
  EXPECT_EQ(run_and_list([](Play& play) {
              play.look("/none");
              play.list("/");
              play.look("/");
              (void)play.read("/r/a.h");
            }),
            Lines{"a.h"})
      << "Ninja cannot write it to its log";
}

TEST_F(DepfileTest, FoldersThatWereLookedAtStandForThemselvesOnlyIfNothingInThemDoes) {
  (void)disk_.make_folder("/opt", 0755);
  (void)disk_.make_folder("/opt/empty", 0755);
  disk_.put("/opt/used/x.h", "");
  clock_.advance_ms(1000);
  EXPECT_EQ(run_and_list([](Play& play) {
              play.look("/opt/empty");
              play.look("/opt/used");
              (void)play.read("/opt/used/x.h");
            }),
            (Lines{"/opt/used/x.h", "/opt/empty"}));
}

TEST_F(DepfileTest, ALinksFolderShowsThatItLeadsElsewhere) {
  disk_.put("/opt/l/x", "");
  (void)disk_.make_link("x", "/opt/l/link");
  clock_.advance_ms(1000);
  EXPECT_EQ(run_and_list([](Play& play) { play.follow("/opt/l/link"); }), Lines{"/opt/l"});
}

TEST_F(DepfileTest, AProgramMayAppearInEachFolderInFront) {
  for (const char* folder : {"/opt", "/opt/one", "/opt/two", "/opt/behind"})
    (void)disk_.make_folder(folder, 0755);
  clock_.advance_ms(1000);
  command_.environment["PATH"] = "/opt/one:/opt/two:/usr/bin:/opt/behind";
  EXPECT_EQ(run_and_list([](Play& play) { play.execute("/usr/bin/g++"); }),
            (Lines{"/usr/bin/g++", "/opt/one", "/opt/two"}));
  command_.argv[0] = "c++";
  (void)disk_.make_link("g++", "/usr/bin/c++");
  clock_.advance_ms(1000);
  EXPECT_EQ(run_and_list([](Play& play) {
              play.follow("/usr/bin/c++");
              play.execute("/usr/bin/g++");
            }),
            (Lines{"/usr/bin/c++", "/usr/bin/g++", "/opt/one", "/opt/two", "/usr/bin"}));
}

TEST_F(DepfileTest, AnAbsentFileWhoseSizeCountsIsAName) {
  EXPECT_EQ(run_and_list([](Play& play) {
              play.observation.inputs.push_back({"/r/include/x", model::Use::size, {}, {}, {}, {}});
            }),
            Lines{"include"});
}

TEST_F(DepfileTest, AFolderInWhichTheBuildWritesIsASentinel) {
  const auto lines = run_and_list([](Play& play) {
    play.look("/r/b/config.h");
    play.list("/r/b");
    play.write("/r/b/a.o", "object");
  });
  EXPECT_EQ(lines, Lines{"<sentinel>"});
  EXPECT_EQ(stat_of(sentinel_).mtime_ns, 1'000'000'000);

  // Whoever makes the name through hallmark wakes the reader.
  command_.argv = {"gcc", "-E", "config.c"};
  options_.depfile.clear();
  runner_.script = [](Play& play) { play.write("/r/b/config.h", "#define X\n"); };
  (void)run();
  EXPECT_EQ(stat_of(sentinel_).mtime_ns, clock_.now_ns());
}

TEST_F(DepfileTest, AReplayThatMakesTheNameWakesTheReaderToo) {
  const auto reader = command_.argv;
  command_.argv = {"gcc", "-E", "config.c"};
  options_.depfile.clear();
  runner_.script = [](Play& play) { play.write("/r/b/config.h", "#define X\n"); };
  ASSERT_EQ(outcome(), "published");
  remove("/r/b/config.h");
  const auto writer = std::exchange(command_.argv, reader);
  options_.depfile = "a.d";
  (void)run_and_list([](Play& play) {
    play.look("/r/b/config.h");
    play.write("/r/b/a.o", "object");
  });
  ASSERT_EQ(stat_of(sentinel_).mtime_ns, 1'000'000'000);
  command_.argv = writer;
  options_.depfile.clear();
  ASSERT_EQ(outcome(), "replayed");
  EXPECT_EQ(stat_of(sentinel_).mtime_ns, clock_.now_ns());
}

TEST_F(DepfileTest, AResultThatWasOvertakenIsOlderThanWhatOvertookIt) {
  runner_.script = [this](Play& play) {
    play.look("/r/b/config.h");
    play.write("/r/b/a.o", "object");
    disk_.put("/r/b/config.h", "by another command at the same time");
  };
  (void)run();
  (void)listed();
  EXPECT_LT(stat_of("/r/b/a.o").mtime_ns, stat_of("/r/b/config.h").mtime_ns);
  EXPECT_LT(stat_of("/r/b/a.o").mtime_ns, stat_of(sentinel_).mtime_ns);
}

TEST_F(DepfileTest, AResultOfAnInputThatChangedMeanwhileIsOlderThanTheInput) {
  runner_.script = [this](Play& play) {
    compile(play);
    disk_.put("/r/a.h", "int edited;\n");
    clock_.advance_ms(10);
    play.write("/r/a.o", "object of the old header");
  };
  EXPECT_EQ(outcome(), "unproven");
  EXPECT_LT(stat_of("/r/a.o").mtime_ns, stat_of("/r/a.h").mtime_ns);
}

TEST_F(DepfileTest, ForMakeEveryNameIsAPhonyTarget) {
  command_.environment["MAKELEVEL"] = "1";
  (void)run();
  (void)listed();
  EXPECT_EQ(phony_, (Lines{"a.cpp", "a.h", "/usr/bin/g++", "include"}));
}

TEST_F(DepfileTest, TheTargetIsFoundWhereNobodyNamesIt) {
  command_.argv = {"cc1plus", "a.cpp"};
  options_.depfile = "a.o.d";
  runner_.script = [this](Play& play) {
    compile(play);
    play.write("/r/0.log", "");
  };
  (void)run();
  (void)listed("/r/a.o.d");
  EXPECT_EQ(targets_, Lines{"a.o"}) << "the depfile's own name tells";
  command_.argv.push_back("-v");
  runner_.script = [this](Play& play) {
    compile(play);
    play.write("/r/0.d", "no rule");
  };
  options_.depfile = "0.d";
  (void)run();
  (void)listed("/r/0.d");
  EXPECT_EQ(targets_, Lines{"a.o"}) << "never the depfile itself";
  command_.argv.push_back("-w");
  runner_.script = [this](Play& play) { compile(play); };
  options_.depfile = "x.d";
  (void)run();
  (void)listed("/r/x.d");
  EXPECT_EQ(targets_, Lines{"a.o"}) << "the first output in the working folder";
  options_.outputs = {"../r/a.o"};
  (void)run();
  (void)listed("/r/x.d");
  EXPECT_EQ(targets_, Lines{"../r/a.o"}) << "as the caller spells it";
}

TEST_F(DepfileTest, ADepfileThatCannotBeWrittenIsAnErrorBeforeAnythingRuns) {
  for (const char* path : {"none/a.d", "include", "a.h/a.d"}) {
    options_.depfile = path;
    const auto store = open_store();
    const auto result = try_run(store.get());
    ASSERT_FALSE(result.has_value()) << path;
    EXPECT_EQ(result.error().kind, ErrorKind::invalid) << path;
    EXPECT_FALSE(result.error().hint.empty()) << path;
  }
  EXPECT_EQ(runner_.runs, 0);
}

/// Dependency files that the command itself writes.
class OwnDepfileTest : public DepfileTest {
 protected:
  OwnDepfileTest() {
    options_.depfile.clear();
    command_.argv = {"g++", "-c", "a.cpp", "-o", "a.o", "-MD", "-MF", "a.d"};
    runner_.script = [this](Play& play) { compile_with_depfile(play, "a.o: a.cpp a.h\n"); };
  }
  void compile_with_depfile(Play& play, const std::string& text) {
    compile(play);
    play.write("/r/a.d", text, 0640);
  }
};

TEST_F(OwnDepfileTest, GetsWhatItLeavesOut) {
  ASSERT_EQ(outcome(), "published");
  EXPECT_EQ(listed(), (Lines{"a.cpp", "a.h", "/usr/bin/g++", "include"}));
  EXPECT_EQ(phony_, Lines{});
  EXPECT_EQ(stat_of("/r/a.d").mode, 0640u);
}

TEST_F(OwnDepfileTest, NamesItAlreadyHasAreKnownInAnySpelling) {
  (void)disk_.make_link("/r", "/link");
  runner_.script = [this](Play& play) {
    compile_with_depfile(play, "a.o: /r/a.cpp ./include/../a.h /link/include\n");
  };
  (void)run();
  EXPECT_EQ(listed(), (Lines{"/r/a.cpp", "./include/../a.h", "/link/include", "/usr/bin/g++"}));
}

TEST_F(OwnDepfileTest, ComesBackCompletedForTodaysTree) {
  ASSERT_EQ(outcome(), "published");
  const auto text = disk_.bytes("/r/a.d");
  remove("/r/a.d");
  remove("/r/a.o");
  ASSERT_EQ(outcome(), "replayed");
  EXPECT_EQ(disk_.bytes("/r/a.d"), text);
}

TEST_F(OwnDepfileTest, ComesBackIfNothingWasLeftOut) {
  runner_.script = [this](Play& play) {
    compile_with_depfile(play, "a.o: a.cpp a.h /usr/bin/g++ include\n");
  };
  ASSERT_EQ(outcome(), "published");
  remove("/r/a.d");
  ASSERT_EQ(outcome(), "replayed");
  EXPECT_EQ(disk_.bytes("/r/a.d"), "a.o: a.cpp a.h /usr/bin/g++ include\n");
}

TEST_F(OwnDepfileTest, TheNamedOneOfSeveralIsCompleted) {
  runner_.script = [this](Play& play) {
    compile_with_depfile(play, "a.o: a.cpp a.h\n");
    play.write("/r/b.d", "b.o: b.cpp\n");
  };
  (void)run();
  EXPECT_TRUE(holds(listed(), "include"));
  EXPECT_EQ(disk_.bytes("/r/b.d"), "b.o: b.cpp\n");
}

TEST_F(OwnDepfileTest, MovesWithItsTree) {
  runner_.script = [this](Play& play) { compile_with_depfile(play, "/r/a.o: /r/a.cpp a.h\n"); };
  ASSERT_EQ(outcome(), "published");
  for (const char* name : {"a.cpp", "a.h"})
    disk_.put(std::string("/r2/") + name, disk_.bytes(std::string("/r/") + name));
  (void)disk_.make_folder("/r2/include", 0755);
  clock_.advance_ms(1000);
  command_.cwd = options_.root = "/r2";
  ASSERT_EQ(outcome(), "replayed");
  EXPECT_EQ(listed("/r2/a.d"), (Lines{"/r2/a.cpp", "a.h", "/usr/bin/g++", "include"}));
  EXPECT_EQ(targets_, Lines{"/r2/a.o"});
}

TEST_F(OwnDepfileTest, WithPhonyTargetsGetsMoreOfThem) {
  runner_.script = [this](Play& play) { compile_with_depfile(play, "a.o: a.cpp a.h\n\na.h:\n"); };
  (void)run();
  (void)listed();
  EXPECT_EQ(phony_, (Lines{"a.h", "/usr/bin/g++", "include"}));
}

TEST_F(OwnDepfileTest, AFileOfAnotherKindIsAnOutputLikeAny) {
  runner_.script = [this](Play& play) { compile_with_depfile(play, "not a rule\n"); };
  ASSERT_EQ(outcome(), "published");
  remove("/r/a.d");
  ASSERT_EQ(outcome(), "replayed");
  EXPECT_EQ(disk_.bytes("/r/a.d"), "not a rule\n");
}

TEST_F(OwnDepfileTest, SomebodysFileInItsPlaceIsNotOverwritten) {
  ASSERT_EQ(outcome(), "published");
  edit("/r/a.d", "int main() { return 0; }\n");
  EXPECT_EQ(reasons().front(), "outputs_in_the_way /r/a.d");
  edit("/r/a.d", "a.o: of a tool that transformed it\n");
  EXPECT_EQ(outcome(), "replayed");
}

TEST_F(OwnDepfileTest, TheFilesOfAWholeMakeAreLeftAlone) {
  command_.argv = {"make"};
  options_.cache_any = true;
  disk_.put("/usr/bin/make", "make", 0755);
  clock_.advance_ms(1000);
  runner_.script = [this](Play& play) {
    play.execute("/usr/bin/make");
    compile_with_depfile(play, "a.o: a.cpp a.h\n");
    play.write("/r/b.d", "b.o: b.cpp\n");
    play.write("/r/b.o", "object");
  };
  (void)run();
  EXPECT_EQ(disk_.bytes("/r/a.d"), "a.o: a.cpp a.h\n") << "each speaks of one of its commands";
  EXPECT_EQ(disk_.bytes("/r/b.d"), "b.o: b.cpp\n");
}

TEST_F(OwnDepfileTest, NamedByTheCallerIsTheCommandsOwn) {
  command_.argv = {"python3", "gen.py"};
  options_.outputs = {"a.o"};
  options_.depfile = "a.d";
  (void)run();
  EXPECT_TRUE(holds(listed(), "include"));
  EXPECT_EQ(targets_, Lines{"a.o"});
  EXPECT_EQ(disk_.bytes("/r/a.d").substr(0, 14), "a.o: a.cpp a.h") << "completed, not replaced";
}

/// Response files: Ninja's own vanish with their edge, those that somebody keeps are inputs.
class ResponseFileTest : public DepfileTest {
 protected:
  ResponseFileTest() {
    command_.argv = {"g++", "@a.rsp"};
    options_.build_folder = "/r";
    disk_.put("/r/a.rsp", "-c a.cpp -o a.o");
    disk_.put("/r/build.ninja", "rule cc\n  rspfile = $out.rsp\nbuild a.o: cc a.cpp\n");
    runner_.script = [this](Play& play) {
      compile(play);
      (void)play.read("/r/a.rsp");
    };
    clock_.advance_ms(1000);
  }
};

TEST_F(ResponseFileTest, OfNinjaIsNoInput) {
  options_.ninja_start_ns = clock_.now_ns();
  edit("/r/a.rsp", "-c a.cpp -o a.o");
  (void)run();
  EXPECT_FALSE(holds(listed(), "a.rsp"));
  EXPECT_EQ(targets_, Lines{"a.o"}) << "its words are read";
}

TEST_F(ResponseFileTest, ThatSomebodyKeepsIsAnInput) {
  options_.ninja_start_ns = clock_.now_ns();
  (void)run();
  EXPECT_TRUE(holds(listed(), "a.rsp")) << "older than this Ninja";
}

TEST_F(ResponseFileTest, WithoutNinjaIsAnInput) {
  (void)run();
  EXPECT_TRUE(holds(listed(), "a.rsp"));
}

TEST_F(ResponseFileTest, OfABuildThatHasNoneIsAnInput) {
  edit("/r/build.ninja", "rule cc\n  command = cc\n");
  options_.ninja_start_ns = clock_.now_ns();
  edit("/r/a.rsp", "-c a.cpp -o a.o");
  (void)run();
  EXPECT_TRUE(holds(listed(), "a.rsp"));
}

}  // namespace
}  // namespace hallmark::engine
