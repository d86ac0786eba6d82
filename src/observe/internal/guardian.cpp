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
constexpr std::size_t kDoomed = 2048;  // processes of one tree; later ones die at their next watched call
constexpr std::size_t kListingBytes = 4096;
constexpr int kWalks = 32;  // over /proc; each finds the children of those that the last one found

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

/// Closes all others. The two keep their numbers: any number that they were moved to might be the other's.
void keep_only(int listener, int supervisor) {
  const int low = listener < supervisor ? listener : supervisor;
  const int high = listener < supervisor ? supervisor : listener;
  if (low > 0) bare(SYS_close_range, 0, low - 1, 0);
  if (high - low > 1) bare(SYS_close_range, low + 1, high - 1, 0);
  bare(SYS_close_range, high + 1, ~0u, 0);
}

}  // namespace

struct Guardian::Shared {
  int listener = -1;
  int supervisor = -1;
  seccomp_notif request;
  std::size_t doomed_count = 0;
  pid_t doomed[kDoomed];
  char listing[kListingBytes];
  char status[512];

  bool is_doomed(pid_t process) const {
    for (std::size_t i = 0; i < doomed_count; ++i) {
      if (doomed[i] == process) return true;
    }
    return false;
  }
  pid_t parent_of(const char* process);
  bool walk();
  void kill_tree();
  alignas(16) char stack[kStackBytes];
};

/// From /proc/<process>/stat: "<process> (<name>) <state> <parent> ..."; the name may hold anything.
pid_t Guardian::Shared::parent_of(const char* process) {
  char path[32] = "/proc/";
  std::size_t at = 6;
  for (const char* digit = process; *digit != 0 && at < 20; ++digit) path[at++] = *digit;
  for (const char* rest = "/stat"; *rest != 0; ++rest) path[at++] = *rest;
  path[at] = 0;
  const long file = bare(SYS_open, reinterpret_cast<long>(&path[0]), O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  const long count = bare(SYS_read, file, reinterpret_cast<long>(&status[0]), sizeof status);
  bare(SYS_close, file);
  long place = count - 1;
  while (place >= 0 && status[place] != ')') --place;
  pid_t parent = 0;
  for (place += 4; place >= 4 && place < count && status[place] >= '0' && status[place] <= '9'; ++place) {
    parent = parent * 10 + (status[place] - '0');
  }
  return parent;
}

/// Dooms the children of the doomed, as /proc shows them now; stopped, they make no more. True if it found
/// any.
bool Guardian::Shared::walk() {
  constexpr char kProc[] = "/proc";
  const long folder = bare(SYS_open, reinterpret_cast<long>(&kProc[0]), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return false;
  bool found = false;
  long bytes = 0;
  while ((bytes = bare(SYS_getdents64, folder, reinterpret_cast<long>(&listing[0]), sizeof listing)) > 0) {
    for (long at = 0; at < bytes;) {
      // struct linux_dirent64: inode 8, offset 8, length 2, type 1, then the name.
      const char* entry = &listing[at];
      at += static_cast<unsigned char>(entry[16]) | static_cast<unsigned char>(entry[17]) << 8;
      const char* name = entry + 19;
      pid_t process = 0;
      for (const char* digit = name; *digit >= '0' && *digit <= '9'; ++digit)
        process = process * 10 + (*digit - '0');
      if (process == 0 || is_doomed(process) || !is_doomed(parent_of(name)) || doomed_count == kDoomed)
        continue;
      doomed[doomed_count++] = process;
      bare(SYS_kill, process, SIGSTOP);
      found = true;
    }
  }
  bare(SYS_close, folder);
  return found;
}

void Guardian::Shared::kill_tree() {
  bare(SYS_kill, doomed[0], SIGSTOP);
  for (int i = 0; i < kWalks && walk(); ++i) {
  }
  for (std::size_t i = 0; i < doomed_count; ++i) bare(SYS_kill, doomed[i], SIGKILL);
}

Guardian::Guardian() = default;
Guardian::~Guardian() {
  dismiss();
}

int Guardian::run(void* argument) {
  auto* shared = static_cast<Shared*>(argument);
  keep_only(shared->listener, shared->supervisor);
  bare(SYS_setsid);
  pollfd supervisor{shared->supervisor, POLLIN, 0};
  while (bare(SYS_poll, reinterpret_cast<long>(&supervisor), 1, -1) == -EINTR) {
  }
  shared->kill_tree();
  for (;;) {
    pollfd calls{shared->listener, POLLIN, 0};
    const long ready = bare(SYS_poll, reinterpret_cast<long>(&calls), 1, -1);
    if (ready == -EINTR) continue;
    if (ready < 0 || (calls.revents & POLLIN) == 0) break;
    for (std::size_t i = 0; i < sizeof shared->request; ++i) {
      reinterpret_cast<volatile char*>(&shared->request)[i] = 0;  // volatile: never a call of memset
    }
    if (bare(SYS_ioctl, shared->listener, static_cast<long>(SECCOMP_IOCTL_NOTIF_RECV),
             reinterpret_cast<long>(&shared->request)) == 0) {
      bare(SYS_kill, shared->request.pid, SIGKILL);
    }
  }
  bare(SYS_exit_group, 0);
  return 0;
}

bool Guardian::start(int listener, pid_t command) {
  const int supervisor = static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0));
  if (supervisor < 0) return false;
  shared_ = std::make_unique<Shared>();
  shared_->listener = listener;
  shared_->supervisor = supervisor;
  shared_->doomed[shared_->doomed_count++] = command;
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
  const pid_t process = process_.load();
  if (process <= 0) return;
  ::kill(process, SIGKILL);
  int status = 0;
  while (::waitpid(process, &status, __WALL) < 0 && errno == EINTR) {
  }
  process_ = -1;
}

}  // namespace hallmark::observe
