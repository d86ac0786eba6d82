#include "observe/internal/guardian.h"

#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace hallmark::observe {
namespace {

constexpr std::size_t kStackBytes = 16u << 10;
constexpr int kKeptListener = 3;
constexpr int kKeptSupervisor = 4;

// Only bare system calls from here on: the memory, and with it errno and every lock of the C library, is
// hallmark's.
long bare(long number, long a = 0, long b = 0, long c = 0, long d = 0) {
  long result;
  register long fourth __asm__("r10") = d;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth)
                   : "rcx", "r11", "memory");
  return result;
}

void keep_only(int listener, int supervisor) {
  bare(SYS_dup3, listener, kKeptListener + 60, O_CLOEXEC);
  bare(SYS_dup3, supervisor, kKeptSupervisor + 60, O_CLOEXEC);
  bare(SYS_dup3, kKeptListener + 60, kKeptListener, O_CLOEXEC);
  bare(SYS_dup3, kKeptSupervisor + 60, kKeptSupervisor, O_CLOEXEC);
  bare(SYS_close_range, 0, kKeptListener - 1, 0);
  bare(SYS_close_range, kKeptSupervisor + 1, ~0u, 0);
}

}  // namespace

struct Guardian::Shared {
  int listener = -1;
  int supervisor = -1;
  seccomp_notif request;
  alignas(16) char stack[kStackBytes];
};

Guardian::Guardian() = default;
Guardian::~Guardian() {
  dismiss();
}

int Guardian::run(void* argument) {
  auto* shared = static_cast<Shared*>(argument);
  keep_only(shared->listener, shared->supervisor);
  bare(SYS_setsid);
  pollfd supervisor{kKeptSupervisor, POLLIN, 0};
  while (bare(SYS_poll, reinterpret_cast<long>(&supervisor), 1, -1) == -EINTR) {
  }
  for (;;) {
    pollfd calls{kKeptListener, POLLIN, 0};
    const long ready = bare(SYS_poll, reinterpret_cast<long>(&calls), 1, -1);
    if (ready == -EINTR) continue;
    if (ready < 0 || (calls.revents & POLLIN) == 0) break;
    for (std::size_t i = 0; i < sizeof shared->request; ++i) {
      reinterpret_cast<volatile char*>(&shared->request)[i] = 0;  // volatile: never a call of memset
    }
    if (bare(SYS_ioctl, kKeptListener, static_cast<long>(SECCOMP_IOCTL_NOTIF_RECV),
             reinterpret_cast<long>(&shared->request)) == 0) {
      bare(SYS_kill, shared->request.pid, SIGKILL);
    }
  }
  bare(SYS_exit_group, 0);
  return 0;
}

bool Guardian::start(int listener) {
  const int supervisor = static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0));
  if (supervisor < 0) return false;
  shared_ = std::make_unique<Shared>();
  shared_->listener = listener;
  shared_->supervisor = supervisor;
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  // No exit signal: waitpid(-1) of the main loop does not see it (only __WALL or __WCLONE do).
  process_ = ::clone(&Guardian::run, shared_->stack + kStackBytes, CLONE_VM, shared_.get());
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::close(supervisor);
  return process_ > 0;
}

void Guardian::dismiss() {
  if (process_ <= 0) return;
  ::kill(process_, SIGKILL);
  int status = 0;
  while (::waitpid(process_, &status, __WALL) < 0 && errno == EINTR) {
  }
  process_ = -1;
}

}  // namespace hallmark::observe
