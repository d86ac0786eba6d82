#include "observe/internal/notify_tier.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace hallmark::observe {
namespace {

constexpr unsigned kPatience_s = 10;
enum ExitCode { as_told = 0, not_entered = 1, other_error = 2 };

/// hallmark was killed between the filter and the execution: nobody holds the listener but, if it is
/// careless, the child itself, whose next call then waits for an answer that cannot come.
TEST(NotifyTier, ChildWithoutSupervisorIsRefusedAndDoesNotWait) {
  NotifyTier tier({}, nullptr);
  if (const Status works = tier.prepare(); !works) GTEST_SKIP() << "SKIPPED: " << works.error().what;
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::signal(SIGALRM, SIG_DFL);
    ::alarm(kPatience_s);
    if (tier.enter_child() != 0) ::_exit(not_entered);
    ::_exit(::open("/", O_RDONLY | O_DIRECTORY) < 0 && errno == ENOSYS ? as_told : other_error);
  }
  int wait_status = 0;
  ASSERT_EQ(child, ::waitpid(child, &wait_status, 0));
  ASSERT_TRUE(WIFEXITED(wait_status)) << "ended by signal " << WTERMSIG(wait_status);
  if (WEXITSTATUS(wait_status) == not_entered) GTEST_SKIP() << "SKIPPED: no listener may be had here";
  EXPECT_EQ(as_told, WEXITSTATUS(wait_status));
}

}  // namespace
}  // namespace hallmark::observe
