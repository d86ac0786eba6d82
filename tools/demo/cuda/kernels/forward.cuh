// One instance of CUTLASS's fused attention.
#pragma once

#include <kernel_forward.h>

#include "attention.h"

namespace attention {

template <class Scalar, int kQueriesPerBlock, int kKeysPerBlock, int kMaxHead>
bool launch_forward(const Problem& problem, void* stream) {
  using Kernel = AttentionKernel<Scalar, cutlass::arch::Sm80, true, kQueriesPerBlock, kKeysPerBlock, kMaxHead, false, false>;
  typename Kernel::Params params;
  params.query_ptr = static_cast<Scalar*>(const_cast<void*>(problem.query));
  params.key_ptr = static_cast<Scalar*>(const_cast<void*>(problem.key));
  params.value_ptr = static_cast<Scalar*>(const_cast<void*>(problem.value));
  params.output_ptr = static_cast<Scalar*>(problem.output);
  params.scale = problem.scale;
  params.num_batches = problem.batch;
  params.num_heads = problem.heads;
  params.num_queries = problem.queries;
  params.num_keys = problem.keys;
  params.head_dim = params.head_dim_value = problem.head_size;
  if (problem.causal) params.custom_mask_type = Kernel::CausalFromTopLeft;
  params.q_strideH = params.k_strideH = params.v_strideH = problem.head_size;
  params.q_strideM = params.k_strideM = params.v_strideM = params.o_strideM = problem.heads * problem.head_size;
  params.q_strideB = std::int64_t{params.q_strideM} * problem.queries;
  params.k_strideB = params.v_strideB = std::int64_t{params.k_strideM} * problem.keys;
  if (!Kernel::check_supported(params)) return false;

  const auto function = attention_kernel_batched_impl<Kernel>;
  const int shared_bytes = sizeof(typename Kernel::SharedStorage);
  if (cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes) != cudaSuccess) return false;
  function<<<params.getBlocksGrid(), params.getThreadsGrid(), shared_bytes, static_cast<cudaStream_t>(stream)>>>(params);
  return cudaGetLastError() == cudaSuccess;
}

}  // namespace attention
