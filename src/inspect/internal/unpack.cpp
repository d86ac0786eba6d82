#include "inspect/internal/unpack.h"

#include <lz4.h>
#include <zlib.h>
#include <zstd.h>

#include <limits>

namespace hallmark::inspect {
namespace {

/// The most that a byte can stand for: a run in LZ4 and deflate; a block of one repeated byte in zstd.
constexpr std::uint64_t ratio_of(Packing packing) {
  switch (packing) {
    case Packing::lz4:
      return 256;
    case Packing::zlib:
      return 1040;
    case Packing::zstd:
      return std::uint64_t{128} << 10;
  }
  return 0;
}

bool unpack_lz4(std::string_view packed, std::string& into) {
  constexpr std::size_t kMost = std::numeric_limits<int>::max();
  if (packed.size() > kMost || into.size() > kMost) return false;
  const int size = LZ4_decompress_safe(packed.data(), into.data(), static_cast<int>(packed.size()),
                                       static_cast<int>(into.size()));
  return size >= 0 && static_cast<std::size_t>(size) == into.size();
}

bool unpack_zlib(std::string_view packed, std::string& into) {
  uLongf size = into.size();
  return uncompress(reinterpret_cast<Bytef*>(into.data()), &size,
                    reinterpret_cast<const Bytef*>(packed.data()), packed.size()) == Z_OK &&
         size == into.size();
}

bool unpack_zstd(std::string_view packed, std::string& into) {
  const std::size_t frame = ZSTD_findFrameCompressedSize(packed.data(), packed.size());
  return ZSTD_isError(frame) == 0 &&
         ZSTD_decompress(into.data(), into.size(), packed.data(), frame) == into.size();
}

}  // namespace

std::optional<std::string> unpack(Packing packing, std::string_view packed, std::uint64_t unpacked_bytes) {
  if (unpacked_bytes / ratio_of(packing) > packed.size()) return std::nullopt;
  if (packing == Packing::zstd) {
    const auto told = ZSTD_getFrameContentSize(packed.data(), packed.size());
    if (told != ZSTD_CONTENTSIZE_UNKNOWN && told != unpacked_bytes) return std::nullopt;
  }
  std::string unpacked(static_cast<std::size_t>(unpacked_bytes), '\0');
  const bool is_whole = packing == Packing::lz4    ? unpack_lz4(packed, unpacked)
                        : packing == Packing::zlib ? unpack_zlib(packed, unpacked)
                                                   : unpack_zstd(packed, unpacked);
  return is_whole ? std::optional(std::move(unpacked)) : std::nullopt;
}

}  // namespace hallmark::inspect
