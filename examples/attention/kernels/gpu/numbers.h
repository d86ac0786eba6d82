// How the dtypes are stored, and the runtime's names, for nvcc and hipcc alike.
#pragma once

#ifdef __HIPCC__
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>
#else
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#endif

#include <cstdint>

#include "../arguments.h"

namespace attention_kernels {

#ifdef __HIPCC__
using Stream = hipStream_t;
using DeviceError = hipError_t;
constexpr DeviceError kNoError = hipSuccess;
inline DeviceError last_device_error() { return hipGetLastError(); }
inline const char* text_of(DeviceError error) { return hipGetErrorString(error); }
inline DeviceError clear_async(void* memory, std::size_t bytes, Stream stream) {
  return hipMemsetAsync(memory, 0, bytes, stream);
}
#else
using Stream = cudaStream_t;
using DeviceError = cudaError_t;
constexpr DeviceError kNoError = cudaSuccess;
inline DeviceError last_device_error() { return cudaGetLastError(); }
inline const char* text_of(DeviceError error) { return cudaGetErrorString(error); }
inline DeviceError clear_async(void* memory, std::size_t bytes, Stream stream) {
  return cudaMemsetAsync(memory, 0, bytes, stream);
}
#endif

inline Stream stream_of(const Arguments& a) { return static_cast<Stream>(a.stream); }

inline Outcome outcome_of(DeviceError error) {
  if (error == kNoError) return {};
  return {Failure::device, text_of(error)};
}

constexpr float kLog2E = 1.44269504088896340736F;

struct f32 {
  using Element = float;
  __device__ static float widened(Element element) { return element; }
  __device__ static Element rounded(float value) { return value; }
};

struct f16 {
  using Element = __half;
  __device__ static float widened(Element element) { return __half2float(element); }
  __device__ static Element rounded(float value) { return __float2half(value); }
};

struct bf16 {
  struct Element {
    std::uint16_t bits;
  };
  __device__ static float widened(Element element) { return __uint_as_float(std::uint32_t{element.bits} << 16); }
  __device__ static Element rounded(float value) {
    const std::uint32_t bits = __float_as_uint(value);
    const bool is_nan = value != value;
    if (kBf16Rounding == Bf16Rounding::truncate || is_nan)
      return {static_cast<std::uint16_t>(bits >> 16 | (is_nan ? 0x40 : 0))};
    return {static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
  }
};

__host__ __device__ inline int tiles_of(int length, int tile) { return (length + tile - 1) / tile; }
__device__ inline int smaller(int one, int other) { return one < other ? one : other; }
__device__ inline int larger(int one, int other) { return one > other ? one : other; }

/// The key after the last that `query` sees.
__device__ inline int key_end(const Arguments& a, int query, bool causal) {
  return causal ? smaller(a.seqlen_k, query + a.diagonal() + 1) : a.seqlen_k;
}

}  // namespace attention_kernels
