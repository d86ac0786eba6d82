// The Observer on real processes, tier by tier.
#include "observe/observer.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "observed_world.h"
#include "support/temp_folder.h"

extern char** environ;

namespace hallmark::observe {
namespace {

using testing::Contains;
using testing::IsEmpty;
using testing::Not;

class ObserverTest : public testing::TestWithParam<model::Tier> {
 protected:
  void SetUp() override {
    for (const TierStatus& status : probe_tiers({})) {
      if (status.tier == GetParam() && !status.works) GTEST_SKIP() << "SKIPPED: " << status.why;
    }
    char resolved[PATH_MAX];
    folder_ = realpath(temp_.path().c_str(), resolved);
  }

  Request request(std::vector<std::string> argv) {
    Request request;
    request.command.argv = std::move(argv);
    request.command.cwd = folder_;
    for (char** variable = environ; *variable != nullptr; ++variable) {
      const std::string text = *variable;
      const auto equals = text.find('=');
      request.command.environment[text.substr(0, equals)] = text.substr(equals + 1);
    }
    request.best = GetParam();
    return request;
  }

  model::Observation run(std::vector<std::string> argv) {
    auto seen = Observer(os::linux_file_system(), hasher_).run(request(std::move(argv)));
    EXPECT_TRUE(seen.has_value()) << seen.error().message();
    if (!seen) return {};
    EXPECT_EQ(seen->tier, GetParam());
    // The test's own caller may hand descriptors on; that is not what is tested.
    std::erase_if(seen->doubts,
                  [](const auto& doubt) { return doubt.code == model::ReasonCode::inherited_descriptor; });
    return std::move(*seen);
  }
  model::Observation sh(const std::string& script) { return run({"/bin/sh", "-c", script}); }

  void put(const std::string& name, std::string_view bytes) { std::ofstream(folder_ + "/" + name) << bytes; }

  static bool has(const model::Observation& seen, model::Use use, const std::string& path) {
    for (const auto& input : seen.inputs) {
      if (input.use == use && input.path == path) return true;
    }
    return false;
  }
  static bool absent(const model::Observation& seen, const std::string& path) {
    for (const auto& input : seen.inputs) {
      if (input.use == model::Use::kind && input.path == path) return !input.stat;
    }
    return false;
  }
  std::vector<std::string> outputs(const model::Observation& seen) {
    std::vector<std::string> names;
    for (const auto& output : seen.outputs) names.push_back(output.path.substr(folder_.size() + 1));
    return names;
  }
  static std::vector<model::ReasonCode> doubts(const model::Observation& seen) {
    std::vector<model::ReasonCode> codes;
    for (const auto& doubt : seen.doubts) codes.push_back(doubt.code);
    return codes;
  }

  test::TempFolder temp_;
  std::string folder_;
  FakeHasher hasher_{os::linux_file_system()};
};

TEST_P(ObserverTest, ReadsWritesAndMisses) {
  put("in", "hello\n");
  const auto seen = sh("cat in > out; test -e none");
  EXPECT_TRUE(has(seen, model::Use::content, folder_ + "/in"));
  EXPECT_TRUE(absent(seen, folder_ + "/none"));
  EXPECT_THAT(outputs(seen), testing::ElementsAre("out"));
  EXPECT_THAT(doubts(seen), IsEmpty());
  EXPECT_EQ(WEXITSTATUS(seen.wait_status), 1);
}

TEST_P(ObserverTest, StreamsAreKept) {
  const auto seen = sh("echo to-out; echo to-err >&2");
  EXPECT_EQ(seen.out.bytes, "to-out\n");
  EXPECT_EQ(seen.err.bytes, "to-err\n");
}

TEST_P(ObserverTest, ExitCodeAndSignal) {
  EXPECT_EQ(WEXITSTATUS(sh("exit 7").wait_status), 7);
  EXPECT_EQ(WTERMSIG(sh("kill -KILL $$").wait_status), SIGKILL);
}

TEST_P(ObserverTest, AbsentProgramIsNotFound) {
  const auto seen = Observer(os::linux_file_system(), hasher_).run(request({"no-such-program-anywhere"}));
  ASSERT_FALSE(seen.has_value());
  EXPECT_EQ(seen.error().kind, ErrorKind::no_command);
}

TEST_P(ObserverTest, FolderIsNoProgram) {
  const auto seen = Observer(os::linux_file_system(), hasher_).run(request({"/usr"}));
  ASSERT_FALSE(seen.has_value());
  EXPECT_EQ(seen.error().kind, ErrorKind::bad_command);
}

TEST_P(ObserverTest, TemporariesAndRenamesOverTheOutput) {
  put("out", "old");
  const auto seen = sh("echo new > tmp; mv tmp out; echo x > gone; rm gone");
  EXPECT_THAT(outputs(seen), testing::ElementsAre("out"));
  EXPECT_TRUE(seen.outputs[0].whole);
  EXPECT_TRUE(seen.outputs[0].before.has_value());
  EXPECT_FALSE(has(seen, model::Use::kind, folder_ + "/gone"));
}

TEST_P(ObserverTest, SurvivorIsADoubtAndLivesOn) {
  const auto seen = sh("(sleep 0.6; echo late > late) > /dev/null 2>&1 & echo done");
  EXPECT_EQ(seen.out.bytes, "done\n");
  EXPECT_THAT(doubts(seen), Contains(model::ReasonCode::survivor));
  // Its filter would fail every watched call once the tracer is gone: the ptrace tier ends survivors.
  if (GetParam() == model::Tier::ptrace) return;
  for (int i = 0; i < 100 && ::access((folder_ + "/late").c_str(), F_OK) != 0; ++i) ::usleep(50'000);
  EXPECT_EQ(::access((folder_ + "/late").c_str(), F_OK), 0);
}

TEST_P(ObserverTest, BackgroundProcessThatEndsInGraceIsSeen) {
  put("in", "x");
  const auto seen = sh("(sleep 0.05; cat in > late) & :");
  EXPECT_THAT(doubts(seen), Not(Contains(model::ReasonCode::survivor)));
  EXPECT_TRUE(has(seen, model::Use::content, folder_ + "/in"));
  EXPECT_THAT(outputs(seen), testing::ElementsAre("late"));
}

TEST_P(ObserverTest, OrphansAreSeen) {
  put("in", "x");
  const auto seen =
      sh("sh -c '(sleep 0.1; cat in > late; : > end) & ' ; until test -e end; do sleep 0.01; done");
  EXPECT_TRUE(has(seen, model::Use::content, folder_ + "/in"));
}

TEST_P(ObserverTest, LocalSocketsOfTheCommandAreNoNetwork) {
  if (::access("/usr/bin/python3", X_OK) != 0) GTEST_SKIP() << "SKIPPED: no python3";
  const auto inside = run({"/usr/bin/python3", "-c",
                           "import socket\n"
                           "s=socket.socket(socket.AF_UNIX); s.bind('sock'); s.listen()\n"
                           "c=socket.socket(socket.AF_UNIX); c.connect('sock')\n"
                           "import os; os.unlink('sock')\n"});
  EXPECT_THAT(doubts(inside), Not(Contains(model::ReasonCode::network_used)));
  const auto outside = run({"/usr/bin/python3", "-c",
                            "import socket\n"
                            "s=socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
                            "s.sendto(b'x', ('127.0.0.1', 9))\n"});
  EXPECT_THAT(doubts(outside), Contains(model::ReasonCode::network_used));
}

TEST_P(ObserverTest, WorkingFolderOfTheRequestCounts) {
  ASSERT_EQ(::mkdir((folder_ + "/sub").c_str(), 0755), 0);
  put("sub/in", "x");
  auto asked = request({"/bin/cat", "in"});
  asked.command.cwd = folder_ + "/sub";
  const auto seen = Observer(os::linux_file_system(), hasher_).run(asked);
  ASSERT_TRUE(seen.has_value());
  EXPECT_TRUE(has(*seen, model::Use::content, folder_ + "/sub/in"));
  asked.command.cwd = folder_ + "/none";
  EXPECT_FALSE(Observer(os::linux_file_system(), hasher_).run(asked).has_value());
}

TEST_P(ObserverTest, EnvironmentIsExactlyThatOfTheRequest) {
  auto asked = request({"/usr/bin/env"});
  asked.command.environment = {{"ONLY", "this"}};
  const auto seen = Observer(os::linux_file_system(), hasher_).run(asked);
  ASSERT_TRUE(seen.has_value());
  EXPECT_EQ(seen->out.bytes, "ONLY=this\n");
}

INSTANTIATE_TEST_SUITE_P(Tiers, ObserverTest, testing::Values(model::Tier::notify, model::Tier::ptrace),
                         [](const auto& tier) { return std::string(model::name_of(tier.param)); });

TEST(Observer, UnwatchedRunIsADoubt) {
  FakeHasher hasher(os::linux_file_system());
  Request request;
  request.command.argv = {"/bin/sh", "-c", "echo hi"};
  request.command.cwd = "/";
  request.best = model::Tier::none;
  const auto seen = Observer(os::linux_file_system(), hasher).run(request);
  ASSERT_TRUE(seen.has_value());
  EXPECT_EQ(seen->out.bytes, "hi\n");
  EXPECT_THAT(seen->doubts, Contains(testing::Field(&model::Reason::code, model::ReasonCode::not_observed)));
}

}  // namespace
}  // namespace hallmark::observe
