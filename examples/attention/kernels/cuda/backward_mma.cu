// Backward on tensor cores.
//
// backward_keys: a block of eight warps has 128 keys, walks over the queries that see them, 64 at a time, and writes
// dK and dV; for GQA over those of all heads that share the keys. It computes S^T = K Q^T and dP^T = V dO^T, so that
// P^T and dS^T are left factors as they are. dQ is a sum over blocks: by atomics into f32, or, deterministic, by
// backward_queries, which has 128 queries and walks over the keys. That costs two of seven products again, but no
// order of additions changes and no partial sums are kept.
#include "../gpu/backward_steps.h"
#include "mma.h"

namespace attention_kernels {
namespace {

constexpr int kWarps = 8;
constexpr int kBlock = 32 * kWarps;
constexpr int kOwn = 16 * kWarps;  ///< rows of a block: keys or queries
constexpr int kOther = 64;         ///< rows of one step: queries or keys

template <int kDim, bool kDeterministic>
constexpr int kKeysSharedBytes = (2 * kOwn * kDim + 2 * 2 * kOther * kDim + (kDeterministic ? 0 : kOwn * kOther)) *
                                     int{sizeof(Half)} +
                                 2 * 2 * kOther * int{sizeof(float)};

template <int kDim>
constexpr int kQueriesSharedBytes = (2 * kOwn * kDim + 2 * 2 * kOther * kDim) * int{sizeof(Half)};

/// result[strip of 16 rows][columns] = own (rows from `row` on) other^T, over kDim.
template <class Number, int kDim>
__device__ void scores(float (&result)[kOther / 8][4], SharedTile<kDim> own, int row, SharedTile<kDim> other) {
  using Core = TensorCore<Number>;
#pragma unroll
  for (auto& four : result) four[0] = four[1] = four[2] = four[3] = 0;
#pragma unroll
  for (int d = 0; d < kDim; d += 16) {
    std::uint32_t left[4];
    read_left(left, own, row, d);
#pragma unroll
    for (int n = 0; n < kOther / 16; ++n) {
      std::uint32_t right[4];
      read_right_transposed(right, other, n * 16, d);
      Core::multiply_add(result[2 * n], left, right[0], right[1]);
      Core::multiply_add(result[2 * n + 1], left, right[2], right[3]);
    }
  }
}

/// sum += weights (as they lie in registers) other.
template <class Number, int kDim>
__device__ void add_weighted(float (&sum)[kDim / 8][4], const float (&weights)[kOther / 8][4],
                             SharedTile<kDim> other) {
  using Core = TensorCore<Number>;
#pragma unroll
  for (int n = 0; n < kOther / 16; ++n) {
    std::uint32_t left[4];
    as_left<Number>(left, weights, n);
#pragma unroll
    for (int d = 0; d < kDim / 16; ++d) {
      std::uint32_t right[4];
      read_right(right, other, n * 16, d * 16);
      Core::multiply_add(sum[2 * d], left, right[0], right[1]);
      Core::multiply_add(sum[2 * d + 1], left, right[2], right[3]);
    }
  }
}

/// A row's LSE times log2(e); where there is no row, or an empty one, infinity: then P becomes 2^-infinity = 0.
__device__ float lse_log2_of(const Arguments& a, std::int64_t rows_at, int query) {
  const float lse = query < a.seqlen_q ? a.lse[rows_at + query] : -INFINITY;
  return lse == -INFINITY ? INFINITY : lse * kLog2E;
}

[[maybe_unused]] __device__ void add_pair_atomically(float* to, float first, float second) {
#if __CUDA_ARCH__ >= 900
  atomicAdd(reinterpret_cast<float2*>(to), float2{first, second});
#else
  atomicAdd(to, first);
  atomicAdd(to + 1, second);
#endif
}

/// dQ of 64 queries += dS K over this block's keys: eight warps as four strips of queries by two halves of kDim.
template <class Number, int kDim>
__device__ void add_dq(const Arguments& a, SharedTile<kOther> ds, SharedTile<kDim> k, std::int64_t query_at,
                       int queries) {
  using Core = TensorCore<Number>;
  const int lane = threadIdx.x % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int strip = warp % 4 * 16;
  const int first_column = warp / 4 * (kDim / 2);
  float dq[kDim / 16][4] = {};
#pragma unroll
  for (int key = 0; key < kOwn; key += 16) {
    std::uint32_t left[4];
    read_left_transposed(left, ds, key, strip);
#pragma unroll
    for (int d = 0; d < kDim / 32; ++d) {
      std::uint32_t right[4];
      read_right(right, k, key, first_column + d * 16);
      Core::multiply_add(dq[2 * d], left, right[0], right[1]);
      Core::multiply_add(dq[2 * d + 1], left, right[2], right[3]);
    }
  }
  float* sum = a.dq_sum() + query_at;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = strip + half * 8 + lane / 4;
    if (row >= queries) continue;
#pragma unroll
    for (int d = 0; d < kDim / 16; ++d)
      add_pair_atomically(sum + row * a.query_stride() + first_column + d * 8 + lane % 4 * 2, dq[d][half * 2],
                          dq[d][half * 2 + 1]);
  }
}

template <class Number, int kDim, bool kCausal, bool kDeterministic>
__global__ void __launch_bounds__(kBlock, 1) backward_keys(const Arguments a) {
  using Core = TensorCore<Number>;
  extern __shared__ __align__(128) Half memory[];
  const SharedTile<kDim> k{memory};
  const SharedTile<kDim> v{k.data + kOwn * kDim};
  Half* const stages = v.data + kOwn * kDim;  // two of Q and dO
  const auto q_of = [&](int stage) { return SharedTile<kDim>{stages + stage * 2 * kOther * kDim}; };
  const auto d_o_of = [&](int stage) { return SharedTile<kDim>{stages + (stage * 2 + 1) * kOther * kDim}; };
  const SharedTile<kOther> ds{stages + 4 * kOther * kDim};  // keys by queries
  float* const lse_log2 = reinterpret_cast<float*>(ds.data + (kDeterministic ? 0 : kOwn * kOther));
  float* const delta = lse_log2 + 2 * kOther;  // both: two stages

  const int lane = threadIdx.x % 32;
  const int warp_row = static_cast<int>(threadIdx.x) / 32 * 16;
  const int first_key = static_cast<int>(blockIdx.x) * kOwn;
  const int head_kv = blockIdx.y;
  const int item = blockIdx.z;
  const int keys = smaller(kOwn, a.seqlen_k - first_key);
  const auto key_at = a.key_offset(item, head_kv) + first_key * a.key_stride();

  const int first_tile = kCausal ? larger(0, first_key - a.diagonal()) / kOther : 0;
  const int tiles = larger(0, tiles_of(a.seqlen_q, kOther) - first_tile);
  const int steps = tiles * a.group();
  const auto head_of = [&](int step) { return head_kv * a.group() + step / tiles; };
  const auto query_of = [&](int step) { return (first_tile + step % tiles) * kOther; };

  const auto load_step = [&](int step) {
    const int stage = step % 2;
    const int head = head_of(step);
    const int first_query = query_of(step);
    const auto at = a.query_offset(item, head) + first_query * a.query_stride();
    load_async<kOther, kDim, kBlock>(q_of(stage), a.q, at, a.query_stride(), a.seqlen_q - first_query);
    load_async<kOther, kDim, kBlock>(d_o_of(stage), a.d_o, at, a.query_stride(), a.seqlen_q - first_query);
    commit_copies();
    if (threadIdx.x < kOther) {
      const int query = first_query + static_cast<int>(threadIdx.x);
      const auto rows_at = a.row_offset(item, head);
      lse_log2[stage * kOther + threadIdx.x] = lse_log2_of(a, rows_at, query);
      delta[stage * kOther + threadIdx.x] = query < a.seqlen_q ? a.delta()[rows_at + query] : 0;
    }
  };

  load_async<kOwn, kDim, kBlock>(k, a.k, key_at, a.key_stride(), keys);
  load_async<kOwn, kDim, kBlock>(v, a.v, key_at, a.key_stride(), keys);
  if (steps > 0) load_step(0);

  float dk[kDim / 8][4] = {};
  float dv[kDim / 8][4] = {};
  const float scale_log2 = a.scale * kLog2E;
  for (int step = 0; step < steps; ++step) {
    const int stage = step % 2;
    const int first_query = query_of(step);
    const SharedTile<kDim> q = q_of(stage);
    const SharedTile<kDim> d_o = d_o_of(stage);
    wait_for_copies<0>();
    __syncthreads();  // this stage is there; nobody uses the other, nor ds, any more
    if (step + 1 < steps) load_step(step + 1);

    // Transposed: rows are keys, columns are queries.
    float p[kOther / 8][4];
    scores<Number>(p, k, warp_row, q);
    const bool is_whole =
        first_key + warp_row + 16 <= key_end(a, first_query, kCausal);  // the first query sees the fewest keys
#pragma unroll
    for (int n = 0; n < kOther / 8; ++n) {
      const int column = n * 8 + lane % 4 * 2;
      const float2 lse = *reinterpret_cast<const float2*>(&lse_log2[stage * kOther + column]);
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        p[n][c] = exp2_of(p[n][c] * scale_log2 - (c % 2 == 0 ? lse.x : lse.y));
        if (!is_whole) {
          const int key = first_key + warp_row + lane / 4 + c / 2 * 8;
          if (key >= key_end(a, first_query + column + c % 2, kCausal)) p[n][c] = 0;
        }
      }
    }
    add_weighted<Number>(dv, p, d_o);

    float dp[kOther / 8][4];
    scores<Number>(dp, v, warp_row, d_o);
#pragma unroll
    for (int n = 0; n < kOther / 8; ++n) {
      const float2 d = *reinterpret_cast<const float2*>(&delta[stage * kOther + n * 8 + lane % 4 * 2]);
#pragma unroll
      for (int c = 0; c < 4; ++c) p[n][c] *= dp[n][c] - (c % 2 == 0 ? d.x : d.y);  // dS
    }
    if constexpr (!kDeterministic) {
#pragma unroll
      for (int n = 0; n < kOther / 8; ++n) {
        const int column = n * 8 + lane % 4 * 2;
        *reinterpret_cast<std::uint32_t*>(ds.element(warp_row + lane / 4, column)) = Core::packed(p[n][0], p[n][1]);
        *reinterpret_cast<std::uint32_t*>(ds.element(warp_row + lane / 4 + 8, column)) =
            Core::packed(p[n][2], p[n][3]);
      }
    }
    add_weighted<Number>(dk, p, q);
    if constexpr (!kDeterministic) {
      __syncthreads();  // ds of all warps
      add_dq<Number>(a, ds, k, a.query_offset(item, head_of(step)) + first_query * a.query_stride(),
                     a.seqlen_q - first_query);
    }
  }

  wait_for_copies<0>();
  __syncthreads();  // nobody reads K and V any more: their places are written now
  store_rows<Number, kDim>(dk, a.scale, a.scale, k, warp_row, a.dk, key_at, a.key_stride(), keys);
  store_rows<Number, kDim>(dv, 1, 1, v, warp_row, a.dv, key_at, a.key_stride(), keys);
}

template <class Number, int kDim, bool kCausal>
__global__ void __launch_bounds__(kBlock, 1) backward_queries(const Arguments a) {
  extern __shared__ __align__(128) Half memory[];
  const SharedTile<kDim> q{memory};
  const SharedTile<kDim> d_o{q.data + kOwn * kDim};
  Half* const stages = d_o.data + kOwn * kDim;  // two of K and V
  const auto k_of = [&](int stage) { return SharedTile<kDim>{stages + stage * 2 * kOther * kDim}; };
  const auto v_of = [&](int stage) { return SharedTile<kDim>{stages + (stage * 2 + 1) * kOther * kDim}; };

  const int lane = threadIdx.x % 32;
  const int warp_row = static_cast<int>(threadIdx.x) / 32 * 16;
  const int first_query = (static_cast<int>(gridDim.x) - 1 - static_cast<int>(blockIdx.x)) * kOwn;
  const int head = blockIdx.y;
  const int item = blockIdx.z;
  const int queries = smaller(kOwn, a.seqlen_q - first_query);
  const auto query_at = a.query_offset(item, head) + first_query * a.query_stride();
  const auto key_at = a.key_offset(item, head / a.group());
  const auto rows_at = a.row_offset(item, head);
  const int steps = tiles_of(larger(0, key_end(a, first_query + queries - 1, kCausal)), kOther);

  const auto load_step = [&](int step) {
    const auto at = key_at + std::int64_t{step} * kOther * a.key_stride();
    const int rows = a.seqlen_k - step * kOther;
    load_async<kOther, kDim, kBlock>(k_of(step % 2), a.k, at, a.key_stride(), rows);
    load_async<kOther, kDim, kBlock>(v_of(step % 2), a.v, at, a.key_stride(), rows);
    commit_copies();
  };

  load_async<kOwn, kDim, kBlock>(q, a.q, query_at, a.query_stride(), queries);
  load_async<kOwn, kDim, kBlock>(d_o, a.d_o, query_at, a.query_stride(), queries);
  if (steps > 0) load_step(0);

  float lse_log2[2];
  float delta[2];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int query = first_query + warp_row + half * 8 + lane / 4;
    lse_log2[half] = lse_log2_of(a, rows_at, query);
    delta[half] = query < a.seqlen_q ? a.delta()[rows_at + query] : 0;
  }

  float dq[kDim / 8][4] = {};
  const float scale_log2 = a.scale * kLog2E;
  for (int step = 0; step < steps; ++step) {
    const int first_key = step * kOther;
    wait_for_copies<0>();
    __syncthreads();  // this stage is there; nobody uses the other any more
    if (step + 1 < steps) load_step(step + 1);

    float p[kOther / 8][4];
    float dp[kOther / 8][4];
    scores<Number>(p, q, warp_row, k_of(step % 2));
    scores<Number>(dp, d_o, warp_row, v_of(step % 2));
    const bool is_whole = first_key + kOther <= key_end(a, first_query + warp_row, kCausal);
#pragma unroll
    for (int n = 0; n < kOther / 8; ++n)
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        float power = exp2_of(p[n][c] * scale_log2 - lse_log2[c / 2]);
        if (!is_whole) {
          const int query = first_query + warp_row + c / 2 * 8 + lane / 4;
          if (first_key + n * 8 + lane % 4 * 2 + c % 2 >= key_end(a, query, kCausal)) power = 0;
        }
        p[n][c] = power * (dp[n][c] - delta[c / 2]);  // dS
      }
    add_weighted<Number>(dq, p, k_of(step % 2));
  }

  wait_for_copies<0>();
  __syncthreads();  // q arrived for all even if no step was done: its place is written now
  store_rows<Number, kDim>(dq, a.scale, a.scale, q, warp_row, a.dq, query_at, a.query_stride(), queries);
}

template <class Number, int kDim, bool kCausal, bool kDeterministic>
Outcome run(const Arguments& a) {
  const auto keys_kernel = backward_keys<Number, kDim, kCausal, kDeterministic>;
  constexpr int kKeysBytes = kKeysSharedBytes<kDim, kDeterministic>;
  if (const auto allowed = allow_shared_memory(keys_kernel, kKeysBytes); allowed.failure != Failure::none)
    return allowed;
  const dim3 keys_grid(tiles_of(a.seqlen_k, kOwn), a.heads_kv, a.batch);

  run_delta<Number, kDim>(a);
  if constexpr (kDeterministic) {
    const auto queries_kernel = backward_queries<Number, kDim, kCausal>;
    constexpr int kQueriesBytes = kQueriesSharedBytes<kDim>;
    if (const auto allowed = allow_shared_memory(queries_kernel, kQueriesBytes); allowed.failure != Failure::none)
      return allowed;
    const dim3 queries_grid(tiles_of(a.seqlen_q, kOwn), a.heads, a.batch);
    keys_kernel<<<keys_grid, kBlock, kKeysBytes, stream_of(a)>>>(a);
    queries_kernel<<<queries_grid, kBlock, kQueriesBytes, stream_of(a)>>>(a);
  } else {
    if (const auto error = clear_async(a.dq_sum(), a.dq_sum_bytes(), stream_of(a)); error != kNoError)
      return outcome_of(error);
    keys_kernel<<<keys_grid, kBlock, kKeysBytes, stream_of(a)>>>(a);
    run_dq_of_sum<Number>(a);
  }
  return outcome_of(cudaGetLastError());
}

}  // namespace

Outcome HALLMARK_NAME(const Arguments& a) {
  return run<HALLMARK_AXIS_dtype, HALLMARK_AXIS_head_dim, HALLMARK_AXIS_causal, HALLMARK_AXIS_deterministic>(a);
}

}  // namespace attention_kernels
