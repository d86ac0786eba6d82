// What a command says reaches the caller whole, or the run fails.
#include <gtest/gtest.h>

#include "unit/engine/engine_world.h"

namespace hallmark::engine {
namespace {

using test::Play;

class DeliveryTest : public test::EngineTest {};

TEST_F(DeliveryTest, BothStreamsAreSaidAgain) {
  runner_.script = [this](Play& play) {
    compile(play);
    play.say("note\n");
    play.complain("warning: \xff\n");
  };
  ASSERT_EQ(outcome(), "published");
  EXPECT_EQ(streams_.out, "") << "the command itself wrote to the terminal";
  ASSERT_EQ(outcome(), "replayed");
  EXPECT_EQ(streams_.out, "note\n");
  EXPECT_EQ(streams_.err, "warning: \xff\n");
}

TEST_F(DeliveryTest, AReplayThatCannotBeSaidFailsAndDoesNotExecute) {
  runner_.script = [this](Play& play) {
    compile(play);
    play.say("note\n");
  };
  ASSERT_EQ(outcome(), "published");
  const auto store = open_store();
  const int runs = runner_.runs;
  streams_.broken = true;
  EXPECT_FALSE(try_run(store.get()).has_value());
  EXPECT_EQ(runner_.runs, runs) << "the command would meet the same";
  streams_.broken = false;
  EXPECT_EQ(outcome(), "replayed");
}

TEST_F(DeliveryTest, WhatWasNotDeliveredIsNotPublished) {
  bool full = true;
  runner_.script = [&](Play& play) {
    compile(play);
    if (full) play.lose_output();
  };
  {
    const auto store = open_store();
    const auto result = try_run(store.get());
    ASSERT_FALSE(result.has_value());
    EXPECT_NE(result.error().what.find("stdout"), std::string::npos);
  }
  full = false;
  EXPECT_EQ(outcome(), "published");
}

}  // namespace
}  // namespace hallmark::engine
