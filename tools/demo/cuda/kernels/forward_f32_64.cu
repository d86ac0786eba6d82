#include "forward.cuh"

namespace attention {
bool forward_f32_64(const Problem& problem, void* stream) { return launch_forward<float, 64, 64, 64>(problem, stream); }
}  // namespace attention
