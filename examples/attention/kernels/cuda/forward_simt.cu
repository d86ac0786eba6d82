// Forward, plain: see kernels/gpu/simt_forward.h.
#include "../gpu/simt_forward.h"

namespace attention_kernels {

Outcome HALLMARK_NAME(const Arguments& a) {
  return simt::run_forward<HALLMARK_AXIS_dtype, HALLMARK_AXIS_head_dim, HALLMARK_AXIS_causal>(a);
}

}  // namespace attention_kernels
