// One tensor-core GEMM with an epilogue of choice.
#pragma once

#include <cutlass/gemm/device/gemm.h>

#include "attention.h"

namespace attention {

template <class Epilogue>
bool launch_projection(const Projection& projection, void* stream) {
  using Half = cutlass::half_t;
  using Gemm = cutlass::gemm::device::Gemm<
      Half, cutlass::layout::RowMajor, Half, cutlass::layout::ColumnMajor, Half, cutlass::layout::RowMajor, float,
      cutlass::arch::OpClassTensorOp, cutlass::arch::Sm80, cutlass::gemm::GemmShape<128, 128, 32>,
      cutlass::gemm::GemmShape<64, 64, 32>, cutlass::gemm::GemmShape<16, 8, 16>, Epilogue,
      cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<>, 3>;
  auto* output = static_cast<Half*>(projection.output);
  typename Gemm::Arguments arguments({projection.rows, projection.columns, projection.inner},
                                     {static_cast<const Half*>(projection.input), projection.inner},
                                     {static_cast<const Half*>(projection.weight), projection.inner},
                                     {output, projection.columns}, {output, projection.columns}, {1.0f, 0.0f});
  return Gemm()(arguments, nullptr, static_cast<cudaStream_t>(stream)) == cutlass::Status::kSuccess;
}

}  // namespace attention
