// Forward on tensor cores. A block of four warps has 128 queries of one head; each warp has 32 of them, so that what
// it reads of K and V serves two products. K of the next step and V of this one arrive while the other is in use.
#include "mma.h"

namespace attention_kernels {
namespace {

constexpr int kWarps = 4;
constexpr int kBlock = 32 * kWarps;
constexpr int kStrips = 2;  ///< of 16 queries, for each warp
constexpr int kQueries = 16 * kStrips * kWarps;
constexpr int kKeys = 64;

template <int kDim>
constexpr int kSharedBytes = (kQueries + 2 * kKeys) * kDim * int{sizeof(Half)};

template <class Number, int kDim, bool kCausal>
__global__ void __launch_bounds__(kBlock) forward(const Arguments a) {
  using Core = TensorCore<Number>;
  extern __shared__ __align__(128) Half memory[];
  const SharedTile<kDim> q{memory};
  const SharedTile<kDim> k{q.data + kQueries * kDim};
  const SharedTile<kDim> v{k.data + kKeys * kDim};

  const int lane = threadIdx.x % 32;
  const int warp_row = static_cast<int>(threadIdx.x) / 32 * 16 * kStrips;
  // The last queries first: with a causal mask they have the most to do.
  const int first_query = (static_cast<int>(gridDim.x) - 1 - static_cast<int>(blockIdx.x)) * kQueries;
  const int head = blockIdx.y;
  const int item = blockIdx.z;
  const int queries = smaller(kQueries, a.seqlen_q - first_query);
  const auto query_at = a.query_offset(item, head) + first_query * a.query_stride();
  const auto key_at = a.key_offset(item, head / a.group());
  const int steps = tiles_of(larger(0, key_end(a, first_query + queries - 1, kCausal)), kKeys);
  const float scale_log2 = a.scale * kLog2E;

  const auto load_keys = [&](SharedTile<kDim> tile, const void* tensor, int step) {
    load_async<kKeys, kDim, kBlock>(tile, tensor, key_at + std::int64_t{step} * kKeys * a.key_stride(),
                                    a.key_stride(), a.seqlen_k - step * kKeys);
    commit_copies();
  };

  load_async<kQueries, kDim, kBlock>(q, a.q, query_at, a.query_stride(), queries);
  if (steps > 0) load_keys(k, a.k, 0);

  float o[kStrips][kDim / 8][4] = {};
  float maximum[kStrips][2];
  float sum[kStrips][2] = {};  // this thread's part
  for (auto& pair : maximum) pair[0] = pair[1] = -INFINITY;

  for (int step = 0; step < steps; ++step) {
    const int first_key = step * kKeys;
    wait_for_copies<0>();  // K is there
    __syncthreads();       // for all; and nobody reads V any more
    load_keys(v, a.v, step);

    float s[kStrips][kKeys / 8][4] = {};
#pragma unroll
    for (int d = 0; d < kDim; d += 16) {
      std::uint32_t left[kStrips][4];
#pragma unroll
      for (int strip = 0; strip < kStrips; ++strip) read_left(left[strip], q, warp_row + strip * 16, d);
#pragma unroll
      for (int n = 0; n < kKeys / 16; ++n) {
        std::uint32_t right[4];
        read_right_transposed(right, k, n * 16, d);
#pragma unroll
        for (int strip = 0; strip < kStrips; ++strip) {
          Core::multiply_add(s[strip][2 * n], left[strip], right[0], right[1]);
          Core::multiply_add(s[strip][2 * n + 1], left[strip], right[2], right[3]);
        }
      }
    }
    wait_for_copies<0>();  // V is there
    __syncthreads();       // for all; and nobody reads K any more
    if (step + 1 < steps) load_keys(k, a.k, step + 1);

    const bool is_whole = first_key + kKeys <= key_end(a, first_query + warp_row, kCausal);
#pragma unroll
    for (int strip = 0; strip < kStrips; ++strip) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {  // rows lane / 4 and lane / 4 + 8
        if (!is_whole) {
          const int query = first_query + warp_row + strip * 16 + half * 8 + lane / 4;
          const int seen = key_end(a, query, kCausal) - first_key;
#pragma unroll
          for (int n = 0; n < kKeys / 8; ++n)
#pragma unroll
            for (int c = 0; c < 2; ++c)
              if (n * 8 + lane % 4 * 2 + c >= seen) s[strip][n][half * 2 + c] = -INFINITY;
        }
        float largest = maximum[strip][half];
#pragma unroll
        for (int n = 0; n < kKeys / 8; ++n)
          largest = fmaxf(largest, fmaxf(s[strip][n][half * 2], s[strip][n][half * 2 + 1]));
        largest = largest_of_row(largest);
        const float reference = largest == -INFINITY ? 0 : largest * scale_log2;  // no infinity minus infinity
        const float correction = exp2_of(maximum[strip][half] * scale_log2 - reference);
        maximum[strip][half] = largest;
        float part = 0;
#pragma unroll
        for (int n = 0; n < kKeys / 8; ++n)
#pragma unroll
          for (int c = 0; c < 2; ++c) {
            float& value = s[strip][n][half * 2 + c];
            value = exp2_of(value * scale_log2 - reference);
            part += value;
          }
        sum[strip][half] = sum[strip][half] * correction + part;
#pragma unroll
        for (int d = 0; d < kDim / 8; ++d) {
          o[strip][d][half * 2] *= correction;
          o[strip][d][half * 2 + 1] *= correction;
        }
      }
    }

#pragma unroll
    for (int n = 0; n < kKeys / 16; ++n) {
      std::uint32_t left[kStrips][4];
#pragma unroll
      for (int strip = 0; strip < kStrips; ++strip) as_left<Number>(left[strip], s[strip], n);
#pragma unroll
      for (int d = 0; d < kDim / 16; ++d) {
        std::uint32_t right[4];
        read_right(right, v, n * 16, d * 16);
#pragma unroll
        for (int strip = 0; strip < kStrips; ++strip) {
          Core::multiply_add(o[strip][2 * d], left[strip], right[0], right[1]);
          Core::multiply_add(o[strip][2 * d + 1], left[strip], right[2], right[3]);
        }
      }
    }
  }

  wait_for_copies<0>();
  __syncthreads();  // q arrived for all even if no step was done: its place is written now
#pragma unroll
  for (int strip = 0; strip < kStrips; ++strip) {
    float inverse[2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float whole = sum_of_row(sum[strip][half]);
      inverse[half] = whole > 0 ? 1 / whole : 0;
      const int row = warp_row + strip * 16 + half * 8 + lane / 4;
      if (lane % 4 == 0 && row < queries)
        a.lse[a.row_offset(item, head) + first_query + row] =
            whole > 0 ? maximum[strip][half] * a.scale + logf(whole) : -INFINITY;
    }
    store_rows<Number, kDim>(o[strip], inverse[0], inverse[1], q, warp_row + strip * 16, a.o, query_at,
                             a.query_stride(), queries);
  }
}

}  // namespace

Outcome HALLMARK_NAME(const Arguments& a) {
  constexpr int kDim = HALLMARK_AXIS_head_dim;
  const auto kernel = forward<HALLMARK_AXIS_dtype, kDim, HALLMARK_AXIS_causal>;
  const auto allowed = allow_shared_memory(kernel, kSharedBytes<kDim>);
  if (allowed.failure != Failure::none) return allowed;
  const dim3 grid(tiles_of(a.seqlen_q, kQueries), a.heads, a.batch);
  kernel<<<grid, kBlock, kSharedBytes<kDim>, stream_of(a)>>>(a);
  return outcome_of(cudaGetLastError());
}

}  // namespace attention_kernels
