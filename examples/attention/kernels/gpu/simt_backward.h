// Backward with plain kernels. A block has a tile of keys, walks over the queries and writes dK and dV. dQ is
// summed on the way by atomics, or, deterministic, by a second kernel that has a tile of queries and walks over the
// keys: scores are computed twice, nothing is added in an order that changes.
#pragma once

#include "backward_steps.h"
#include "simt.h"

namespace attention_kernels {
namespace simt {

/// Four tiles of kDim columns have to fit into 48 KiB.
template <int kDim>
constexpr int kBackwardTile = kDim == 64 ? 32 : 16;

template <int kDim>
struct Pair {
  static constexpr int kTile = kBackwardTile<kDim>;
  static constexpr int kHeight = kTile / kRowsAtOnce;
  static constexpr int kWide = kTile / kLanes;
  Tile<kTile, kDim> q;
  Tile<kTile, kDim> d_o;
  Tile<kTile, kDim> k;
  Tile<kTile, kDim> v;
  Weights<kTile> p;
  Weights<kTile> ds;

  template <class Number>
  __device__ void load_queries(const Arguments& a, int item, int head, int first_query) {
    const auto at = a.query_offset(item, head) + first_query * a.query_stride();
    load<Number>(q, a.q, at, a.query_stride(), a.seqlen_q - first_query);
    load<Number>(d_o, a.d_o, at, a.query_stride(), a.seqlen_q - first_query);
  }

  template <class Number>
  __device__ void load_keys(const Arguments& a, int item, int head_kv, int first_key) {
    const auto at = a.key_offset(item, head_kv) + first_key * a.key_stride();
    load<Number>(k, a.k, at, a.key_stride(), a.seqlen_k - first_key);
    load<Number>(v, a.v, at, a.key_stride(), a.seqlen_k - first_key);
  }

  /// p and ds (without the scale). Barriers before and after are the caller's.
  template <bool kCausal>
  __device__ void compute(const Arguments& a, int item, int head, int first_query, int first_key) {
    float s[kHeight][kWide];
    float dp[kHeight][kWide];
    dot<kDim>(s, q, k);
    dot<kDim>(dp, d_o, v);
#pragma unroll
    for (int r = 0; r < kHeight; ++r) {
      const int row = own_row() + r * kRowsAtOnce;
      const int query = first_query + row;
      const int seen = query < a.seqlen_q ? key_end(a, query, kCausal) - first_key : 0;
      const auto at = a.row_offset(item, head) + query;
      const float lse_log2 = seen > 0 ? a.lse[at] * kLog2E : 0;
      const float delta = seen > 0 ? a.delta()[at] : 0;
#pragma unroll
      for (int c = 0; c < kWide; ++c) {
        const int column = own_lane() + c * kLanes;
        const float power = column < seen ? exp2f(s[r][c] * (a.scale * kLog2E) - lse_log2) : 0;
        p.at[row][column] = power;
        ds.at[row][column] = power * (dp[r][c] - delta);
      }
    }
  }
};

template <class Number, int kDim, bool kCausal, bool kDeterministic>
__global__ void __launch_bounds__(kThreads) backward_keys(const Arguments a) {
  constexpr int kTile = kBackwardTile<kDim>;
  __shared__ Pair<kDim> pair;
  const int first_key = static_cast<int>(blockIdx.x) * kTile;
  const int head_kv = blockIdx.y;
  const int item = blockIdx.z;
  Rows<kDim, Pair<kDim>::kHeight> dk;
  Rows<kDim, Pair<kDim>::kHeight> dv;
  dk.clear();
  dv.clear();
  pair.template load_keys<Number>(a, item, head_kv, first_key);
  const int first_seeing = kCausal ? larger(0, first_key - a.diagonal()) / kTile * kTile : 0;
  for (int head = head_kv * a.group(); head < (head_kv + 1) * a.group(); ++head) {
    for (int first_query = first_seeing; first_query < a.seqlen_q; first_query += kTile) {
      __syncthreads();
      pair.template load_queries<Number>(a, item, head, first_query);
      __syncthreads();
      pair.template compute<kCausal>(a, item, head, first_query, first_key);
      __syncthreads();
      dv.template add_product<true>(pair.p, pair.d_o);
      dk.template add_product<true>(pair.ds, pair.q);
      if constexpr (!kDeterministic) {
        Rows<kDim, Pair<kDim>::kHeight> dq;
        dq.clear();
        dq.template add_product<false>(pair.ds, pair.k);
        dq.add_atomically(a.dq_sum() + a.query_offset(item, head) + first_query * a.query_stride(),
                          a.query_stride(), a.seqlen_q - first_query);
      }
    }
  }
  for (int r = 0; r < Pair<kDim>::kHeight; ++r) dk.scale(r, a.scale);
  const auto at = a.key_offset(item, head_kv) + first_key * a.key_stride();
  dk.template store<Number>(a.dk, at, a.key_stride(), a.seqlen_k - first_key);
  dv.template store<Number>(a.dv, at, a.key_stride(), a.seqlen_k - first_key);
}

template <class Number, int kDim, bool kCausal>
__global__ void __launch_bounds__(kThreads) backward_queries(const Arguments a) {
  constexpr int kTile = kBackwardTile<kDim>;
  __shared__ Pair<kDim> pair;
  const int first_query = (static_cast<int>(gridDim.x) - 1 - static_cast<int>(blockIdx.x)) * kTile;
  const int head = blockIdx.y;
  const int item = blockIdx.z;
  const int queries = smaller(kTile, a.seqlen_q - first_query);
  Rows<kDim, Pair<kDim>::kHeight> dq;
  dq.clear();
  pair.template load_queries<Number>(a, item, head, first_query);
  const int end = key_end(a, first_query + queries - 1, kCausal);
  for (int first_key = 0; first_key < end; first_key += kTile) {
    __syncthreads();
    pair.template load_keys<Number>(a, item, head / a.group(), first_key);
    __syncthreads();
    pair.template compute<kCausal>(a, item, head, first_query, first_key);
    __syncthreads();
    dq.template add_product<false>(pair.ds, pair.k);
  }
  for (int r = 0; r < Pair<kDim>::kHeight; ++r) dq.scale(r, a.scale);
  dq.template store<Number>(a.dq, a.query_offset(item, head) + first_query * a.query_stride(), a.query_stride(),
                            queries);
}

template <class Number, int kDim, bool kCausal, bool kDeterministic>
Outcome run_backward(const Arguments& a) {
  const dim3 key_grid(tiles_of(a.seqlen_k, kBackwardTile<kDim>), a.heads_kv, a.batch);
  const dim3 query_grid(tiles_of(a.seqlen_q, kBackwardTile<kDim>), a.heads, a.batch);
  run_delta<Number, kDim>(a);
  if (!kDeterministic) {
    const auto error = clear_async(a.dq_sum(), a.dq_sum_bytes(), stream_of(a));
    if (error != kNoError) return outcome_of(error);
  }
  backward_keys<Number, kDim, kCausal, kDeterministic><<<key_grid, kThreads, 0, stream_of(a)>>>(a);
  if constexpr (kDeterministic) {
    backward_queries<Number, kDim, kCausal><<<query_grid, kThreads, 0, stream_of(a)>>>(a);
  } else {
    run_dq_of_sum<Number>(a);
  }
  return outcome_of(last_device_error());
}

}  // namespace simt
}  // namespace attention_kernels
