// System calls of the agent, without a C library: no errno, no thread-local storage, no cancellation.
#pragma once

#include "observe/internal/ring.h"

namespace hallmark::observe::agent {

struct Arguments {
  long rdi = 0, rsi = 0, rdx = 0, r10 = 0, r8 = 0, r9 = 0;
};

/// From the agent's own code: the supervisor sees it, if it is a watched call. This is the slow path.
inline long call_seen(long number, const Arguments& a) {
  long result = number;
  register long r10 __asm__("r10") = a.r10;
  register long r8 __asm__("r8") = a.r8;
  register long r9 __asm__("r9") = a.r9;
  __asm__ volatile("syscall"
                   : "+a"(result)
                   : "D"(a.rdi), "S"(a.rsi), "d"(a.rdx), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}

/// From the stub page, which the filter lets pass. The page must be mapped.
inline long call_unseen(long number, const Arguments& a) {
  long result = number;
  register long r10 __asm__("r10") = a.r10;
  register long r8 __asm__("r8") = a.r8;
  register long r9 __asm__("r9") = a.r9;
  // The call pushes its return address: step over the red zone, which may be in use around inline assembly.
  __asm__ volatile(
      "lea -128(%%rsp), %%rsp\n\t"
      "call *%[stub]\n\t"
      "lea 128(%%rsp), %%rsp"
      : "+a"(result)
      : "D"(a.rdi), "S"(a.rsi), "d"(a.rdx), "r"(r10), "r"(r8), "r"(r9), [stub] "b"(ring::kStubAddress)
      : "rcx", "r11", "memory");
  return result;
}

constexpr bool failed(long result) {
  return result < 0 && result >= -4095;
}

inline void copy(void* to, const void* from, std::size_t bytes) {
  __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
}

}  // namespace hallmark::observe::agent
