#include "forward.cuh"

namespace attention {
bool forward_f16_64(const Problem& problem, void* stream) { return launch_forward<cutlass::half_t, 64, 64, 64>(problem, stream); }
}  // namespace attention
