// Tensor cores of sm_80 and later by mma.sync m16n8k16 on 16-bit numbers, and what feeds them.
//
// How a warp holds a matrix (PTX ISA, "Matrix fragments for mma.m16n8k16"): of the 16 x 8 result, thread t has
// [0], [1] in row t / 4 and [2], [3] in row t / 4 + 8, at columns 2 (t % 4) and the next. Two neighbouring results
// are, packed to 16 bits, the 16 x 16 left factor of a next product: P never leaves the registers.
#pragma once

#include "../gpu/numbers.h"

namespace attention_kernels {

using Half = std::uint16_t;  ///< one 16-bit element, f16 or bf16

/// Rows of 16-bit elements in shared memory. Within a row, pieces of 16 bytes change places by the row's number, so
/// that the eight rows that ldmatrix reads at once lie in different banks. kColumns: 64 or more, a power of 2.
template <int kColumns>
struct SharedTile {
  Half* data;

  /// `column` is a multiple of 8.
  __device__ Half* piece(int row, int column) const {
    return data + row * kColumns + ((column / 8) ^ (row % 8)) * 8;
  }
  __device__ Half* element(int row, int column) const { return piece(row, column & ~7) + column % 8; }
};

__device__ inline std::uint32_t shared_address(const void* pointer) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

/// 16 bytes from global to shared memory in the background; zeros if not `inside` (then nothing is read).
__device__ inline void copy_async(void* to, const void* from, bool inside) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)), "l"(from),
               "r"(inside ? 16 : 0));
}
__device__ inline void commit_copies() { asm volatile("cp.async.commit_group;"); }
/// Until at most kPending of the groups that were committed last are still under way.
template <int kPending>
__device__ void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

/// Rows of a tensor into a tile; those from `rows` on become zero.
template <int kRows, int kColumns, int kBlock>
__device__ void load_async(SharedTile<kColumns> tile, const void* tensor, std::int64_t offset, std::int64_t stride,
                           int rows) {
  const Half* from = static_cast<const Half*>(tensor) + offset;
  constexpr int kPieces = kColumns / 8;
  static_assert(kRows * kPieces % kBlock == 0);
#pragma unroll
  for (int step = 0; step < kRows * kPieces / kBlock; ++step) {
    const int i = static_cast<int>(threadIdx.x) + step * kBlock;
    const int row = i / kPieces;
    const int column = i % kPieces * 8;
    const bool inside = row < rows;
    copy_async(tile.piece(row, column), from + (inside ? row * stride : 0) + column, inside);
  }
}

/// Four 8 x 8 matrices. The address is of one row of one of them: threads 0-7 give the first's, and so on.
__device__ inline void ldmatrix(std::uint32_t (&to)[4], const Half* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(shared_address(row)));
}
__device__ inline void ldmatrix_transposed(std::uint32_t (&to)[4], const Half* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(shared_address(row)));
}

// The four ways to read 16 x 16 elements at (row, column) of a tile. "Left" is a factor of 16 x 16; "right" is two of
// 16 x 8 beside each other, in [0], [1] and in [2], [3].

/// Left factor, whose rows are the tile's.
template <int kColumns>
__device__ void read_left(std::uint32_t (&to)[4], SharedTile<kColumns> tile, int row, int column) {
  const int lane = threadIdx.x % 32;
  ldmatrix(to, tile.piece(row + lane % 16, column + lane / 16 * 8));
}
/// Left factor, whose rows are the tile's columns.
template <int kColumns>
__device__ void read_left_transposed(std::uint32_t (&to)[4], SharedTile<kColumns> tile, int row, int column) {
  const int lane = threadIdx.x % 32;
  ldmatrix_transposed(to, tile.piece(row + lane % 8 + lane / 16 * 8, column + lane / 8 % 2 * 8));
}
/// Right factor, whose rows (the direction that is summed) are the tile's.
template <int kColumns>
__device__ void read_right(std::uint32_t (&to)[4], SharedTile<kColumns> tile, int row, int column) {
  const int lane = threadIdx.x % 32;
  ldmatrix_transposed(to, tile.piece(row + lane % 16, column + lane / 16 * 8));
}
/// Right factor, whose rows are the tile's columns.
template <int kColumns>
__device__ void read_right_transposed(std::uint32_t (&to)[4], SharedTile<kColumns> tile, int row, int column) {
  const int lane = threadIdx.x % 32;
  ldmatrix(to, tile.piece(row + lane % 8 + lane / 16 * 8, column + lane / 8 % 2 * 8));
}

template <class Number>
struct TensorCore;

template <>
struct TensorCore<f16> {
  __device__ static void multiply_add(float (&sum)[4], const std::uint32_t (&left)[4], std::uint32_t right0,
                                      std::uint32_t right1) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right0), "r"(right1));
  }
  /// A pair as a factor of the next product; the first in the low half.
  __device__ static std::uint32_t packed(float first, float second) {
    std::uint32_t pair;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
    return pair;
  }
  __device__ static std::uint32_t packed_result(float first, float second) { return packed(first, second); }
};

template <>
struct TensorCore<bf16> {
  __device__ static void multiply_add(float (&sum)[4], const std::uint32_t (&left)[4], std::uint32_t right0,
                                      std::uint32_t right1) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right0), "r"(right1));
  }
  __device__ static std::uint32_t packed(float first, float second) {
    std::uint32_t pair;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
    return pair;
  }
  /// As the option bf16_rounding says. Factors inside a kernel are always rounded to nearest.
  __device__ static std::uint32_t packed_result(float first, float second) {
    if constexpr (kBf16Rounding == Bf16Rounding::rne) return packed(first, second);
    return bf16::rounded(first).bits | std::uint32_t{bf16::rounded(second).bits} << 16;
  }
};

/// Columns 16 k to 16 k + 15 of a result as a left factor.
template <class Number, int kTiles>
__device__ void as_left(std::uint32_t (&to)[4], const float (&result)[kTiles][4], int k) {
  using Core = TensorCore<Number>;
  to[0] = Core::packed(result[2 * k][0], result[2 * k][1]);
  to[1] = Core::packed(result[2 * k][2], result[2 * k][3]);
  to[2] = Core::packed(result[2 * k + 1][0], result[2 * k + 1][1]);
  to[3] = Core::packed(result[2 * k + 1][2], result[2 * k + 1][3]);
}

/// 2^x, relative error below 2^-22; what would be subnormal becomes 0. exp2f() is this plus care for those.
__device__ inline float exp2_of(float x) {
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
  return power;
}

/// Of the four threads that share a row of a result.
__device__ inline float largest_of_row(float value) {
  value = fmaxf(value, __shfl_xor_sync(0xffffffff, value, 1));
  return fmaxf(value, __shfl_xor_sync(0xffffffff, value, 2));
}
__device__ inline float sum_of_row(float value) {
  value += __shfl_xor_sync(0xffffffff, value, 1);
  return value + __shfl_xor_sync(0xffffffff, value, 2);
}

/// Writes 16 rows of a warp's result to the tensor. They pass through `tile` (rows from `row` on, which no other warp
/// uses), so that whole lines of 16 bytes are written.
template <class Number, int kDim>
__device__ void store_rows(const float (&result)[kDim / 8][4], float factor_low, float factor_high,
                           SharedTile<kDim> tile, int row, void* tensor, std::int64_t offset, std::int64_t stride,
                           int rows) {
  using Core = TensorCore<Number>;
  const int lane = threadIdx.x % 32;
  __syncwarp();
#pragma unroll
  for (int d = 0; d < kDim / 8; ++d) {
    const int column = d * 8 + lane % 4 * 2;
    *reinterpret_cast<std::uint32_t*>(tile.element(row + lane / 4, column)) =
        Core::packed_result(result[d][0] * factor_low, result[d][1] * factor_low);
    *reinterpret_cast<std::uint32_t*>(tile.element(row + lane / 4 + 8, column)) =
        Core::packed_result(result[d][2] * factor_high, result[d][3] * factor_high);
  }
  __syncwarp();
  constexpr int kPieces = kDim / 8;
  Half* to = static_cast<Half*>(tensor) + offset;
#pragma unroll
  for (int i = lane; i < 16 * kPieces; i += 32) {
    const int at = i / kPieces;
    const int column = i % kPieces * 8;
    if (row + at < rows)
      *reinterpret_cast<uint4*>(to + (row + at) * stride + column) =
          *reinterpret_cast<const uint4*>(tile.piece(row + at, column));
  }
}

/// Lets `kernel` have so much dynamic shared memory in a block, which above 48 KiB has to be asked for.
template <class Kernel>
Outcome allow_shared_memory(Kernel* kernel, int bytes) {
  int device = 0;
  int available = 0;
  auto error = cudaGetDevice(&device);
  if (error == cudaSuccess)
    error = cudaDeviceGetAttribute(&available, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  if (error != cudaSuccess) return outcome_of(error);
  if (bytes > available) return {Failure::shared_memory, nullptr, std::size_t(bytes), std::size_t(available)};
  return outcome_of(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
}

}  // namespace attention_kernels
