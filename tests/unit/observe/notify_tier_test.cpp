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
enum ExitCode { as_told = 0, watched_already = 1, not_entered = 2, other_error = 3 };

/// hallmark was killed between the filter and the execution: nobody holds the listener but, if it is
/// careless, the child itself, whose next call then waits for an answer that cannot come.
TEST(NotifyTier, ChildWithoutSupervisorIsRefusedAndDoesNotWait) {
  NotifyTier tier({}, nullptr);
  const Status works = tier.prepare();
  if (!works && works.error().kind == ErrorKind::unsupported)
    GTEST_SKIP() << "SKIPPED: " << works.error().what;
  ASSERT_TRUE(works.has_value()) << works.error().what;
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::signal(SIGALRM, SIG_DFL);
    ::alarm(kPatience_s);
    if (const int error = tier.enter_child(); error != 0)
      ::_exit(error == EBUSY ? watched_already : not_entered);
    ::_exit(::open("/", O_RDONLY | O_DIRECTORY) < 0 && errno == ENOSYS ? as_told : other_error);
  }
  int wait_status = 0;
  ASSERT_EQ(child, ::waitpid(child, &wait_status, 0));
  ASSERT_TRUE(WIFEXITED(wait_status)) << "ended by signal " << WTERMSIG(wait_status);
  // The kernel gives one process tree one listener: under another supervisor there is nothing to test.
  if (WEXITSTATUS(wait_status) == watched_already) GTEST_SKIP() << "SKIPPED: a supervisor watches already";
  EXPECT_EQ(as_told, WEXITSTATUS(wait_status));
}

}  // namespace
}  // namespace hallmark::observe
