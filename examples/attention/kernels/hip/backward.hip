// Backward, plain: see kernels/gpu/simt_backward.h.
#include "../gpu/simt_backward.h"

namespace attention_kernels {

Outcome HALLMARK_NAME(const Arguments& a) {
  return simt::run_backward<HALLMARK_AXIS_dtype, HALLMARK_AXIS_head_dim, HALLMARK_AXIS_causal,
                            HALLMARK_AXIS_deterministic>(a);
}

}  // namespace attention_kernels
