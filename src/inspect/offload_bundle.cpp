#include "inspect/offload_bundle.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "inspect/internal/unpack.h"

namespace hallmark::inspect {
namespace {

constexpr std::string_view kPlainMagic = "__CLANG_OFFLOAD_BUNDLE__";
constexpr std::string_view kPackedMagic = "CCOB";
constexpr std::uint16_t kZlib = 0;
constexpr std::uint16_t kZstd = 1;

using Visit = std::function<void(const BundleEntry&)>;

Error corrupt(const char* what) {
  return Error{ErrorKind::corrupt, std::string("offload bundle: ") + what, {}};
}

/// Takes numbers from the front; `whole` turns false when they run out.
struct Reader {
  std::string_view rest;
  bool whole = true;

  template <class T>
  T take() {
    T value{};
    whole = whole && rest.size() >= sizeof value;
    if (!whole) return value;
    std::memcpy(&value, rest.data(), sizeof value);
    rest.remove_prefix(sizeof value);
    return value;
  }
};

/// Gives the bytes from the bundle's begin to the end of its last entry.
Result<std::size_t> visit_plain(std::string_view bytes, bool compressed, const Visit& visit) {
  Reader reader{bytes.substr(kPlainMagic.size())};
  const auto count = reader.take<std::uint64_t>();
  std::size_t end = 0;
  std::size_t total_bytes = 0;
  for (std::uint64_t i = 0; i < count && reader.whole; ++i) {
    const auto offset = reader.take<std::uint64_t>();
    const auto size = reader.take<std::uint64_t>();
    const auto name_bytes = reader.take<std::uint64_t>();
    if (!reader.whole || name_bytes > reader.rest.size()) break;
    if (offset > bytes.size() || size > bytes.size() - offset)
      return fail(corrupt("an entry is longer than the bundle"));
    // Entries that overlap would make a small file take a time that grows with its square.
    total_bytes += size;
    if (total_bytes > bytes.size()) return fail(corrupt("its entries overlap"));
    BundleEntry entry;
    entry.name = reader.rest.substr(0, name_bytes);
    reader.rest.remove_prefix(name_bytes);
    entry.target = target_of_bundle_name(entry.name);
    entry.bytes = bytes.substr(offset, size);
    entry.compressed = compressed;
    end = std::max(end, static_cast<std::size_t>(offset + size));
    visit(entry);
    if (i + 1 == count) return std::max(end, bytes.size() - reader.rest.size());
  }
  if (count == 0 && reader.whole) return bytes.size() - reader.rest.size();
  return fail(corrupt("its table of entries is truncated"));
}

Result<std::string> unpack_bundle(std::string_view packed, std::uint16_t method,
                                  std::uint64_t unpacked_bytes) {
  if (unpacked_bytes > kBundleBytes)
    return fail({ErrorKind::limit, "offload bundle: it unpacks to more than kBundleBytes", {}});
  if (method != kZlib && method != kZstd)
    return fail({ErrorKind::unsupported, "offload bundle: it is compressed in an unknown way", {}});
  auto unpacked = unpack(method == kZlib ? Packing::zlib : Packing::zstd, packed, unpacked_bytes);
  if (!unpacked) return fail(corrupt("it does not unpack"));
  return *std::move(unpacked);
}

/// Gives the bytes that the bundle takes.
Result<std::size_t> visit_packed(std::string_view bytes, const Visit& visit) {
  Reader reader{bytes.substr(kPackedMagic.size())};
  const auto version = reader.take<std::uint16_t>();
  const auto method = reader.take<std::uint16_t>();
  if (version < 1 || version > 3)
    return fail({ErrorKind::unsupported, "offload bundle: a compressed one of an unknown version", {}});
  // Version 1 does not say where it ends: it is taken to be the last.
  std::uint64_t whole_bytes = bytes.size();
  if (version == 2) whole_bytes = reader.take<std::uint32_t>();
  if (version == 3) whole_bytes = reader.take<std::uint64_t>();
  const auto unpacked_bytes =
      version == 3 ? reader.take<std::uint64_t>() : std::uint64_t{reader.take<std::uint32_t>()};
  reader.take<std::uint64_t>();  // a hash for clang's own use
  const std::size_t header_bytes = bytes.size() - reader.rest.size();
  if (!reader.whole || whole_bytes < header_bytes || whole_bytes > bytes.size())
    return fail(corrupt("it is truncated"));
  HALLMARK_TRY(const std::string unpacked,
               unpack_bundle(bytes.substr(header_bytes, whole_bytes - header_bytes), method, unpacked_bytes));
  if (!unpacked.starts_with(kPlainMagic)) return fail(corrupt("what was compressed is no bundle"));
  HALLMARK_CHECK(visit_plain(unpacked, true, visit).map([](std::size_t) {}));
  return static_cast<std::size_t>(whole_bytes);
}

}  // namespace

std::string_view target_of_bundle_name(std::string_view name) {
  const auto end_of_triple = name.rfind("--");
  if (end_of_triple != std::string_view::npos && !name.starts_with("host-"))
    return name.substr(end_of_triple + 2);
  // A triple with an environment ends in one dash: "hip-spirv64-amd-amdhsa-unknown-amdgcnspirv".
  const auto last = name.rfind('-');
  if (last == std::string_view::npos || name.starts_with("host-")) return {};
  return name.substr(last + 1);
}

bool is_offload_bundle(std::string_view bytes) {
  return bytes.starts_with(kPlainMagic) || bytes.starts_with(kPackedMagic);
}

Status for_each_entry(std::string_view bytes, const Visit& visit) {
  while (!bytes.empty()) {
    if (!is_offload_bundle(bytes)) return fail(corrupt("no bundle where one should start"));
    HALLMARK_TRY(const auto taken, bytes.starts_with(kPlainMagic) ? visit_plain(bytes, false, visit)
                                                                  : visit_packed(bytes, visit));
    bytes.remove_prefix(std::min(bytes.size(), taken));
    bytes.remove_prefix(std::min(bytes.size(), bytes.find_first_not_of('\0')));
  }
  return {};
}

}  // namespace hallmark::inspect
