#include "observe/internal/ptrace_tier.h"

#include <linux/audit.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>

#include "observe/internal/filter_evaluator.h"
#include "observe/internal/notify_tier.h"
#include "observe/internal/ptrace_calls.h"
#include "observe/internal/ptrace_custodian.h"
#include "observe/internal/ring.h"

namespace hallmark::observe {
namespace {

using model::ReasonCode;

constexpr long kChildPatience_ms = 10'000;
constexpr int kHoldPatience_ms = 200;
constexpr int kSyscallStop = SIGTRAP | 0x80;

/// Whether a supervisor above us listens already: then a second listener is refused. Tried in a process of
/// its own.
bool has_outer_supervisor(bool set_no_new_privileges) {
  const pid_t child = ::fork();
  if (child < 0) return false;
  if (child == 0) {
    const std::vector<sock_filter> allow = {{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}};
    if (set_no_new_privileges) ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    ::_exit(install_filter(allow, SECCOMP_FILTER_FLAG_NEW_LISTENER) == -EBUSY ? 1 : 0);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 1;
}

}  // namespace

PtraceTier::PtraceTier(Options options) : options_(std::move(options)), every_call_(options_.every_call) {
  reader_.set_stdin_target(options_.stdin_target);
}

Status PtraceTier::prepare() {
  std::uint32_t action = SECCOMP_RET_TRACE;
  set_no_new_privileges_ = needs_no_new_privileges();
  if (::syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) != 0) every_call_ = true;
  if (!every_call_) every_call_ = has_outer_supervisor(set_no_new_privileges_);
  FilterOptions filter;
  filter.action = action;
  filter.stdin_watch = options_.stdin_watch;
  filter_ = build_filter(filter);
  return {};
}

int PtraceTier::enter_child() {
  const timespec patience{kChildPatience_ms / 1000, 0};
  for (int tries = 0; may_go_on_.load(std::memory_order_acquire) == 0 && tries < 2; ++tries) {
    ::syscall(SYS_futex, &may_go_on_, FUTEX_WAIT, 0, &patience, nullptr, 0);
  }
  const int answer = may_go_on_.load(std::memory_order_acquire);
  if (answer <= 0) return answer == 0 ? ETIMEDOUT : -answer;
  if (every_call_) return 0;
  if (set_no_new_privileges_ && ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
  return -install_filter(filter_, 0);
}

void PtraceTier::release_child(int answer) {
  may_go_on_.store(answer, std::memory_order_release);
  ::syscall(SYS_futex, &may_go_on_, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

Status PtraceTier::attach(pid_t child) {
  Status status = begin_tracing(child);
  release_child(status.has_value() ? 1 : -EPERM);
  return status;
}

Status PtraceTier::begin_tracing(pid_t child) {
  const std::uint64_t options = kTraceTree | (every_call_ ? 0 : PTRACE_O_TRACESECCOMP);
  if (trace(PTRACE_SEIZE, child, 0, options) != 0) {
    const int error = errno;
    return fail(Error{ErrorKind::unsupported, std::string("ptrace is refused: ") + std::strerror(error),
                      error == EPERM ? "an outer tracer, or a container without CAP_SYS_PTRACE" : ""});
  }
  tracees_.insert(child);
  if (!every_call_) return {};
  // It waits in enter_child(): from there on every call has to stop.
  int state = 0;
  if (trace(PTRACE_INTERRUPT, child) != 0 || ::waitpid(child, &state, __WALL) != child ||
      !WIFSTOPPED(state) || trace(PTRACE_SYSCALL, child) != 0) {
    return fail(Error{ErrorKind::unsupported, "ptrace cannot stop the command", {}});
  }
  return {};
}

void PtraceTier::watch(EventSink& sink) {
  while (!stop_.load(std::memory_order_relaxed)) {
    int status = 0;
    rusage usage{};
    const pid_t thread = ::wait4(-1, &status, __WALL, &usage);
    if (thread < 0 && errno == EINTR) continue;
    if (thread < 0) break;  // ECHILD: the tree is gone
    if (WIFSTOPPED(status)) {
      on_stop(thread, status, sink);
      continue;
    }
    tracees_.erase(thread);
    if (on_end_) on_end_(thread, status, usage);
  }
  if (stop_.load(std::memory_order_relaxed)) set_free(sink);
}

// Whoever calls it also interrupts the wait with a signal (tree_run.cpp).
void PtraceTier::stop() {
  stop_.store(true, std::memory_order_relaxed);
}

void PtraceTier::go_on(pid_t thread, int signal) {
  tracees_.insert(thread);
  // Fails if the thread was killed: its end is reported next.
  trace(every_call_ ? PTRACE_SYSCALL : PTRACE_CONT, thread, 0, static_cast<std::uint64_t>(signal));
}

void PtraceTier::on_stop(pid_t thread, int status, EventSink& sink) {
  const int signal = WSTOPSIG(status);
  const unsigned event = static_cast<unsigned>(status) >> 16;
  if (event != 0) return on_event_stop(thread, event, signal, sink);
  if (signal == kSyscallStop) {
    on_call(thread, false, sink);
    return go_on(thread, 0);
  }
  go_on(thread, signal);
}

void PtraceTier::on_event_stop(pid_t thread, unsigned event, int signal, EventSink& sink) {
  std::uint64_t message = 0;
  switch (event) {
    case PTRACE_EVENT_SECCOMP:
      on_call(thread, true, sink);
      break;
    case PTRACE_EVENT_FORK:
    case PTRACE_EVENT_VFORK:
    case PTRACE_EVENT_CLONE:
      // The child is traced from its start; it may or may not have reported its own first stop yet.
      if (trace(PTRACE_GETEVENTMSG, thread, 0, reinterpret_cast<std::uint64_t>(&message)) == 0) {
        tracees_.insert(static_cast<pid_t>(message));
      }
      break;
    case PTRACE_EVENT_EXEC:
      // A thread other than the leader has taken the leader's number.
      if (trace(PTRACE_GETEVENTMSG, thread, 0, reinterpret_cast<std::uint64_t>(&message)) == 0 &&
          static_cast<pid_t>(message) != thread) {
        tracees_.erase(static_cast<pid_t>(message));
      }
      break;
    case PTRACE_EVENT_STOP:
      if (is_job_control(signal)) {
        // Stopped for job control: stays so, and stays traced, until a SIGCONT wakes it.
        tracees_.insert(thread);
        trace(PTRACE_LISTEN, thread);
        return;
      }
      break;
    default:
      break;
  }
  go_on(thread, 0);
}

void PtraceTier::on_call(pid_t thread, bool picked, EventSink& sink) {
  ptrace_syscall_info info{};
  if (trace(PTRACE_GET_SYSCALL_INFO, thread, sizeof(info), reinterpret_cast<std::uint64_t>(&info)) <= 0) {
    if (errno != ESRCH) sink.on_doubt({ReasonCode::observation_lost, "ptrace", std::strerror(errno), {}});
    return;
  }
  const int wanted = picked ? PTRACE_SYSCALL_INFO_SECCOMP : PTRACE_SYSCALL_INFO_ENTRY;
  if (info.op != wanted) return;
  Call call{thread, 0, {}};
  call.number = picked ? info.seccomp.nr : info.entry.nr;
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    call.arguments[i] = picked ? info.seccomp.args[i] : info.entry.args[i];
  }
  if (!picked) {
    seccomp_data data{};
    data.nr = static_cast<int>(call.number);
    data.arch = info.arch;
    data.instruction_pointer = info.instruction_pointer;
    std::memcpy(data.args, call.arguments.data(), sizeof(data.args));
    const std::uint32_t action = evaluate_filter(filter_, data);
    if (action == SECCOMP_RET_ALLOW) return;
    if ((action & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_ERRNO) {
      // Without a number the kernel carries nothing out and leaves the result at -ENOSYS, which is what the
      // filter says.
      trace(PTRACE_POKEUSR, thread, offsetof(user_regs_struct, orig_rax), ~std::uint64_t{0});
      return;
    }
  }
  ++slow_events_;
  report(call, info.arch != AUDIT_ARCH_X86_64, sink);
}

void PtraceTier::report(const Call& call, bool foreign, EventSink& sink) {
  const SyscallRule* rule = foreign ? nullptr : rule_of(call.number);
  if (rule == nullptr) {
    sink.on_doubt({ReasonCode::foreign_architecture, program_of(call.thread), {}, {}});
    return;
  }
  Event event;
  // Below an outer hallmark its agent may talk to its supervisor: no business of ours.
  if (reader_.read(call, *rule, sink, event) == CallReader::Outcome::event &&
      !event.path.starts_with(ring::kPrivatePrefix)) {
    sink.on_event(event);
  }
  if (reader_.stdin_wanted() && !stdin_reported_) {
    stdin_reported_ = true;
    if (options_.on_stdin_wanted) options_.on_stdin_wanted();
  }
}

void PtraceTier::set_free(EventSink& sink) {
  std::vector<pid_t> threads(tracees_.begin(), tracees_.end());
  tracees_.clear();
  std::vector<pid_t> held;
  for (std::size_t i = 0; i < threads.size(); ++i) {
    pid_t started = 0;
    if (hold(threads[i], started)) held.push_back(threads[i]);
    if (started != 0 && std::ranges::find(threads, started) == threads.end()) threads.push_back(started);
  }
  if (every_call_) {
    for (const pid_t thread : held) {
      trace(PTRACE_DETACH, thread, 0, static_cast<std::uint64_t>(held_signals_[thread]));
    }
  } else if (!held.empty() && !hand_to_custodian(held)) {
    sink.on_doubt({ReasonCode::survivor, "", "it could not be left running under ptrace", {}});
  }
}

bool PtraceTier::hold(pid_t thread, pid_t& started) {
  if (trace(PTRACE_INTERRUPT, thread) != 0) return false;
  int status = 0;
  rusage usage{};
  pid_t waited = 0;
  const timespec nap{0, 1'000'000};
  for (int i = 0; i < kHoldPatience_ms && waited == 0; ++i) {
    waited = ::wait4(thread, &status, __WALL | WNOHANG, &usage);
    if (waited == 0) ::nanosleep(&nap, nullptr);
  }
  if (waited != thread) return false;  // in the middle of vfork: it cannot be stopped, and ends with us
  if (!WIFSTOPPED(status)) {
    if (on_end_) on_end_(thread, status, usage);
    return false;
  }
  const int signal = WSTOPSIG(status);
  const unsigned event = static_cast<unsigned>(status) >> 16;
  held_signals_[thread] = event == 0 && signal != kSyscallStop ? signal : 0;
  std::uint64_t message = 0;
  if ((event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK || event == PTRACE_EVENT_CLONE) &&
      trace(PTRACE_GETEVENTMSG, thread, 0, reinterpret_cast<std::uint64_t>(&message)) == 0) {
    started = static_cast<pid_t>(message);
  }
  return true;
}

}  // namespace hallmark::observe
