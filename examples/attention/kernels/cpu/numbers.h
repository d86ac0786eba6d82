// How the dtypes are stored, and rows of them as f32. CPU.
#pragma once

#include <cstdint>
#include <cstring>

#ifdef __F16C__
#include <immintrin.h>
#endif

#include "../arguments.h"

namespace attention_kernels {

inline std::uint32_t bits_of(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

inline float float_of(std::uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

struct f32 {
  using Element = float;
  static void load(const Element* from, float* to, int count) { std::memcpy(to, from, count * sizeof(float)); }
  static void store(const float* from, Element* to, int count) { std::memcpy(to, from, count * sizeof(float)); }
};

struct bf16 {
  using Element = std::uint16_t;
  static Element rounded(float value) {
    const std::uint32_t bits = bits_of(value);
    if constexpr (kBf16Rounding == Bf16Rounding::truncate) {
      // A NaN whose payload sits only in the bits that go would become infinity.
      return static_cast<Element>(bits >> 16 | (value != value ? 0x40 : 0));
    } else {
      const std::uint32_t even = bits + 0x7fff + (bits >> 16 & 1);
      return static_cast<Element>(value != value ? bits >> 16 | 0x40 : even >> 16);
    }
  }
  static void load(const Element* from, float* to, int count) {
#pragma omp simd
    for (int i = 0; i < count; ++i) to[i] = float_of(std::uint32_t{from[i]} << 16);
  }
  static void store(const float* from, Element* to, int count) {
#pragma omp simd
    for (int i = 0; i < count; ++i) to[i] = rounded(from[i]);
  }
};

/// IEEE 754 binary16. `count` is a multiple of 8.
struct f16 {
  using Element = std::uint16_t;
#ifdef __F16C__
  static void load(const Element* from, float* to, int count) {
    for (int i = 0; i < count; i += 8)
      _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i))));
  }
  static void store(const float* from, Element* to, int count) {
    for (int i = 0; i < count; i += 8)
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i),
                       _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  }
#else
  // 2^112 moves the exponent's bias from 15 to 127, and normalizes subnormal numbers on the way.
  static float widened(Element half) {
    const std::uint32_t magnitude = std::uint32_t{half & 0x7fffU} << 13;
    const std::uint32_t sign = std::uint32_t{half & 0x8000U} << 16;
    const float value = float_of(magnitude) * 0x1p112F;
    const bool is_special = magnitude >= 0x0f800000;  // infinity or NaN
    return float_of(sign | (is_special ? magnitude | 0x7f800000 : bits_of(value)));
  }
  static Element rounded(float value) {
    const std::uint32_t bits = bits_of(value);
    const std::uint32_t sign = bits >> 16 & 0x8000;
    const std::uint32_t magnitude = bits & 0x7fffffff;
    // Below 2^-14: adding 0.5 leaves the subnormal number, rounded by the adder, in the low bits.
    const std::uint32_t subnormal = bits_of(float_of(magnitude) + 0.5F) - bits_of(0.5F);
    const std::uint32_t normal = (magnitude - (112U << 23) + 0xfff + (magnitude >> 13 & 1)) >> 13;
    std::uint32_t half = magnitude < (113U << 23) ? subnormal : normal;
    if (magnitude >= 0x477ff000) half = 0x7c00;  // rounds to 2^16 or more: infinity
    if (magnitude > 0x7f800000) half = 0x7e00;   // NaN
    return static_cast<Element>(sign | half);
  }
  static void load(const Element* from, float* to, int count) {
#pragma omp simd
    for (int i = 0; i < count; ++i) to[i] = widened(from[i]);
  }
  static void store(const float* from, Element* to, int count) {
#pragma omp simd
    for (int i = 0; i < count; ++i) to[i] = rounded(from[i]);
  }
#endif
};

}  // namespace attention_kernels
