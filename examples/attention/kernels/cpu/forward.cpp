// Forward on the CPU: each task is one tile of queries of one head and walks over the keys.
#include "tiles.h"

namespace attention_kernels {
namespace {

using Number = HALLMARK_AXIS_dtype;
using Element = Number::Element;
constexpr int kDim = HALLMARK_AXIS_head_dim;

/// Turns a row of raw scores into exp(scale (s - maximum)) and returns its sum; what is not seen becomes 0.
float exponentials(float* scores, int seen, float scale_log2, float maximum) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int j = 0; j < kKeys; ++j) {
    const float power = j < seen ? exp2_of((scores[j] - maximum) * scale_log2) : 0;
    scores[j] = power;
    sum += power;
  }
  return sum;
}

float largest(const float* scores, int seen) {
  float maximum = -kInfinity;
#pragma omp simd reduction(max : maximum)
  for (int j = 0; j < kKeys; ++j) {
    const float score = j < seen ? scores[j] : -kInfinity;
    maximum = score > maximum ? score : maximum;
  }
  return maximum;
}

void forward_tile(const Arguments& a, int item, int head, int first_query) {
  Tile<kQueries, kDim> q;
  Tile<kQueries, kDim> o;
  Tile<kQueries, kKeys> p;
  Tile<kKeys, kDim> keys;
  Tile<kDim, kKeys> keys_transposed;
  float maximum[kQueries];
  float sum[kQueries];
  for (int i = 0; i < kQueries; ++i) maximum[i] = -kInfinity, sum[i] = 0;

  const int queries = smaller(kQueries, a.seqlen_q - first_query);
  const auto query_at = a.query_offset(item, head) + first_query * a.query_stride();
  const auto key_at = a.key_offset(item, head / a.group());
  const float scale_log2 = a.scale * kLog2E;
  load<Number>(q, static_cast<const Element*>(a.q) + query_at, a.query_stride(), queries);
  o.clear();

  const int key_end =
      a.causal ? smaller(a.seqlen_k, first_query + queries + a.diagonal()) : a.seqlen_k;
  for (int first_key = 0; first_key < key_end; first_key += kKeys) {
    const auto at = key_at + first_key * a.key_stride();
    const int rows = smaller(kKeys, a.seqlen_k - first_key);
    load<Number>(keys, static_cast<const Element*>(a.k) + at, a.key_stride(), rows);
    transpose(keys, keys_transposed);
    p.clear();
    multiply_add(plain(q), keys_transposed, p);

    for (int i = 0; i < queries; ++i) {
      const int seen = seen_keys(a, first_query + i, first_key);
      const float before = maximum[i];
      maximum[i] = std::fmax(before, largest(p.at[i], seen));
      if (maximum[i] == -kInfinity) {  // nothing seen yet
        for (float& value : p.at[i]) value = 0;
        continue;
      }
      const float correction = before == -kInfinity ? 0 : exp2_of((before - maximum[i]) * scale_log2);
      sum[i] = sum[i] * correction + exponentials(p.at[i], seen, scale_log2, maximum[i]);
      for (float& value : o.at[i]) value *= correction;
    }

    load<Number>(keys, static_cast<const Element*>(a.v) + at, a.key_stride(), rows);
    multiply_add(plain(p), keys, o);
  }

  float* lse = a.lse + a.row_offset(item, head) + first_query;
  for (int i = 0; i < queries; ++i) {
    const float inverse = sum[i] > 0 ? 1 / sum[i] : 0;
    for (float& value : o.at[i]) value *= inverse;
    lse[i] = sum[i] > 0 ? maximum[i] * a.scale + std::log(sum[i]) : -kInfinity;
  }
  store<Number>(o, 1, static_cast<Element*>(a.o) + query_at, a.query_stride(), queries);
}

}  // namespace

Outcome HALLMARK_NAME(const Arguments& a) {
  const int tiles = tiles_of(a.seqlen_q, kQueries);
  in_parallel(a, std::int64_t{a.batch} * a.heads * tiles, [&a, tiles](std::int64_t index) {
    const auto head = index / tiles;
    // From the end: with a causal mask the last queries have the most to do.
    const int tile = tiles - 1 - static_cast<int>(index % tiles);
    forward_tile(a, static_cast<int>(head / a.heads), static_cast<int>(head % a.heads), tile * kQueries);
  });
  return {};
}

}  // namespace attention_kernels
