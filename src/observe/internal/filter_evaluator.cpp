#include "observe/internal/filter_evaluator.h"

#include <cstring>

namespace hallmark::observe {

std::uint32_t evaluate_filter(std::span<const sock_filter> filter, const seccomp_data& call) {
  std::uint32_t accumulator = 0;
  for (std::size_t at = 0; at < filter.size(); ++at) {
    const sock_filter& step = filter[at];
    switch (step.code) {
      case BPF_LD | BPF_W | BPF_ABS:
        if (step.k > sizeof(call) - sizeof(accumulator)) return SECCOMP_RET_KILL_PROCESS;
        std::memcpy(&accumulator, reinterpret_cast<const char*>(&call) + step.k, sizeof(accumulator));
        break;
      case BPF_ALU | BPF_AND | BPF_K:
        accumulator &= step.k;
        break;
      case BPF_JMP | BPF_JA:
        at += step.k;
        break;
      case BPF_JMP | BPF_JEQ | BPF_K:
        at += accumulator == step.k ? step.jt : step.jf;
        break;
      case BPF_JMP | BPF_JGE | BPF_K:
        at += accumulator >= step.k ? step.jt : step.jf;
        break;
      case BPF_JMP | BPF_JGT | BPF_K:
        at += accumulator > step.k ? step.jt : step.jf;
        break;
      case BPF_JMP | BPF_JSET | BPF_K:
        at += (accumulator & step.k) != 0 ? step.jt : step.jf;
        break;
      case BPF_RET | BPF_K:
        return step.k;
      default:
        return SECCOMP_RET_KILL_PROCESS;
    }
  }
  return SECCOMP_RET_KILL_PROCESS;
}

}  // namespace hallmark::observe
