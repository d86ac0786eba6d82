// What the plain kernels share: f32 tiles in shared memory and products of them, one value a time, no matrix units.
//
// A block is 128 threads as 16 rows of 8 lanes. A thread works on rows `row`, row + 16, ...; of a product's columns
// it has either single ones (`lane`, lane + 8, ...) or groups of four (4 lane, 4 lane + 32, ...).
#pragma once

#include "numbers.h"

namespace attention_kernels {

constexpr int kThreads = 128;
constexpr int kRowsAtOnce = 16;
constexpr int kLanes = 8;

__device__ inline int own_row() { return static_cast<int>(threadIdx.x) / kLanes; }
__device__ inline int own_lane() { return static_cast<int>(threadIdx.x) % kLanes; }

/// Four more columns than it holds: eight rows read side by side hit different banks, and rows stay aligned to 16.
template <int kRows, int kColumns>
struct Tile {
  alignas(16) float at[kRows][kColumns + 4];
  __device__ const float4& four(int row, int column) const {
    return *reinterpret_cast<const float4*>(&at[row][column]);
  }
};

/// Weights of a pair of tiles; read along rows and along columns.
template <int kRows>
struct Weights {
  float at[kRows][kRows + 1];
};

template <class Number, int kRows, int kColumns>
__device__ void load(Tile<kRows, kColumns>& tile, const void* tensor, std::int64_t offset, std::int64_t stride,
                     int rows) {
  const auto* from = static_cast<const typename Number::Element*>(tensor) + offset;
  for (int i = threadIdx.x; i < kRows * kColumns; i += kThreads) {
    const int row = i / kColumns;
    const int column = i % kColumns;
    tile.at[row][column] = row < rows ? Number::widened(from[row * stride + column]) : 0;
  }
}

/// sum[r][c] = a[row + 16 r] . b[lane + 8 c]
template <int kDim, int kHeight, int kWide, int kRowsA, int kRowsB>
__device__ void dot(float (&sum)[kHeight][kWide], const Tile<kRowsA, kDim>& a, const Tile<kRowsB, kDim>& b) {
  for (int r = 0; r < kHeight; ++r)
    for (int c = 0; c < kWide; ++c) sum[r][c] = 0;
#pragma unroll 4
  for (int d = 0; d < kDim; d += 4) {
    float4 left[kHeight];
    float4 right[kWide];
#pragma unroll
    for (int r = 0; r < kHeight; ++r) left[r] = a.four(own_row() + r * kRowsAtOnce, d);
#pragma unroll
    for (int c = 0; c < kWide; ++c) right[c] = b.four(own_lane() + c * kLanes, d);
#pragma unroll
    for (int r = 0; r < kHeight; ++r)
#pragma unroll
      for (int c = 0; c < kWide; ++c)
        sum[r][c] += left[r].x * right[c].x + left[r].y * right[c].y + left[r].z * right[c].z +
                     left[r].w * right[c].w;
  }
}

/// Rows row + 16 r of a result, columns 4 lane + 32 c.
template <int kDim, int kHeight>
struct Rows {
  float4 at[kHeight][kDim / 32];

  __device__ void clear() {
    for (int r = 0; r < kHeight; ++r)
      for (int c = 0; c < kDim / 32; ++c) at[r][c] = {0, 0, 0, 0};
  }

  /// += w x, or with kTransposed += w^T x.
  template <bool kTransposed, int kDepth, int kRowsW>
  __device__ void add_product(const Weights<kRowsW>& w, const Tile<kDepth, kDim>& x) {
#pragma unroll 4
    for (int j = 0; j < kDepth; ++j) {
      float4 right[kDim / 32];
#pragma unroll
      for (int c = 0; c < kDim / 32; ++c) right[c] = x.four(j, 4 * own_lane() + 32 * c);
#pragma unroll
      for (int r = 0; r < kHeight; ++r) {
        const int row = own_row() + r * kRowsAtOnce;
        const float left = kTransposed ? w.at[j][row] : w.at[row][j];
#pragma unroll
        for (int c = 0; c < kDim / 32; ++c) {
          at[r][c].x += left * right[c].x;
          at[r][c].y += left * right[c].y;
          at[r][c].z += left * right[c].z;
          at[r][c].w += left * right[c].w;
        }
      }
    }
  }

  __device__ void scale(int r, float factor) {
    for (int c = 0; c < kDim / 32; ++c) {
      at[r][c].x *= factor;
      at[r][c].y *= factor;
      at[r][c].z *= factor;
      at[r][c].w *= factor;
    }
  }

  template <class Number>
  __device__ void store(void* tensor, std::int64_t offset, std::int64_t stride, int rows) const {
    auto* to = static_cast<typename Number::Element*>(tensor) + offset;
    for (int r = 0; r < kHeight; ++r) {
      const int row = own_row() + r * kRowsAtOnce;
      if (row >= rows) continue;
      for (int c = 0; c < kDim / 32; ++c) {
        auto* four = to + row * stride + 4 * own_lane() + 32 * c;
        four[0] = Number::rounded(at[r][c].x);
        four[1] = Number::rounded(at[r][c].y);
        four[2] = Number::rounded(at[r][c].z);
        four[3] = Number::rounded(at[r][c].w);
      }
    }
  }

  __device__ void add_atomically(float* to, std::int64_t stride, int rows) const {
    for (int r = 0; r < kHeight; ++r) {
      const int row = own_row() + r * kRowsAtOnce;
      if (row >= rows) continue;
      for (int c = 0; c < kDim / 32; ++c) {
        float* four = to + row * stride + 4 * own_lane() + 32 * c;
        atomicAdd(four, at[r][c].x);
        atomicAdd(four + 1, at[r][c].y);
        atomicAdd(four + 2, at[r][c].z);
        atomicAdd(four + 3, at[r][c].w);
      }
    }
  }
};

/// Value of the lane that is `distance` away (exclusive or). All lanes of the warp take part.
__device__ inline float lane_at(float value, int distance) {
#ifdef __HIPCC__
  return __shfl_xor(value, distance);
#else
  return __shfl_xor_sync(0xffffffff, value, distance);
#endif
}

}  // namespace attention_kernels
