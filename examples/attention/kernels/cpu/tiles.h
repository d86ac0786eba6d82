// Small matrices in f32 and the one product that forward and backward are made of. CPU.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "numbers.h"

namespace attention_kernels {

#if defined(__AVX512F__)
constexpr int kLanes = 16;
#elif defined(__AVX__)
constexpr int kLanes = 8;
#else
constexpr int kLanes = 4;
#endif
typedef float Lanes __attribute__((vector_size(kLanes * sizeof(float))));

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kLog2E = 1.44269504088896340736F;
constexpr int kQueries = 32;  ///< rows of a tile of queries
constexpr int kKeys = 64;     ///< rows of a tile of keys

/// Row-major, f32.
template <int kRows, int kColumns>
struct Tile {
  static constexpr int kWidth = kColumns;
  alignas(64) float at[kRows][kColumns];

  void clear() {
    for (auto& row : at)
      for (float& value : row) value = 0;
  }
};

/// `rows` rows of a tensor; the rest of the tile becomes 0.
template <class Number, int kRows, int kColumns>
void load(Tile<kRows, kColumns>& tile, const typename Number::Element* from, std::int64_t stride, int rows) {
  for (int row = 0; row < kRows; ++row) {
    if (row < rows) {
      Number::load(from + row * stride, tile.at[row], kColumns);
    } else {
      for (float& value : tile.at[row]) value = 0;
    }
  }
}

template <class Number, int kRows, int kColumns>
void store(Tile<kRows, kColumns>& tile, float factor, typename Number::Element* to, std::int64_t stride, int rows) {
  for (int row = 0; row < rows; ++row) {
    for (float& value : tile.at[row]) value *= factor;
    Number::store(tile.at[row], to + row * stride, kColumns);
  }
}

template <int kRows, int kColumns>
void transpose(const Tile<kRows, kColumns>& from, Tile<kColumns, kRows>& to) {
  for (int row = 0; row < kRows; ++row)
    for (int column = 0; column < kColumns; ++column) to.at[column][row] = from.at[row][column];
}

/// A matrix that is read one value at a time, so that its transpose is only another pair of strides.
struct Factor {
  const float* data;
  int row_stride;
  int column_stride;
};

template <int kRows, int kColumns>
Factor plain(const Tile<kRows, kColumns>& tile) {
  return {&tile.at[0][0], kColumns, 1};
}
template <int kRows, int kColumns>
Factor transposed(const Tile<kRows, kColumns>& tile) {
  return {&tile.at[0][0], 1, kColumns};
}

/// c += a b, with a of kRows x kDepth. Four rows by four vectors of c stay in registers (SSE has room for two).
template <int kDepth, int kRows, int kColumns>
void multiply_add(const Factor& a, const Tile<kDepth, kColumns>& b, Tile<kRows, kColumns>& c) {
  constexpr int kHeight = 4;
  constexpr int kWide = kLanes == 4 ? 2 : kLanes == 8 ? 2 : 4;
  constexpr int kStep = kWide * kLanes;
  static_assert(kRows % kHeight == 0 && kColumns % kStep == 0);
  for (int column = 0; column < kColumns; column += kStep) {
    for (int row = 0; row < kRows; row += kHeight) {
      Lanes sum[kHeight][kWide];
      for (int r = 0; r < kHeight; ++r)
        for (int w = 0; w < kWide; ++w)
          sum[r][w] = *reinterpret_cast<const Lanes*>(&c.at[row + r][column + w * kLanes]);
      const float* value = a.data + row * a.row_stride;
      for (int k = 0; k < kDepth; ++k, value += a.column_stride) {
        Lanes right[kWide];
        for (int w = 0; w < kWide; ++w)
          right[w] = *reinterpret_cast<const Lanes*>(&b.at[k][column + w * kLanes]);
        for (int r = 0; r < kHeight; ++r) {
          const float left = value[r * a.row_stride];
          for (int w = 0; w < kWide; ++w) sum[r][w] += left * right[w];
        }
      }
      for (int r = 0; r < kHeight; ++r)
        for (int w = 0; w < kWide; ++w)
          *reinterpret_cast<Lanes*>(&c.at[row + r][column + w * kLanes]) = sum[r][w];
    }
  }
}

/// 2^x with a relative error below 2^-22, 0 for x < -126; for x <= 0. No branches, so that loops of it vectorize.
inline float exp2_of(float x) {
  constexpr float kToInteger = 0x1.8p23F;  // adding it rounds to an integer, left in the low bits
  const float clamped = x > -127 ? x : -127;
  const float shifted = clamped + kToInteger;
  const float f = clamped - (shifted - kToInteger);  // in [-0.5, 0.5]
  // Taylor's series of e^(f ln 2) to the sixth power; the rest is below 1.3e-7 (7 terms: ln2^7/7!/2^7).
  float power = 1.54035304e-4F;
  power = power * f + 1.33335581e-3F;
  power = power * f + 9.61812911e-3F;
  power = power * f + 5.55041087e-2F;
  power = power * f + 2.40226507e-1F;
  power = power * f + 6.93147181e-1F;
  power = power * f + 1;
  const float result = float_of(bits_of(power) + (bits_of(shifted) << 23));
  return x < -126 ? 0 : result;
}

/// How many of the keys from `first_key` on query `query` sees; in [0, kKeys].
inline int seen_keys(const Arguments& a, int query, int first_key) {
  int end = a.seqlen_k;
  if (a.causal && query + a.diagonal() + 1 < end) end = query + a.diagonal() + 1;
  const int seen = end - first_key;
  return seen < 0 ? 0 : seen > kKeys ? kKeys : seen;
}

inline int smaller(int one, int other) { return one < other ? one : other; }
inline int larger(int one, int other) { return one > other ? one : other; }
inline int tiles_of(int length, int tile) { return (length + tile - 1) / tile; }

/// Calls body(index) for each index below count, on the threads that the caller allows.
template <class Body>
void in_parallel(const Arguments& a, std::int64_t count, Body body) {
  a.parallel_for(
      count, a.threads, [](void* context, std::int64_t index) { (*static_cast<Body*>(context))(index); }, &body);
}

}  // namespace attention_kernels
