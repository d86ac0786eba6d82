// The dtypes as a test writes and reads them: by arithmetic in double, sharing no code with the kernels.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "attention/attention.h"

namespace attention_test {

struct Format {
  int bits;         ///< of the significand, the hidden one too
  int lowest;       ///< exponent of the smallest normal number
  int exponent_at;  ///< bits below the exponent field
};

inline Format format_of(attention_dtype dtype) {
  return dtype == ATTENTION_F16 ? Format{11, -14, 10} : dtype == ATTENTION_BF16 ? Format{8, -126, 7}
                                                                                : Format{24, -126, 23};
}

/// The nearest number of the dtype, ties to even; far from overflow.
inline double rounded(attention_dtype dtype, double value) {
  if (value == 0 || std::isinf(value)) return value;
  const auto format = format_of(dtype);
  const int exponent = std::max(std::ilogb(value), format.lowest) - (format.bits - 1);
  return std::ldexp(std::nearbyint(std::ldexp(value, -exponent)), exponent);
}

/// Of numbers that the dtype holds exactly.
inline std::vector<std::uint8_t> encoded(attention_dtype dtype, const std::vector<double>& values) {
  const std::size_t size = dtype == ATTENTION_F32 ? 4 : 2;
  std::vector<std::uint8_t> bytes(values.size() * size);
  const auto format = format_of(dtype);
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint32_t word = 0;
    const auto as_float = static_cast<float>(values[i]);
    std::memcpy(&word, &as_float, sizeof word);
    if (dtype == ATTENTION_BF16) word >>= 16;
    if (dtype == ATTENTION_F16) {
      const double magnitude = std::abs(values[i]);
      const int exponent = magnitude == 0 ? format.lowest : std::max(std::ilogb(magnitude), format.lowest);
      const auto significand = static_cast<std::uint32_t>(std::ldexp(magnitude, format.exponent_at - exponent));
      // A normal number's hidden bit adds one to the exponent field.
      word = (static_cast<std::uint32_t>(exponent - format.lowest) << format.exponent_at) + significand;
      if (std::signbit(values[i])) word |= 0x8000;
    }
    std::memcpy(&bytes[i * size], &word, size);
  }
  return bytes;
}

inline std::vector<double> decoded(attention_dtype dtype, const std::vector<std::uint8_t>& bytes) {
  const std::size_t size = dtype == ATTENTION_F32 ? 4 : 2;
  std::vector<double> values(bytes.size() / size);
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint32_t word = 0;
    std::memcpy(&word, &bytes[i * size], size);
    if (dtype == ATTENTION_F16) {
      const int field = static_cast<int>(word >> 10 & 31);
      const double significand = (word & 1023) + (field == 0 ? 0 : 1024);
      const double magnitude = field == 31 ? ((word & 1023) != 0 ? NAN : INFINITY)
                                           : std::ldexp(significand, std::max(field, 1) - 25);
      values[i] = (word & 0x8000) != 0 ? -magnitude : magnitude;
    } else {
      if (dtype == ATTENTION_BF16) word <<= 16;
      float value;
      std::memcpy(&value, &word, sizeof value);
      values[i] = value;
    }
  }
  return values;
}

}  // namespace attention_test
