// Forward with plain kernels: a block has 32 queries of one head and walks over the keys.
#pragma once

#include "simt.h"

namespace attention_kernels {
namespace simt {

constexpr int kTile = 32;  ///< queries, and keys at a time
constexpr int kHeight = kTile / kRowsAtOnce;
constexpr int kWide = kTile / kLanes;

template <class Number, int kDim, bool kCausal>
__global__ void __launch_bounds__(kThreads) forward(const Arguments a) {
  __shared__ Tile<kTile, kDim> q;
  __shared__ Tile<kTile, kDim> keys;  // K, then V
  __shared__ Weights<kTile> p;

  const int first_query = (static_cast<int>(gridDim.x) - 1 - static_cast<int>(blockIdx.x)) * kTile;
  const int head = blockIdx.y;
  const int item = blockIdx.z;
  const int queries = smaller(kTile, a.seqlen_q - first_query);
  const auto query_at = a.query_offset(item, head) + first_query * a.query_stride();
  const auto key_at = a.key_offset(item, head / a.group());
  const float scale_log2 = a.scale * kLog2E;
  load<Number>(q, a.q, query_at, a.query_stride(), queries);

  Rows<kDim, kHeight> o;
  o.clear();
  float maximum[kHeight];
  float sum[kHeight];
  for (int r = 0; r < kHeight; ++r) maximum[r] = -INFINITY, sum[r] = 0;

  const int end = key_end(a, first_query + queries - 1, kCausal);
  for (int first_key = 0; first_key < end; first_key += kTile) {
    const auto at = key_at + first_key * a.key_stride();
    __syncthreads();
    load<Number>(keys, a.k, at, a.key_stride(), a.seqlen_k - first_key);
    __syncthreads();

    float s[kHeight][kWide];
    dot<kDim>(s, q, keys);
#pragma unroll
    for (int r = 0; r < kHeight; ++r) {
      const int row = own_row() + r * kRowsAtOnce;
      const int seen = key_end(a, first_query + row, kCausal) - first_key;
      float largest = maximum[r];
#pragma unroll
      for (int c = 0; c < kWide; ++c)
        if (own_lane() + c * kLanes < seen) largest = fmaxf(largest, s[r][c]);
#pragma unroll
      for (int distance = kLanes / 2; distance > 0; distance /= 2)
        largest = fmaxf(largest, lane_at(largest, distance));
      const float reference = largest == -INFINITY ? 0 : largest;  // no infinity minus infinity
      const float correction = exp2f((maximum[r] - reference) * scale_log2);
      maximum[r] = largest;
      sum[r] *= correction;
      o.scale(r, correction);
#pragma unroll
      for (int c = 0; c < kWide; ++c) {
        const int column = own_lane() + c * kLanes;
        const float power = column < seen ? exp2f((s[r][c] - reference) * scale_log2) : 0;
        sum[r] += power;  // this lane's part
        p.at[row][column] = power;
      }
    }
    __syncthreads();
    load<Number>(keys, a.v, at, a.key_stride(), a.seqlen_k - first_key);
    __syncthreads();
    o.template add_product<false>(p, keys);
  }

#pragma unroll
  for (int r = 0; r < kHeight; ++r) {
#pragma unroll
    for (int distance = kLanes / 2; distance > 0; distance /= 2) sum[r] += lane_at(sum[r], distance);
    o.scale(r, sum[r] > 0 ? 1 / sum[r] : 0);
    const int row = own_row() + r * kRowsAtOnce;
    if (own_lane() == 0 && row < queries)
      a.lse[a.row_offset(item, head) + first_query + row] =
          sum[r] > 0 ? maximum[r] * a.scale + logf(sum[r]) : -INFINITY;
  }
  o.template store<Number>(a.o, query_at, a.query_stride(), queries);
}

template <class Number, int kDim, bool kCausal>
Outcome run_forward(const Arguments& a) {
  const dim3 grid(tiles_of(a.seqlen_q, kTile), a.heads, a.batch);
  forward<Number, kDim, kCausal><<<grid, kThreads, 0, stream_of(a)>>>(a);
  return outcome_of(last_device_error());
}

}  // namespace simt
}  // namespace attention_kernels
