// A Finisher: its touch is on the disk, in the record, and comes back with a replay.
#include <gtest/gtest.h>

#include "support/fault_file_system.h"
#include "unit/engine/engine_world.h"

namespace hallmark::engine {
namespace {

using test::Lines;
using test::lines_of;
using test::Play;

/// Appends the run's key to objects.
class Stamper final : public Finisher {
 public:
  std::string_view name() const override { return "--stamp=1"; }
  Result<std::optional<std::string>> finish(std::string_view output, const digest::Key& strong,
                                            const model::Derivation& derivation) override {
    EXPECT_EQ(model::strong_key(derivation.weak_key, derivation.paths, derivation.answers), strong);
    if (fails) return fail(Error{ErrorKind::corrupt, "it cannot be stamped", {}});
    if (!output.starts_with("object")) return std::nullopt;
    return std::string(output) + " by " + strong.hex();
  }
  std::string_view companion_suffix() const override { return ".json"; }
  bool fails = false;
};

class FinishTest : public test::EngineTest {
 protected:
  FinishTest() {
    options_.finisher = &stamper_;
    runner_.script = [this](Play& play) {
      compile(play);
      play.write("/r/list.txt", "a list", 0600);
    };
  }
  Stamper stamper_;
};

TEST_F(FinishTest, WhatIsRecordedIsWhatStandsThere) {
  const auto first = run();
  ASSERT_EQ(first.outcome, Outcome::published);
  EXPECT_EQ(first.files, (Lines{"/r/a.o", "/r/list.txt"}));
  const auto stamped = disk_.bytes("/r/a.o");
  EXPECT_TRUE(stamped.ends_with(" by " + first.strong_key->hex())) << stamped;
  EXPECT_EQ(disk_.bytes("/r/list.txt"), "a list");
  EXPECT_EQ(stat_of("/r/list.txt").mode, 0600u);
  EXPECT_TRUE(defects().empty());
  remove("/r/a.o");
  const auto second = run();
  EXPECT_EQ(second.outcome, Outcome::replayed);
  EXPECT_EQ(second.files, first.files);
  EXPECT_EQ(disk_.bytes("/r/a.o"), stamped);
  EXPECT_EQ(outcome(), "replayed") << "over its own output, too";
}

TEST_F(FinishTest, ItIsAnotherCommandThanWithoutIt) {
  ASSERT_EQ(outcome(), "published");
  options_.finisher = nullptr;
  EXPECT_EQ(reasons(), (Lines{"argument_changed --stamp", "published"}));
  EXPECT_EQ(disk_.bytes("/r/a.o"), "object of #include \"a.h\"\nint a;\n");
  options_.finisher = &stamper_;
  EXPECT_EQ(outcome(), "replayed");
  EXPECT_NE(disk_.bytes("/r/a.o"), "object of #include \"a.h\"\nint a;\n");
}

TEST_F(FinishTest, AModeStaysAndNothingIsLeftBeside) {
  runner_.script = [this](Play& play) {
    compile(play);
    play.write("/r/out", "object that is a program", 0751);
  };
  const auto before = disk_.list("/r").value().size();
  ASSERT_EQ(outcome(), "published");
  EXPECT_EQ(stat_of("/r/out").mode, 0751u);
  EXPECT_EQ(disk_.list("/r").value().size(), before + 2);
}

TEST_F(FinishTest, WhatCannotBeFinishedIsDeliveredAndNotRecorded) {
  stamper_.fails = true;
  const auto result = run();
  EXPECT_EQ(result.outcome, Outcome::unproven);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_TRUE(result.files.empty());
  ASSERT_EQ(result.warnings.size(), 1u);
  EXPECT_NE(result.warnings[0].find("it cannot be stamped"), std::string::npos);
  EXPECT_EQ(disk_.bytes("/r/a.o"), "object of #include \"a.h\"\nint a;\n");
}

TEST_F(FinishTest, AnUnprovenRunIsNotFinished) {
  runner_.script = [this](Play& play) {
    compile(play);
    play.observation.doubts.push_back({model::ReasonCode::network_used, "somewhere", {}, {}});
  };
  EXPECT_EQ(outcome(), "unproven");
  EXPECT_EQ(disk_.bytes("/r/a.o"), "object of #include \"a.h\"\nint a;\n");
}

TEST_F(FinishTest, ACompanionOfAnOutputIsInNobodysWay) {
  runner_.script = [this](Play& play) {
    compile(play);
    play.make_searched_folder("/r/out");
    play.write("/r/out/b.o", "object");
  };
  ASSERT_EQ(outcome(), "published");
  disk_.put("/r/out/b.o.json", "companion");
  EXPECT_EQ(outcome(), "replayed");
  disk_.put("/r/out/c.o.json", "of something else");
  EXPECT_NE(outcome(), "replayed") << "the command would find it";
}

TEST_F(FinishTest, ACommandMayRemoveTheCompanionsOfItsOutputs) {
  std::string removed = "/r/a.o.json";
  runner_.script = [&](Play& play) {
    compile(play);
    play.observation.removals.push_back({removed, {}});
  };
  EXPECT_EQ(outcome(), "published");
  removed = "/r/b.o.json";
  edit("/r/a.h", "int b;\n");
  EXPECT_EQ(outcome(), "unproven");
}

TEST_F(FinishTest, RestatKeepsTheTimeOfWhatIsStampedTheSame) {
  options_.restat = true;
  ASSERT_EQ(outcome(), "published");
  const auto before = stat_of("/r/a.o").mtime_ns;
  ASSERT_EQ(outcome(), "replayed");
  EXPECT_EQ(stat_of("/r/a.o").mtime_ns, before);
}

/// Killed at each step in turn: what stands there is whole, either way, and a later run is not misled.
TEST_F(FinishTest, KilledAtAnyStepItLeavesAWholeFile) {
  const std::string plain = "object of #include \"a.h\"\nint a;\n";
  test::FaultFileSystem faults(disk_);
  std::uint64_t stamped = 0;
  for (std::uint64_t step = 1;; ++step) {
    files_ = &faults;
    const auto store = store::LocalStore::open(faults, clock_, "/store" + std::to_string(step)).value();
    faults.heal();
    faults.stop_at(step);
    static_cast<void>(try_run(store.get()));
    const bool stopped = faults.stopped();
    faults.heal();
    files_ = &disk_;
    const auto bytes = disk_.bytes("/r/a.o");
    EXPECT_TRUE(bytes == plain || (bytes.starts_with(plain + " by ") && bytes.size() == plain.size() + 68))
        << step << ": " << bytes;
    if (bytes != plain) ++stamped;
    const auto again = store::LocalStore::open(disk_, clock_, "/store" + std::to_string(step)).value();
    const auto result = try_run(again.get());
    ASSERT_TRUE(result.has_value());
    EXPECT_NE(result->outcome, Outcome::unproven) << step;
    EXPECT_NE(disk_.bytes("/r/a.o"), plain) << step;
    if (!stopped) break;
  }
  EXPECT_GT(stamped, 1u) << "it was killed behind the stamping, too";
}

}  // namespace
}  // namespace hallmark::engine
