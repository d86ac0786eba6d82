// The BPF program that picks the watched system calls, made from the syscall table.
//
// Unwatched calls are let pass by number alone, so that the kernel answers them from its bitmap without
// running the program. io_uring_setup fails with ENOSYS (rings would carry file accesses past us). Calls of
// another architecture (int 0x80, i386 programs, x32) are reported, all of them.
#pragma once

#include <linux/filter.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace hallmark::observe {

/// A page whose system calls are let pass without a report: the hybrid agent issues its own calls from there.
struct StubPage {
  std::uint64_t address = 0;  ///< page-aligned
  std::uint32_t bytes = 4096;
};

struct FilterOptions {
  std::uint32_t action = 0;      ///< SECCOMP_RET_USER_NOTIF or SECCOMP_RET_TRACE
  std::optional<StubPage> stub;  ///< calls with SyscallRule::fast issued from there pass
  /// What is reported of descriptor 0:
  enum class StdinWatch : std::uint8_t {
    unwatched,
    terminal,  ///< reads, and copies but a shell's that puts it away
    file,      ///< copies (the same), and what reads without moving the offset
    proxied,   ///< reads, copies and waits: nothing is taken from the caller's pipe before the command wants
               ///< it
    other,     ///< (a socket, a device) reads of every kind, and copies
  };
  StdinWatch stdin_watch = StdinWatch::unwatched;
  /// Let the calls pass that are fstat in all but name: newfstatat(fd, p, s, AT_EMPTY_PATH) and statx(fd, p,
  /// AT_EMPTY_PATH, ...) with fd >= 0 and no further flag but AT_STATX_*. A filter cannot read p; the C
  /// libraries pass "".
  bool skip_fstat = true;
};

std::vector<sock_filter> build_filter(const FilterOptions& options);

/// Installs it on the calling thread with seccomp(2). `flags`: SECCOMP_FILTER_FLAG_*. Async-signal-safe.
/// Returns the listener (with NEW_LISTENER) or 0, or -errno.
int install_filter(const std::vector<sock_filter>& filter, unsigned flags);

}  // namespace hallmark::observe
