#include "observe/internal/ptrace_custodian.h"

#include <fcntl.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>

#include "observe/internal/ptrace_calls.h"

namespace hallmark::observe {
namespace {

/// Takes over; whoever cannot be taken over is killed. Whether all could be.
bool take_over(const std::vector<pid_t>& threads) {
  bool all = true;
  for (const pid_t thread : threads) {
    if (trace(PTRACE_SEIZE, thread, 0, kTraceTree | PTRACE_O_TRACESECCOMP) == 0 || errno == ESRCH) continue;
    ::kill(thread, SIGKILL);
    all = false;
  }
  return all;
}

void let_everything_go_on() {
  int status = 0;
  for (;;) {
    const pid_t thread = ::waitpid(-1, &status, __WALL);
    if (thread < 0 && errno == EINTR) continue;
    if (thread < 0) return;
    if (!WIFSTOPPED(status)) continue;
    const int signal = WSTOPSIG(status);
    const unsigned event = static_cast<unsigned>(status) >> 16;
    if (event == PTRACE_EVENT_STOP && is_job_control(signal)) {
      trace(PTRACE_LISTEN, thread);
    } else {
      trace(PTRACE_CONT, thread, 0, event == 0 ? static_cast<std::uint64_t>(signal) : 0);
    }
  }
}

[[noreturn]] void be_custodian(const std::vector<pid_t>& threads, int go, int answer) {
  ::setsid();
  char byte = 0;
  while (::read(go, &byte, 1) < 0 && errno == EINTR) {
  }
  const char all = take_over(threads) ? 1 : 0;
  for (const pid_t thread : threads) ::kill(thread, SIGCONT);
  if (::write(answer, &all, 1) != 1) ::_exit(1);
  // Nothing of hallmark may be held open by this process: its streams have readers that wait for their end.
  const int null = ::open("/dev/null", O_RDWR);
  for (int descriptor = 0; descriptor <= 2; ++descriptor) ::dup2(null, descriptor);
  ::syscall(SYS_close_range, 3u, ~0u, 0u);
  let_everything_go_on();
  ::_exit(0);
}

}  // namespace

bool hand_to_custodian(const std::vector<pid_t>& threads) {
  std::array<int, 2> go{};
  std::array<int, 2> answer{};
  if (::pipe2(go.data(), O_CLOEXEC) != 0 || ::pipe2(answer.data(), O_CLOEXEC) != 0) return false;
  const pid_t custodian = ::fork();
  if (custodian == 0) {
    ::close(go[1]);
    be_custodian(threads, go[0], answer[1]);
  }
  // A pending SIGSTOP keeps each one from running a single instruction between the two tracers.
  for (const pid_t thread : threads) {
    ::kill(thread, custodian > 0 ? SIGSTOP : SIGKILL);
    trace(PTRACE_DETACH, thread);
  }
  ::close(go[0]);
  ::close(answer[1]);
  ::close(go[1]);
  char all = 0;
  while (::read(answer[0], &all, 1) < 0 && errno == EINTR) {
  }
  ::close(answer[0]);
  return all == 1;
}

}  // namespace hallmark::observe
