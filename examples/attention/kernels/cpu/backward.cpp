// Backward on the CPU, in three passes: D; dK and dV, a task for each tile of keys; dQ, a task for each tile of
// queries. Scores are computed in both of the latter, so that no task adds to another's result: the same bits
// come out each time, whatever the number of threads.
#include "tiles.h"

namespace attention_kernels {
namespace {

using Number = HALLMARK_AXIS_dtype;
using Element = Number::Element;
constexpr int kDim = HALLMARK_AXIS_head_dim;

void delta_of_row(const Arguments& a, std::int64_t row) {
  const int query = static_cast<int>(row % a.seqlen_q);
  const auto head = row / a.seqlen_q;
  const auto at = a.query_offset(static_cast<int>(head / a.heads), static_cast<int>(head % a.heads)) +
                  query * a.query_stride();
  float o[kDim];
  float d_o[kDim];
  Number::load(static_cast<const Element*>(a.o) + at, o, kDim);
  Number::load(static_cast<const Element*>(a.d_o) + at, d_o, kDim);
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int c = 0; c < kDim; ++c) sum += o[c] * d_o[c];
  a.delta()[row] = sum;
}

/// All that one pair of a tile of queries and a tile of keys needs.
struct Pair {
  Tile<kQueries, kDim> q;
  Tile<kQueries, kDim> d_o;
  Tile<kKeys, kDim> k;
  Tile<kDim, kKeys> k_transposed;
  Tile<kDim, kKeys> v_transposed;
  Tile<kQueries, kKeys> p;
  Tile<kQueries, kKeys> ds;

  void load_queries(const Arguments& a, int item, int head, int first_query) {
    const auto at = a.query_offset(item, head) + first_query * a.query_stride();
    const int rows = smaller(kQueries, a.seqlen_q - first_query);
    load<Number>(q, static_cast<const Element*>(a.q) + at, a.query_stride(), rows);
    load<Number>(d_o, static_cast<const Element*>(a.d_o) + at, a.query_stride(), rows);
  }

  void load_keys(const Arguments& a, int item, int head_kv, int first_key) {
    const auto at = a.key_offset(item, head_kv) + first_key * a.key_stride();
    const int rows = smaller(kKeys, a.seqlen_k - first_key);
    load<Number>(k, static_cast<const Element*>(a.v) + at, a.key_stride(), rows);
    transpose(k, v_transposed);
    load<Number>(k, static_cast<const Element*>(a.k) + at, a.key_stride(), rows);
    transpose(k, k_transposed);
  }

  /// p and ds (without the scale) from the loaded tiles.
  void compute(const Arguments& a, int item, int head, int first_query, int first_key) {
    p.clear();
    ds.clear();
    multiply_add(plain(q), k_transposed, p);
    multiply_add(plain(d_o), v_transposed, ds);
    const float scale_log2 = a.scale * kLog2E;
    const auto row = a.row_offset(item, head) + first_query;
    for (int i = 0; i < kQueries; ++i) {
      const bool is_inside = first_query + i < a.seqlen_q;
      const int seen = is_inside ? seen_keys(a, first_query + i, first_key) : 0;
      const float lse_log2 = seen > 0 ? a.lse[row + i] * kLog2E : 0;
      const float delta = seen > 0 ? a.delta()[row + i] : 0;
#pragma omp simd
      for (int j = 0; j < kKeys; ++j) {
        // Rounding may carry the exponent a little above 0.
        const float exponent = p.at[i][j] * scale_log2 - lse_log2;
        const float probability = j < seen ? exp2_of(exponent) : 0;
        p.at[i][j] = probability;
        ds.at[i][j] = probability * (ds.at[i][j] - delta);
      }
    }
  }
};

void backward_keys(const Arguments& a, int item, int head_kv, int first_key) {
  Pair pair;
  Tile<kKeys, kDim> dk;
  Tile<kKeys, kDim> dv;
  dk.clear();
  dv.clear();
  pair.load_keys(a, item, head_kv, first_key);
  const int first_seeing = a.causal ? larger(0, first_key - a.diagonal()) / kQueries * kQueries : 0;
  for (int head = head_kv * a.group(); head < (head_kv + 1) * a.group(); ++head) {
    for (int first_query = first_seeing; first_query < a.seqlen_q; first_query += kQueries) {
      pair.load_queries(a, item, head, first_query);
      pair.compute(a, item, head, first_query, first_key);
      multiply_add(transposed(pair.p), pair.d_o, dv);
      multiply_add(transposed(pair.ds), pair.q, dk);
    }
  }
  const auto at = a.key_offset(item, head_kv) + first_key * a.key_stride();
  const int rows = smaller(kKeys, a.seqlen_k - first_key);
  store<Number>(dk, a.scale, static_cast<Element*>(a.dk) + at, a.key_stride(), rows);
  store<Number>(dv, 1, static_cast<Element*>(a.dv) + at, a.key_stride(), rows);
}

void backward_queries(const Arguments& a, int item, int head, int first_query) {
  Pair pair;
  Tile<kQueries, kDim> dq;
  dq.clear();
  pair.load_queries(a, item, head, first_query);
  const int rows = smaller(kQueries, a.seqlen_q - first_query);
  const int key_end = a.causal ? smaller(a.seqlen_k, first_query + rows + a.diagonal()) : a.seqlen_k;
  for (int first_key = 0; first_key < key_end; first_key += kKeys) {
    pair.load_keys(a, item, head / a.group(), first_key);
    pair.compute(a, item, head, first_query, first_key);
    multiply_add(plain(pair.ds), pair.k, dq);
  }
  const auto at = a.query_offset(item, head) + first_query * a.query_stride();
  store<Number>(dq, a.scale, static_cast<Element*>(a.dq) + at, a.query_stride(), rows);
}

}  // namespace

Outcome HALLMARK_NAME(const Arguments& a) {
  const auto rows = std::int64_t{a.batch} * a.heads * a.seqlen_q;
  constexpr int kRowsOfTask = 256;
  in_parallel(a, (rows + kRowsOfTask - 1) / kRowsOfTask, [&a, rows](std::int64_t index) {
    for (auto row = index * kRowsOfTask; row < rows && row < (index + 1) * kRowsOfTask; ++row) delta_of_row(a, row);
  });

  const int key_tiles = tiles_of(a.seqlen_k, kKeys);
  in_parallel(a, std::int64_t{a.batch} * a.heads_kv * key_tiles, [&a, key_tiles](std::int64_t index) {
    const auto head = index / key_tiles;
    backward_keys(a, static_cast<int>(head / a.heads_kv), static_cast<int>(head % a.heads_kv),
                  static_cast<int>(index % key_tiles) * kKeys);
  });

  const int query_tiles = tiles_of(a.seqlen_q, kQueries);
  in_parallel(a, std::int64_t{a.batch} * a.heads * query_tiles, [&a, query_tiles](std::int64_t index) {
    const auto head = index / query_tiles;
    const int tile = query_tiles - 1 - static_cast<int>(index % query_tiles);
    backward_queries(a, static_cast<int>(head / a.heads), static_cast<int>(head % a.heads), tile * kQueries);
  });
  return {};
}

}  // namespace attention_kernels
