#include "forward.cuh"

namespace attention {
bool forward_f16_128(const Problem& problem, void* stream) { return launch_forward<cutlass::half_t, 32, 128, 128>(problem, stream); }
}  // namespace attention
