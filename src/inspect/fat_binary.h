// FatBinary: the container in which nvcc puts device code (section .nv_fatbin, or a .fatbin file), read
// without CUDA.
//
// Layout, little-endian, as nvcc 11 to 13 write it (checked against cuobjdump and by unpacking; NVIDIA
// publishes none): one or more containers, 8-byte aligned, each
//   u32 magic 0xBA55ED50, u16 version 1, u16 header bytes (16), u64 bytes that follow
// and in it entries, each
//   u16 kind (1 PTX, 2 ELF cubin, 8 code for link-time optimization, others exist), u16 version, u32 header
//   bytes, u64 payload bytes with padding, u32 compressed bytes (0: stored as it is), ..., at 28: u32 arch,
//   ..., at 40: u64 flags, ..., at 56: u64 unpacked bytes
// flags 0x2000: the payload is an LZ4 block, 0x8000: a zstd frame, 0x100000: for this arch only (sm_90a),
// 0x200000: for its family (sm_100f).
//
// Contract: pure, reads bytes of any origin, allocates at most kFatBinaryPartBytes for one part. Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "base/result.h"

namespace hallmark::inspect {

/// A larger part is ErrorKind::limit.
inline constexpr std::size_t kFatBinaryPartBytes = std::size_t{1} << 30;

enum class PartKind : std::uint16_t { ptx = 1, cubin = 2, lto = 8 };

struct FatBinaryPart {
  PartKind kind{};          ///< other values occur and are passed on
  std::uint32_t arch = 0;   ///< 80 for sm_80 or compute_80
  char suffix = '\0';       ///< 'a' of sm_90a, 'f' of sm_100f
  std::string_view header;  ///< options and names that nvcc kept, as bytes
  std::string_view bytes;   ///< of PTX and cubins unpacked, of other kinds as they are
  bool compressed = false;
};

/// True if the bytes begin with a container.
bool is_fat_binary(std::string_view bytes);

/// Calls `visit` for each part, in order; views are valid during the call only. Errors: corrupt (malformed or
/// truncated), unsupported (an unknown compression), limit.
Status for_each_part(std::string_view bytes, const std::function<void(const FatBinaryPart&)>& visit);

}  // namespace hallmark::inspect
