// Many processes, one store, a real disk: publishing, replaying, verifying, being killed.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <random>
#include <vector>

#include "support/temp_folder.h"
#include "unit/store/sample.h"

namespace hallmark::store {
namespace {

using test::key_of;
using test::Sample;

class ConcurrencyTest : public ::testing::Test {
 protected:
  std::unique_ptr<LocalStore> open() {
    auto store = LocalStore::open(os::linux_file_system(), os::system_clock(), folder_.at("store"));
    EXPECT_TRUE(store.has_value()) << (store.has_value() ? "" : store.error().message());
    return store.has_value() ? std::move(*store) : nullptr;
  }

  /// Runs `work` in a process of its own; it says by its exit status whether any expectation failed.
  static pid_t start(const std::function<void()>& work) {
    const pid_t child = ::fork();
    if (child != 0) return child;
    work();
    std::fflush(nullptr);
    ::_exit(::testing::Test::HasFailure() ? 1 : 0);
  }
  static void expect_success(pid_t child) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }

  std::string make_folder(const std::string& name) {
    EXPECT_TRUE(os::make_folders(os::linux_file_system(), folder_.at(name)).has_value());
    return folder_.at(name);
  }

  /// What a run does: look up, and if that is a miss, publish.
  bool run(const Sample& sample, const std::string& own_folder) {
    const auto store = open();
    if (sample.replay(*store, os::linux_file_system(), own_folder)) return true;
    EXPECT_TRUE(sample.publish(*store, os::linux_file_system(), own_folder + "/large").has_value());
    return false;
  }

  void expect_no_defects(bool repair) {
    const auto defects = open()->verify(repair, nullptr);
    ASSERT_TRUE(defects.has_value()) << defects.error().what;
    for (const StoreDefect& defect : *defects) ADD_FAILURE() << defect.path << ": " << defect.what;
  }

  const test::TempFolder folder_;
};

TEST_F(ConcurrencyTest, WritersReadersAndAVerifierDoNotDisturbEachOther) {
  constexpr int kProcesses = 6;
  constexpr int kRounds = 25;
  std::vector<pid_t> children;
  for (int process = 0; process < kProcesses; ++process) {
    const std::string own = make_folder("p" + std::to_string(process));
    children.push_back(start([&, own] {
      std::mt19937 random(static_cast<unsigned>(process));
      for (int round = 0; round < kRounds; ++round) {
        const Sample sample("action " + std::to_string(random() % 10));
        (void)run(sample, own);
        EXPECT_TRUE(sample.replay(*open(), os::linux_file_system(), own)) << "published, so it must be there";
      }
    }));
  }
  children.push_back(start([&] {
    for (int round = 0; round < 10; ++round) {
      expect_no_defects(true);
    }
  }));
  for (const pid_t child : children) expect_success(child);
  EXPECT_TRUE(open()->verify(false, nullptr).value().empty());
  EXPECT_TRUE(os::linux_file_system().list(folder_.at("store/locks")).value().empty());
}

TEST_F(ConcurrencyTest, ManyProcessesMakeOneStoreTogether) {
  std::vector<pid_t> children;
  for (int process = 0; process < 16; ++process) {
    children.push_back(start([&] {
      const auto store = open();
      ASSERT_NE(store, nullptr);
      EXPECT_TRUE(store->put("the same").has_value());
    }));
  }
  for (const pid_t child : children) expect_success(child);
  EXPECT_EQ(open()->usage().value().blobs, 1u);
}

TEST_F(ConcurrencyTest, OneOfManyEqualActionsRuns) {
  const Sample sample("same action");
  const auto runs = [&] { return open()->counters().value().executed; };
  std::vector<pid_t> children;
  for (int process = 0; process < 16; ++process) {
    const std::string own = make_folder("p" + std::to_string(process));
    children.push_back(start([&, own] {
      const auto store = open();
      const auto lock = store->lock_action(sample.weak, nullptr);
      ASSERT_TRUE(lock.has_value());
      if (sample.replay(*store, os::linux_file_system(), own)) return;
      ASSERT_TRUE(store->put(sample.small).has_value());
      ASSERT_TRUE(store->put(sample.large).has_value());
      ASSERT_TRUE(store->put(sample.out).has_value());
      ASSERT_TRUE(store->put_derivation(sample.strong, sample.derivation).has_value());
      ASSERT_TRUE(store->put_record(sample.strong, sample.record).has_value());
      ASSERT_TRUE(store->note_made(sample.strong, sample.places, sample.made()).has_value());
      ASSERT_TRUE(store->put_weak_entry(sample.weak, sample.entry).has_value());
      store->count({0, 1, 0, 0, 0, 0});
    }));
  }
  for (const pid_t child : children) expect_success(child);
  EXPECT_EQ(runs(), 1u);
}

TEST_F(ConcurrencyTest, AKilledHolderFreesItsActionAndIsNamedToWhoeverWaits) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t holder = start([&] {
    const auto held = open()->lock_action(key_of("w"), nullptr);
    (void)!::write(ready[1], "x", 1);
    ::pause();
  });
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  int named = 0;
  const auto lock = open()->lock_action(key_of("w"), [&](int process) {
    named = process;
    ::kill(holder, SIGKILL);
    return true;
  });
  ASSERT_TRUE(lock.has_value());
  EXPECT_EQ(named, holder);
  ::waitpid(holder, nullptr, 0);
}

TEST_F(ConcurrencyTest, EveryAdditionToTheCountersCounts) {
  std::vector<pid_t> children;
  for (int process = 0; process < 8; ++process) {
    children.push_back(start([&] {
      for (int i = 0; i < 50; ++i) open()->count({1, 0, 0, 0, 0, 7});
    }));
  }
  for (const pid_t child : children) expect_success(child);
  EXPECT_EQ(open()->counters().value().replayed, 400u);
  EXPECT_EQ(open()->counters().value().saved_ns, 2800);
}

TEST_F(ConcurrencyTest, ManyProcessesShareADigestTable) {
  make_folder("inputs");
  std::vector<std::string> inputs;
  for (int i = 0; i < 200; ++i) {
    inputs.push_back(folder_.at("inputs/h" + std::to_string(i)));
    auto file = os::linux_file_system().create(inputs.back(), 0644);
    ASSERT_TRUE((*file)->write(as_bytes(inputs.back())).has_value());
  }
  ::usleep(30'000);
  std::vector<pid_t> children;
  for (int process = 0; process < 8; ++process) {
    children.push_back(start([&] {
      for (int round = 0; round < 5; ++round) {
        const auto store = open();
        for (const std::string& input : inputs) {
          EXPECT_EQ(store->hasher().hash(input).value().digest, digest::digest_of(input));
        }
        EXPECT_TRUE(store->flush().has_value());
      }
    }));
  }
  for (const pid_t child : children) expect_success(child);
  EXPECT_TRUE(open()->verify(false, nullptr).value().empty());
}

/// A thousand rounds under `./dev soak`, which sets HALLMARK_SOAK.
TEST_F(ConcurrencyTest, WritersKilledAtRandomLeaveNothingWrong) {
  const int rounds = std::getenv("HALLMARK_SOAK") != nullptr ? 1000 : 60;
  const std::string own = make_folder("own");
  std::mt19937 random(1);
  for (int round = 0; round < rounds; ++round) {
    const Sample sample("action " + std::to_string(random() % 20));
    const pid_t child = start([&] {
      for (int i = 0;; ++i) {
        const auto store = open();
        const Sample other(i % 2 == 0 ? "action 1" : sample.small);
        if (!sample.publish(*store, os::linux_file_system(), own + "/large").has_value()) return;
        (void)other.publish(*store, os::linux_file_system(), own + "/large");
        (void)store->hasher().hash(own + "/large");
      }
    });
    ::usleep(static_cast<useconds_t>(random() % 20'000));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    (void)sample.replay(*open(), os::linux_file_system(), own);
    if (round % 10 == 0) {
      expect_no_defects(false);
    }
  }
  const Sample last("last");
  (void)run(last, own);
  EXPECT_TRUE(run(last, own));
}

}  // namespace
}  // namespace hallmark::store
