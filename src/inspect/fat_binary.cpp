#include "inspect/fat_binary.h"

#include <cstring>
#include <string>

#include "inspect/internal/unpack.h"

namespace hallmark::inspect {
namespace {

constexpr std::uint32_t kMagic = 0xBA55ED50;
constexpr std::size_t kContainerHeaderBytes = 16;
constexpr std::size_t kEntryHeaderBytes = 64;
constexpr std::uint64_t kFlagLz4 = 0x2000;
constexpr std::uint64_t kFlagZstd = 0x8000;
constexpr std::uint64_t kFlagArchSpecific = 0x10'0000;    ///< sm_90a
constexpr std::uint64_t kFlagFamilySpecific = 0x20'0000;  ///< sm_100f

template <class T>
T load(std::string_view bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

Error corrupt(const char* what) {
  return Error{ErrorKind::corrupt, std::string("fat binary: ") + what, {}};
}

Result<std::string> unpack_part(std::string_view packed, std::uint64_t flags, std::uint64_t unpacked_bytes) {
  if (unpacked_bytes > kFatBinaryPartBytes)
    return fail(Error{ErrorKind::limit, "fat binary: a part unpacks to more than kFatBinaryPartBytes", {}});
  if ((flags & (kFlagZstd | kFlagLz4)) == 0)
    return fail(Error{ErrorKind::unsupported, "fat binary: a part is compressed in an unknown way", {}});
  auto unpacked = unpack((flags & kFlagZstd) != 0 ? Packing::zstd : Packing::lz4, packed, unpacked_bytes);
  if (!unpacked) return fail(corrupt("a part does not unpack"));
  return *std::move(unpacked);
}

Status visit_entry(std::string_view entry, std::size_t header_bytes,
                   const std::function<void(const FatBinaryPart&)>& visit) {
  FatBinaryPart part;
  part.kind = static_cast<PartKind>(load<std::uint16_t>(entry, 0));
  part.arch = load<std::uint32_t>(entry, 28);
  const auto flags = load<std::uint64_t>(entry, 40);
  if ((flags & kFlagArchSpecific) != 0) part.suffix = 'a';
  if ((flags & kFlagFamilySpecific) != 0) part.suffix = 'f';
  part.header = entry.substr(0, header_bytes);
  std::string_view payload = entry.substr(header_bytes);
  const auto packed_bytes = load<std::uint32_t>(entry, 16);
  // Code for link-time optimization is scrambled as well: nobody but nvlink reads it.
  if (packed_bytes == 0 || (part.kind != PartKind::ptx && part.kind != PartKind::cubin)) {
    part.bytes = payload;
    visit(part);
    return {};
  }
  if (packed_bytes > payload.size()) return fail(corrupt("a compressed part is longer than its entry"));
  HALLMARK_TRY(const std::string unpacked,
               unpack_part(payload.substr(0, packed_bytes), flags, load<std::uint64_t>(entry, 56)));
  part.bytes = unpacked;
  part.compressed = true;
  visit(part);
  return {};
}

}  // namespace

bool is_fat_binary(std::string_view bytes) {
  return bytes.size() >= kContainerHeaderBytes && load<std::uint32_t>(bytes, 0) == kMagic;
}

Status for_each_part(std::string_view bytes, const std::function<void(const FatBinaryPart&)>& visit) {
  while (!bytes.empty()) {
    if (!is_fat_binary(bytes)) {
      if (bytes.find_first_not_of('\0') == std::string_view::npos)
        return {};  // alignment of the last container
      return fail(corrupt("no container where one should start"));
    }
    const std::size_t header_bytes = load<std::uint16_t>(bytes, 6);
    const auto body_bytes = load<std::uint64_t>(bytes, 8);
    if (header_bytes < kContainerHeaderBytes || header_bytes > bytes.size() ||
        body_bytes > bytes.size() - header_bytes) {
      return fail(corrupt("a container is longer than the file"));
    }
    std::string_view body = bytes.substr(header_bytes, static_cast<std::size_t>(body_bytes));
    bytes.remove_prefix(header_bytes + static_cast<std::size_t>(body_bytes));
    while (!body.empty()) {
      if (body.size() < kEntryHeaderBytes) return fail(corrupt("an entry is truncated"));
      const std::size_t entry_header_bytes = load<std::uint32_t>(body, 4);
      const auto payload_bytes = load<std::uint64_t>(body, 8);
      if (entry_header_bytes < kEntryHeaderBytes || entry_header_bytes > body.size() ||
          payload_bytes > body.size() - entry_header_bytes) {
        return fail(corrupt("an entry is longer than its container"));
      }
      const auto entry_bytes = entry_header_bytes + static_cast<std::size_t>(payload_bytes);
      HALLMARK_CHECK(visit_entry(body.substr(0, entry_bytes), entry_header_bytes, visit));
      body.remove_prefix(entry_bytes);
    }
    while (!bytes.empty() && bytes.front() == '\0') bytes.remove_prefix(1);
  }
  return {};
}

}  // namespace hallmark::inspect
