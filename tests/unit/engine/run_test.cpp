// The life of one command: executed and recorded, then replayed; and what keeps it from either.
#include <gtest/gtest.h>

#include "base/limits.h"
#include "support/fault_file_system.h"
#include "support/forwarding_file_system.h"
#include "unit/engine/engine_world.h"

namespace hallmark::engine {
namespace {

using model::ReasonCode;
using test::Lines;
using test::lines_of;
using test::Play;

class RunTest : public test::EngineTest {};

TEST_F(RunTest, TheFirstRunExecutesAndRecords) {
  const auto result = run();
  EXPECT_EQ(result.outcome, Outcome::published);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(lines_of(result.reasons), (Lines{"first_run", "published"}));
  EXPECT_EQ(result.outputs, 1u);
  EXPECT_GE(result.inputs, 5u);
  EXPECT_EQ(result.tier, model::Tier::hybrid);
  EXPECT_TRUE(result.strong_key.has_value());
  EXPECT_TRUE(result.warnings.empty());
  EXPECT_EQ(runner_.runs, 1);
}

TEST_F(RunTest, TheSecondRunReplaysAndExecutesNothing) {
  const auto first = run();
  remove("/r/a.o");
  const auto second = run();
  EXPECT_EQ(second.outcome, Outcome::replayed);
  EXPECT_EQ(lines_of(second.reasons), Lines{"replayed"});
  EXPECT_EQ(runner_.runs, 1);
  EXPECT_EQ(disk_.bytes("/r/a.o"), "object of #include \"a.h\"\nint a;\n");
  EXPECT_EQ(second.weak_key, first.weak_key);
  EXPECT_EQ(second.strong_key, first.strong_key);
  EXPECT_EQ(open_store()->counters().value().replayed, 1u);
  EXPECT_EQ(open_store()->counters().value().executed, 1u);
  EXPECT_TRUE(defects().empty());
}

TEST_F(RunTest, ModesLinksAndFoldersComeBack) {
  runner_.script = [this](Play& play) {
    compile(play);
    play.make_folder("/r/out", 0750);
    play.make_folder("/r/out/empty", 0700);
    play.write("/r/out/tool", "#!/bin/sh\n", 0755);
    play.write("/r/out/none", "");
    play.make_link("tool", "/r/out/link");
    play.make_link("/r/a.h", "/r/out/absolute");
  };
  ASSERT_EQ(outcome(), "published");
  for (const char* file : {"tool", "none", "link", "absolute"}) remove(std::string("/r/out/") + file);
  (void)disk_.remove_folder("/r/out/empty");
  (void)disk_.remove_folder("/r/out");
  ASSERT_EQ(outcome(), "replayed");
  EXPECT_EQ(stat_of("/r/out").mode, 0750u);
  EXPECT_EQ(stat_of("/r/out/empty").mode, 0700u);
  EXPECT_EQ(stat_of("/r/out/empty").kind, NodeKind::directory);
  EXPECT_EQ(disk_.bytes("/r/out/tool"), "#!/bin/sh\n");
  EXPECT_EQ(stat_of("/r/out/tool").mode, 0755u);
  EXPECT_EQ(disk_.bytes("/r/out/none"), "");
  EXPECT_EQ(disk_.read_link("/r/out/link").value(), "tool");
  EXPECT_EQ(disk_.read_link("/r/out/absolute").value(), "/r/a.h");
  EXPECT_EQ(disk_.list("/r/out").value().size(), 5u) << "no temporaries are left";
}

TEST_F(RunTest, AFailedCommandIsNotRecorded) {
  runner_.script = [this](Play& play) {
    compile(play);
    play.exit(2);
  };
  for (int i = 0; i < 2; ++i) {
    const auto result = run();
    EXPECT_EQ(result.outcome, Outcome::failed);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(lines_of(result.reasons), (Lines{"first_run", "command_failed"}));
  }
  EXPECT_EQ(runner_.runs, 2);
  EXPECT_EQ(open_store()->counters().value().failed, 2u);
}

TEST_F(RunTest, ASignalIsGivenAsAShellGivesIt) {
  runner_.script = [](Play& play) { play.observation.wait_status = 11; };
  EXPECT_EQ(run().exit_code, 139);
}

TEST_F(RunTest, ACommandThatCannotBeStartedIsAnError) {
  runner_.cannot_start = Error{ErrorKind::not_found, "start g++: No such file or directory", {}};
  const auto store = open_store();
  const auto result = try_run(store.get());
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().kind, ErrorKind::not_found);
}

TEST_F(RunTest, ADoubtIsDeliveredAndNotRecorded) {
  runner_.script = [this](Play& play) {
    compile(play);
    play.observation.doubts.push_back({ReasonCode::network_used, "10.0.0.1:80", {}, {}});
  };
  for (int i = 0; i < 2; ++i) {
    const auto result = run();
    EXPECT_EQ(result.outcome, Outcome::unproven);
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(lines_of(result.reasons), (Lines{"first_run", "network_used 10.0.0.1:80"}));
  }
  EXPECT_TRUE(exists("/r/a.o"));
  EXPECT_EQ(open_store()->usage().value().records, 0u);
  EXPECT_EQ(open_store()->counters().value().unproven, 2u);
}

TEST_F(RunTest, ALesserTierIsToldAndPublished) {
  runner_.script = [this](Play& play) {
    compile(play);
    play.observation.tier = model::Tier::ptrace;
    play.observation.notes.push_back({ReasonCode::tier_degraded, "notify", "no seccomp", {}});
  };
  const auto result = run();
  EXPECT_EQ(result.outcome, Outcome::published);
  EXPECT_EQ(lines_of(result.reasons), (Lines{"first_run", "published", "tier_degraded notify"}));
}

TEST_F(RunTest, WhatWasNotObservedIsNotRecorded) {
  runner_.script = [this](Play& play) {
    compile(play);
    play.observation.tier = model::Tier::none;
  };
  EXPECT_EQ(lines_of(run().reasons), (Lines{"first_run", "not_observed"}));
}

TEST_F(RunTest, WritesElsewhereAreUnprovenUnlessNamed) {
  (void)disk_.make_folder("/opt", 0755);
  runner_.script = [this](Play& play) {
    compile(play);
    play.write("/opt/copy.o", "object");
  };
  EXPECT_EQ(lines_of(run().reasons), (Lines{"first_run", "write_elsewhere /opt/copy.o"}));
  options_.outputs = {"../opt/copy.o"};
  EXPECT_EQ(outcome(), "published");
  remove("/opt/copy.o");
  EXPECT_EQ(outcome(), "replayed");
  EXPECT_EQ(disk_.bytes("/opt/copy.o"), "object");
}

TEST_F(RunTest, ANamedOutputBehindALinkIsTheOneBehindIt) {
  (void)disk_.make_folder("/opt", 0755);
  (void)disk_.make_link("/opt", "/link");
  options_.outputs = {"/link/copy.o"};
  runner_.script = [this](Play& play) {
    compile(play);
    play.write("/opt/copy.o", "object");
  };
  EXPECT_EQ(outcome(), "published");
}

TEST_F(RunTest, OnlyAKnownToolsOutputArgumentsAreAllowedElsewhere) {
  (void)disk_.make_folder("/opt", 0755);
  runner_.script = [](Play& play) { play.write("/opt/a.o", "object"); };
  command_.argv = {"g++", "-c", "a.cpp", "-o", "/opt/a.o", "-MD", "-MF", "/opt/a.d"};
  EXPECT_EQ(outcome(), "published");
  command_.argv = {"sort", "-o", "/opt/a.o"};
  options_.cache_any = true;
  EXPECT_EQ(outcome(), "unproven");
}

TEST_F(RunTest, ProgramsOfUnknownKindAreReplayedOnlyWhenAskedFor) {
  runner_.script = [](Play& play) { play.write("/r/gen.h", "generated"); };
  command_.argv = {"python3", "gen.py"};
  const auto result = run();
  EXPECT_EQ(result.outcome, Outcome::uncacheable);
  EXPECT_EQ(lines_of(result.reasons), Lines{"not_cacheable_kind python3"});
  EXPECT_EQ(outcome(), "uncacheable");
  options_.cache_any = true;
  EXPECT_EQ(outcome(), "published");
  EXPECT_EQ(outcome(), "replayed");
  options_.cache_any = false;
  options_.in_build_edge = true;
  EXPECT_EQ(outcome(), "replayed") << "the same command below a build tool";
  options_.in_build_edge = false;
  options_.outputs = {"gen.h"};
  EXPECT_EQ(outcome(), "replayed");
}

TEST_F(RunTest, PeersInFrontOfTheCompilerAreNotLookedUp) {
  command_.argv = {"sccache", "g++", "-c", "a.cpp"};
  EXPECT_EQ(lines_of(run().reasons), Lines{"foreign_cache sccache"});
}

TEST_F(RunTest, ACcacheLinkOnPathIsBypassedAndSaidOnce) {
  disk_.put("/opt/ccache", "ccache", 0755);
  disk_.put("/usr/lib/ccache/none", "");
  (void)disk_.make_link("/opt/ccache", "/usr/lib/ccache/g++");
  command_.environment["PATH"] = "/usr/lib/ccache:/usr/bin";
  const auto first = run();
  EXPECT_EQ(runner_.last.command.environment.at("CCACHE_DISABLE"), "1");
  EXPECT_EQ(lines_of(first.reasons), (Lines{"ccache_bypassed", "first_run", "published"}));
  EXPECT_EQ(first.warnings.size(), 1u);
  command_.argv[1] = "-S";
  EXPECT_TRUE(run().warnings.empty()) << "once for each root";
}

TEST_F(RunTest, WithoutAStoreTheCommandRuns) {
  with_store_ = false;
  const auto result = run();
  EXPECT_EQ(result.outcome, Outcome::uncacheable);
  EXPECT_EQ(lines_of(result.reasons), Lines{"store_unusable"});
  EXPECT_TRUE(exists("/r/a.o"));
  EXPECT_EQ(outcome(), "uncacheable");
  EXPECT_EQ(runner_.runs, 2);
}

TEST_F(RunTest, AReadOnlyStoreReplaysAndDoesNotRecord) {
  ASSERT_EQ(outcome(), "published");
  const auto run_read_only = [&] {
    clock_.advance_ms(1000);
    disk_.set_read_only(true);
    const auto store = open_store();
    disk_.set_read_only(false);
    EXPECT_TRUE(store->read_only());
    return try_run(store.get()).value();
  };
  remove("/r/a.o");
  const auto before = disk_.files_below("/store");
  EXPECT_EQ(run_read_only().outcome, Outcome::replayed);
  EXPECT_TRUE(exists("/r/a.o"));
  edit("/r/a.h", "int b;\n");
  const auto result = run_read_only();
  EXPECT_EQ(result.outcome, Outcome::unproven);
  EXPECT_EQ(lines_of(result.reasons), (Lines{"content_changed /r/a.h", "store_unusable"}));
  EXPECT_EQ(result.warnings.size(), 1u);
  EXPECT_EQ(disk_.bytes("/r/a.o"), "object of #include \"a.h\"\nint b;\n");
  EXPECT_EQ(disk_.files_below("/store"), before);
  EXPECT_EQ(runner_.last.hints_file, "") << "nor may the observer write there";
}

TEST_F(RunTest, TheStoreIsInvisibleToTheObserver) {
  (void)run();
  EXPECT_EQ(runner_.last.invisible, Lines{"/store"});
  EXPECT_EQ(runner_.last.hints_file, "/store/hints");
  EXPECT_EQ(streams_.fed_back, 1);
}

TEST_F(RunTest, AnotherResultOfTheSameInputsIsNotedAndTheFirstStays) {
  ASSERT_EQ(outcome(), "published");
  const auto first = disk_.bytes("/r/a.o");
  runner_.script = [this](Play& play) {
    compile(play);
    play.write("/r/a.o", "object with a time stamp");
    play.say("1.3 s\n");
  };
  edit("/r/a.o", "somebody's own");  // so that it runs again
  const auto second = run();
  EXPECT_EQ(second.outcome, Outcome::published);
  EXPECT_EQ(lines_of(second.reasons), (Lines{"outputs_in_the_way /r/a.o", "published",
                                             "nondeterministic /r/a.o", "nondeterministic stdout"}));
  const auto record = open_store()->record(*second.strong_key).value();
  ASSERT_TRUE(record);
  EXPECT_EQ(lines_of(record->notes), (Lines{"nondeterministic \x01R\x02/a.o", "nondeterministic stdout"}));
  remove("/r/a.o");
  EXPECT_EQ(outcome(), "replayed");
  EXPECT_EQ(disk_.bytes("/r/a.o"), first);
}

TEST_F(RunTest, ProcessNumbersInNvccsNamesAreNoDifference) {
  int process = 0xa5d3;
  runner_.script = [&](Play& play) {
    compile(play);
    char name[64];
    std::snprintf(name, sizeof name, "tmpxft_%08x_00000000-6_k", process++);
    play.write("/r/a.o", std::string("symbol ") + name + " end");
  };
  ASSERT_EQ(outcome(), "published");
  edit("/r/a.o", "somebody's own");
  EXPECT_EQ(reasons(), (Lines{"outputs_in_the_way /r/a.o", "published"}));
}

TEST_F(RunTest, ALostBlobIsMadeAgain) {
  ASSERT_EQ(outcome(), "published");
  for (const auto& blob : disk_.files_below("/store/blobs")) (void)disk_.remove(blob);
  remove("/r/a.o");
  const auto result = run();
  EXPECT_EQ(result.outcome, Outcome::published);
  EXPECT_EQ(lines_of(result.reasons), (Lines{"record_unreadable /r/a.o", "published"}));
  EXPECT_TRUE(exists("/r/a.o"));
  remove("/r/a.o");
  EXPECT_EQ(outcome(), "replayed");
  EXPECT_TRUE(defects().empty());
}

TEST_F(RunTest, ALostResultIsReplacedByAnother) {
  ASSERT_EQ(outcome(), "published");
  for (const auto& blob : disk_.files_below("/store/blobs")) (void)disk_.remove(blob);
  remove("/r/a.o");
  runner_.script = [this](Play& play) {
    compile(play);
    play.write("/r/a.o", "another object");
  };
  EXPECT_EQ(reasons(), (Lines{"record_unreadable /r/a.o", "published"})) << "nothing is left to compare with";
  remove("/r/a.o");
  ASSERT_EQ(outcome(), "replayed");
  EXPECT_EQ(disk_.bytes("/r/a.o"), "another object");
}

TEST_F(RunTest, ADamagedBlobIsMadeAgainAndNeverDelivered) {
  ASSERT_EQ(outcome(), "published");
  for (const auto& blob : disk_.files_below("/store/blobs")) disk_.damage(blob, "torn");
  remove("/r/a.o");
  EXPECT_EQ(outcome(), "published");
  EXPECT_EQ(disk_.bytes("/r/a.o"), "object of #include \"a.h\"\nint a;\n");
  remove("/r/a.o");
  EXPECT_EQ(outcome(), "replayed");
}

TEST_F(RunTest, ALostStreamIsMadeAgain) {
  runner_.script = [this](Play& play) {
    compile(play);
    play.say("note\n");
  };
  ASSERT_EQ(outcome(), "published");
  const auto hex = digest::digest_of("note\n").hex();
  (void)disk_.remove("/store/blobs/" + hex.substr(0, 2) + "/" + hex);
  EXPECT_EQ(reasons(), (Lines{"record_unreadable stdout", "published"}));
  EXPECT_EQ(outcome(), "replayed");
  EXPECT_EQ(streams_.out, "note\n");
}

TEST_F(RunTest, DamagedRecordsAreSaidAndMadeAgain) {
  for (const char* area : {"/store/records", "/store/weak"}) {
    ASSERT_TRUE(run().exit_code == 0);
    for (const auto& file : disk_.files_below(area)) disk_.damage(file, "torn");
    const auto result = run();
    EXPECT_EQ(result.outcome, Outcome::published) << area;
    EXPECT_EQ(lines_of(result.reasons).front(), "record_unreadable") << area;
    EXPECT_EQ(outcome(), "replayed") << area;
  }
}

TEST_F(RunTest, AWeakKeyKeepsItsTwentyLatestPathSets) {
  const int most = static_cast<int>(limits::kPathSetsPerWeakKey);
  int version = 0;
  runner_.script = [&](Play& play) {
    compile(play);
    (void)play.read("/r/include/v" + std::to_string(version) + ".h");
  };
  for (version = 0; version < most + 5; ++version) {
    disk_.put("/r/include/v" + std::to_string(version) + ".h", "");
    edit("/r/a.h", std::to_string(version));
    ASSERT_EQ(outcome(), "published");
  }
  const auto entry = open_store()->weak_entry(run().weak_key).value();
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->sets.size(), limits::kPathSetsPerWeakKey);
  edit("/r/a.h", "5");
  EXPECT_EQ(outcome(), "replayed") << "the oldest that is kept";
  version = 4;
  edit("/r/a.h", "4");
  EXPECT_EQ(outcome(), "published") << "this one was dropped";
}

TEST_F(RunTest, AnEarlierStateIsReplayed) {
  ASSERT_EQ(outcome(), "published");
  edit("/r/a.h", "int b;\n");
  ASSERT_EQ(outcome(), "published");
  EXPECT_EQ(open_store()->weak_entry(run().weak_key).value()->sets.size(), 1u)
      << "the questions are the same";
  edit("/r/a.h", "int a;\n");
  ASSERT_EQ(outcome(), "replayed");
  EXPECT_EQ(disk_.bytes("/r/a.o"), "object of #include \"a.h\"\nint a;\n");
}

TEST_F(RunTest, StdinIsPartOfTheKeyIfItWasUsed) {
  command_.in = model::StreamKind::pipe;
  streams_.in = "words";
  runner_.script = [this](Play& play) {
    compile(play);
    play.observation.stdin_used = true;
    play.observation.stdin_digest = digest::digest_of(*streams_.in);
  };
  ASSERT_EQ(outcome(), "published");
  ASSERT_EQ(outcome(), "replayed");
  EXPECT_EQ(streams_.skipped, 1) << "a file on stdin then stands at its end";
  streams_.in = "other words";
  EXPECT_EQ(reasons(), (Lines{"stdin_changed", "published"}));
  streams_.in.reset();
  runner_.script = [this](Play& play) {
    compile(play);
    play.observation.stdin_used = true;
  };
  EXPECT_EQ(lines_of(run().reasons), (Lines{"stdin_changed", "stdin_unbounded stdin"}));
}

TEST_F(RunTest, StdinThatNobodyReadsIsNotTouched) {
  command_.in = model::StreamKind::pipe;
  ASSERT_EQ(outcome(), "published");
  ASSERT_EQ(outcome(), "replayed");
  EXPECT_EQ(streams_.hashed, 0);
  EXPECT_EQ(streams_.skipped, 0);
}

TEST_F(RunTest, InheritedDescriptorsMeanNothingToACompiler) {
  runner_.script = [this](Play& play) {
    compile(play);
    play.observation.doubts.push_back({ReasonCode::inherited_descriptor, "5 pipe", {}, {}});
  };
  EXPECT_EQ(outcome(), "published");
  command_.argv.push_back("/dev/fd/5");
  EXPECT_EQ(outcome(), "unproven");
  command_.argv = {"python3", "gen.py"};
  options_.cache_any = true;
  EXPECT_EQ(outcome(), "unproven");
}

/// A peer that holds the lock when this run comes to it, and lets go once it waits.
class PeerAtWork final : public test::ForwardingFileSystem {
 public:
  using ForwardingFileSystem::ForwardingFileSystem;
  Result<std::unique_ptr<os::FileLock>> lock(const std::string& path, os::LockMode mode,
                                             os::LockWait wait) override {
    if (path.starts_with("/store/locks/") && wait == os::LockWait::no && before_lock)
      std::exchange(before_lock, nullptr)(path);
    if (wait == os::LockWait::yes) held.reset();
    return ForwardingFileSystem::lock(path, mode, wait);
  }
  std::function<void(const std::string&)> before_lock;
  std::unique_ptr<os::FileLock> held;
};

TEST_F(RunTest, AnEqualCommandIsWaitedForAndItsResultReplayed) {
  PeerAtWork shared(disk_);
  shared.before_lock = [&](const std::string& path) {
    files_ = &disk_;
    EXPECT_EQ(outcome(), "published");
    files_ = &shared;
    shared.held = disk_.lock(path, os::LockMode::exclusive, os::LockWait::no).value();
  };
  files_ = &shared;
  const auto result = run();
  EXPECT_EQ(result.outcome, Outcome::replayed);
  EXPECT_EQ(lines_of(result.reasons), (Lines{"replayed", "waited 4711"}));
  EXPECT_EQ(runner_.runs, 1);
}

TEST_F(RunTest, WaitingForgetsOnlyWhatTheLookUpSaid) {
  command_.argv[0] = "ccache";
  disk_.put("/usr/bin/ccache", "ccache", 0755);
  PeerAtWork shared(disk_);
  shared.before_lock = [&](const std::string& path) {
    shared.held = disk_.lock(path, os::LockMode::exclusive, os::LockWait::no).value();
  };
  files_ = &shared;
  EXPECT_EQ(reasons(), (Lines{"ccache_bypassed", "waited 4711", "first_run", "published"}));
}

TEST_F(RunTest, AfterAnEqualCommandThatMadeNothingTheCommandRuns) {
  PeerAtWork shared(disk_);
  shared.before_lock = [&](const std::string& path) {
    shared.held = disk_.lock(path, os::LockMode::exclusive, os::LockWait::no).value();
  };
  files_ = &shared;
  const auto result = run();
  EXPECT_EQ(result.outcome, Outcome::published);
  EXPECT_EQ(lines_of(result.reasons), (Lines{"waited 4711", "first_run", "published"}));
  EXPECT_TRUE(disk_.files_below("/store/locks").empty()) << "the lock is let go";
}

TEST_F(RunTest, TheLastMissIsKept) {
  ASSERT_EQ(outcome(), "published");
  edit("/r/a.h", "int b;\n");
  ASSERT_EQ(outcome(), "published");
  const auto miss = open_store()->last_miss("/r").value();
  ASSERT_TRUE(miss);
  EXPECT_EQ(miss->command, "g++ -c a.cpp -o a.o");
  EXPECT_EQ(lines_of(miss->reasons), (Lines{"content_changed /r/a.h", "published"}));
}

}  // namespace
}  // namespace hallmark::engine
