// Whether a result is shared between two checkouts, or two names of one, depends on what it shows of them.
#include <gtest/gtest.h>

#include "unit/engine/engine_world.h"

namespace hallmark::engine {
namespace {

using test::Lines;
using test::Play;

class SharedRootsTest : public test::EngineTest {};

TEST_F(SharedRootsTest, ACheckoutReachedThroughALinkShowsTheLink) {
  (void)disk_.make_link("/r", "/link");
  runner_.script = [this](Play& play) {
    compile(play);
    play.say("compiled in " + command_.environment.at("PWD"));
  };
  command_.environment["PWD"] = "/r";
  ASSERT_EQ(outcome(), "published");
  command_.environment["PWD"] = "/link";
  EXPECT_EQ(reasons(), (Lines{"variable_changed PWD", "published"}));
  EXPECT_EQ(outcome(), "replayed");
  EXPECT_EQ(streams_.out, "compiled in /link");
  command_.environment["PWD"] = "/r";
  EXPECT_EQ(outcome(), "replayed");
  EXPECT_EQ(streams_.out, "compiled in /r");
}

TEST_F(SharedRootsTest, ARootThatToolsEscapeIsNotShared) {
  for (const char* root : {"/co 1", "/co 2"}) {
    (void)disk_.make_folder(root, 0755);
    command_.cwd = options_.root = root;
    runner_.script = [&](Play& play) {
      play.execute("/usr/bin/g++");
      play.say("a.o: /co\\ " + std::string(1, options_.root.back()) + "/a.cpp\n");
    };
    EXPECT_EQ(outcome(), "published") << root;
  }
  EXPECT_EQ(outcome(), "replayed");
  EXPECT_EQ(streams_.out, "a.o: /co\\ 2/a.cpp\n");
}

TEST_F(SharedRootsTest, ThePrintedNameOfARootIsNotShared) {
  command_.argv = {"sh", "-c", "echo ${PWD##*/}"};
  options_.cache_any = true;
  for (const char* root : {"/first", "/second"}) {
    (void)disk_.make_folder(root, 0755);
    command_.cwd = options_.root = root;
    runner_.script = [&](Play& play) { play.say(options_.root.substr(1)); };
    EXPECT_EQ(outcome(), "published") << root;
  }
  runner_.script = [](Play& play) { play.say("same"); };
  command_.argv.back() = "echo same";
  EXPECT_EQ(outcome(), "published");
  command_.cwd = options_.root = "/first";
  EXPECT_EQ(outcome(), "replayed") << "it does not show the name";
}

}  // namespace
}  // namespace hallmark::engine
