// ptrace(2) by its kernel interface: the C library's header cannot be included together with the kernel's,
// which knows more requests. Async-signal-safe.
#pragma once

#include <linux/ptrace.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>

namespace hallmark::observe {

inline long trace(long request, pid_t thread, std::uint64_t address = 0, std::uint64_t data = 0) {
  return ::syscall(SYS_ptrace, request, thread, address, data);
}

/// Follow everything that is started; the kernel ends the tree if its tracer dies.
inline constexpr std::uint64_t kTraceTree = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
                                            PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;

inline bool is_job_control(int signal) {
  return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

}  // namespace hallmark::observe
