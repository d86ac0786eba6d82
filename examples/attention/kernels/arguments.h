// What the dispatcher hands to a kernel: the one interface between src/ and all of kernels/.
//
// No public header is included here: a change of the API or of its namespace compiles no kernel anew.
#pragma once

#include <cstddef>
#include <cstdint>

namespace attention_kernels {

enum class Failure : int { none, no_device, shared_memory, device };

/// How a kernel's start went. `detail` lives for ever.
struct Outcome {
  Failure failure = Failure::none;
  const char* detail = nullptr;
  std::size_t needed = 0;     ///< shared_memory: bytes
  std::size_t available = 0;  ///< shared_memory: bytes
};

/// Filled by the kernels `device_*`.
struct DeviceFacts {
  int major = 0;
  int minor = 0;
  char arch[64] = {};  ///< "sm_90", "gfx90a"
};

/// Runs `body(context, index)` for each index below `count`, on at most `threads` threads.
using ParallelFor = void (*)(std::int64_t count, int threads, void (*body)(void*, std::int64_t), void* context);

/// Tensors and sizes as include/attention/attention.h has them; checked by the dispatcher.
struct Arguments {
  int batch;
  int heads;
  int heads_kv;
  int seqlen_q;
  int seqlen_k;
  int head_dim;
  bool causal;
  float scale;

  const void* q;
  const void* k;
  const void* v;
  void* o;     // backward: only read
  float* lse;  // backward: only read
  const void* d_o;
  void* dq;
  void* dk;
  void* dv;

  void* workspace;
  void* stream;
  int threads;
  ParallelFor parallel_for;
  DeviceFacts* device;

#if defined(__CUDACC__) || defined(__HIPCC__)
#define ATTENTION_BOTH __host__ __device__
#else
#define ATTENTION_BOTH
#endif
  ATTENTION_BOTH int group() const { return heads / heads_kv; }
  /// Query i sees keys up to i + diagonal() if causal.
  ATTENTION_BOTH int diagonal() const { return seqlen_k - seqlen_q; }
  ATTENTION_BOTH std::int64_t query_stride() const { return std::int64_t{heads} * head_dim; }
  ATTENTION_BOTH std::int64_t key_stride() const { return std::int64_t{heads_kv} * head_dim; }
  /// Of the first query of a head: in elements of q, o, dq, d_o.
  ATTENTION_BOTH std::int64_t query_offset(int item, int head) const {
    return (std::int64_t{item} * seqlen_q * heads + head) * head_dim;
  }
  /// Of the first key of a KV head: in elements of k, v, dk, dv.
  ATTENTION_BOTH std::int64_t key_offset(int item, int head_kv) const {
    return (std::int64_t{item} * seqlen_k * heads_kv + head_kv) * head_dim;
  }
  /// Of the first query of a head: in elements of lse and of D.
  ATTENTION_BOTH std::int64_t row_offset(int item, int head) const {
    return (std::int64_t{item} * heads + head) * seqlen_q;
  }

  // The workspace of backward: D, then, where dQ is summed by atomics, dQ in f32.
  static constexpr std::size_t kAlignment = 256;
  ATTENTION_BOTH std::size_t delta_bytes() const {
    const auto bytes = std::size_t(batch) * heads * seqlen_q * sizeof(float);
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
  }
  ATTENTION_BOTH std::size_t dq_sum_bytes() const {
    return std::size_t(batch) * seqlen_q * heads * head_dim * sizeof(float);
  }
  ATTENTION_BOTH float* delta() const { return static_cast<float*>(workspace); }
  ATTENTION_BOTH float* dq_sum() const {
    return reinterpret_cast<float*>(static_cast<char*>(workspace) + delta_bytes());
  }
};

using Kernel = Outcome(const Arguments&);

/// The manifest's option bf16_rounding: its value is one of these names.
enum class Bf16Rounding { rne, truncate };
#ifndef ATTENTION_BF16_ROUNDING
#define ATTENTION_BF16_ROUNDING rne
#endif
constexpr Bf16Rounding kBf16Rounding = Bf16Rounding::ATTENTION_BF16_ROUNDING;

}  // namespace attention_kernels
