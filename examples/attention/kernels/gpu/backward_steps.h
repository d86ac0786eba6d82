// What comes before and after the kernels of backward: D, and dQ from its sum in f32.
#pragma once

#include "numbers.h"

namespace attention_kernels {

constexpr int kStepThreads = 256;
constexpr int kRowLanes = 16;  ///< of one row of delta

/// D_i = sum_c dO_ic O_ic, in the order of lse.
template <class Number, int kDim>
__global__ void __launch_bounds__(kStepThreads) delta_of_rows(const Arguments a) {
  const std::int64_t row =
      (std::int64_t{blockIdx.x} * kStepThreads + threadIdx.x) / kRowLanes;
  const std::int64_t rows = std::int64_t{a.batch} * a.heads * a.seqlen_q;
  const int lane = static_cast<int>(threadIdx.x) % kRowLanes;
  float sum = 0;
  if (row < rows) {
    const std::int64_t head = row / a.seqlen_q;
    const std::int64_t at = a.query_offset(static_cast<int>(head / a.heads), static_cast<int>(head % a.heads)) +
                            row % a.seqlen_q * a.query_stride();
    const auto* o = static_cast<const typename Number::Element*>(a.o) + at;
    const auto* d_o = static_cast<const typename Number::Element*>(a.d_o) + at;
    for (int c = lane; c < kDim; c += kRowLanes) sum += Number::widened(o[c]) * Number::widened(d_o[c]);
  }
  for (int distance = kRowLanes / 2; distance > 0; distance /= 2) {
#ifdef __HIPCC__
    sum += __shfl_xor(sum, distance);
#else
    sum += __shfl_xor_sync(0xffffffff, sum, distance);
#endif
  }
  if (row < rows && lane == 0) a.delta()[row] = sum;
}

/// dq = scale * dq_sum
template <class Number>
__global__ void __launch_bounds__(kStepThreads) dq_of_sum(const Arguments a) {
  const std::int64_t count = std::int64_t{a.batch} * a.seqlen_q * a.query_stride();
  auto* dq = static_cast<typename Number::Element*>(a.dq);
  const float* sum = a.dq_sum();
  for (std::int64_t i = std::int64_t{blockIdx.x} * kStepThreads + threadIdx.x; i < count;
       i += std::int64_t{gridDim.x} * kStepThreads)
    dq[i] = Number::rounded(a.scale * sum[i]);
}

template <class Number, int kDim>
void run_delta(const Arguments& a) {
  const std::int64_t threads = std::int64_t{a.batch} * a.heads * a.seqlen_q * kRowLanes;
  const auto blocks = static_cast<unsigned>((threads + kStepThreads - 1) / kStepThreads);
  delta_of_rows<Number, kDim><<<blocks, kStepThreads, 0, stream_of(a)>>>(a);
}

template <class Number>
void run_dq_of_sum(const Arguments& a) {
  constexpr std::int64_t kMostBlocks = 8192;  // several waves on any device
  const std::int64_t wanted =
      (std::int64_t{a.batch} * a.seqlen_q * a.query_stride() + kStepThreads - 1) / kStepThreads;
  dq_of_sum<Number>
      <<<static_cast<unsigned>(wanted < kMostBlocks ? wanted : kMostBlocks), kStepThreads, 0, stream_of(a)>>>(a);
}

}  // namespace attention_kernels
