#include "forward.cuh"

namespace attention {
bool forward_bf16_64(const Problem& problem, void* stream) { return launch_forward<cutlass::bfloat16_t, 64, 64, 64>(problem, stream); }
}  // namespace attention
