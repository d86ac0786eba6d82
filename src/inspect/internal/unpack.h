// Unpacking of what containers hold, to a size that the container tells.
//
// Contract: bytes of any origin. Memory is asked for only if so many bytes can come out of the packed ones at
// all: a size in a small file is believed no further than its form can pack. Thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hallmark::inspect {

enum class Packing { lz4, zlib, zstd };

/// nullopt: it does not unpack, or not to this size. Of zstd the first frame counts; alignment may follow.
std::optional<std::string> unpack(Packing packing, std::string_view packed, std::uint64_t unpacked_bytes);

}  // namespace hallmark::inspect
