#include <cutlass/epilogue/thread/linear_combination_gelu.h>

#include "projection.cuh"

namespace attention {
bool project_gelu(const Projection& projection, void* stream) {
  return launch_projection<cutlass::epilogue::thread::LinearCombinationGELU<cutlass::half_t, 8, float, float>>(projection,
                                                                                                              stream);
}
}  // namespace attention
