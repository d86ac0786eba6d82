// OffloadBundle: the container in which clang puts the code of several devices (section .hip_fatbin, .hsaco
// and .hipfb files), plain or compressed.
//
// Layout, little-endian, as clang documents it (ClangOffloadBundler). Plain:
//   "__CLANG_OFFLOAD_BUNDLE__", u64 entries, each: u64 offset, u64 bytes, u64 name bytes, name
// A name is KIND-TRIPLE-TARGET: "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-". Compressed:
//   "CCOB", u16 version, u16 method (0 zlib, 1 zstd), sizes, u64 hash, then a plain bundle packed
// sizes: version 1: u32 unpacked; 2: u32 whole, u32 unpacked; 3: u64 whole, u64 unpacked.
// A linker puts bundles one behind the other, with zeros between.
//
// Contract: pure, reads bytes of any origin, allocates at most kBundleBytes for one bundle. Thread-safe.
#pragma once

#include <functional>
#include <string_view>

#include "base/result.h"

namespace hallmark::inspect {

/// A compressed bundle that unpacks to more is ErrorKind::limit.
inline constexpr std::size_t kBundleBytes = std::size_t{1} << 30;

struct BundleEntry {
  std::string_view name;    ///< as it stands in the bundle
  std::string_view target;  ///< "gfx90a:xnack-"; empty: code of the host
  std::string_view bytes;   ///< unpacked
  bool compressed = false;  ///< the bundle was
};

/// "gfx90a:xnack-" of "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-"; empty: of the host, or no such name.
std::string_view target_of_bundle_name(std::string_view name);

/// True if the bytes begin with a bundle, plain or compressed.
bool is_offload_bundle(std::string_view bytes);

/// Calls `visit` for each entry of each bundle, in order; views are valid during the call only. Errors:
/// corrupt (malformed or truncated), unsupported (an unknown version or compression), limit.
Status for_each_entry(std::string_view bytes, const std::function<void(const BundleEntry&)>& visit);

}  // namespace hallmark::inspect
