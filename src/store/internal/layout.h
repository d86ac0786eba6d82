// Layout: where everything lies in a store's folder (docs/formats/store.md), and the version that FORMAT
// names.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "digest/digest.h"

namespace hallmark::store {

/// Raised when an older hallmark could misread what this one writes anywhere in the store.
inline constexpr std::uint32_t kStoreFormat = 1;

class Layout {
 public:
  explicit Layout(std::string folder) : folder_(std::move(folder)) {}

  static constexpr std::string_view kFormat = "FORMAT";
  static constexpr std::string_view kBlobs = "blobs";
  static constexpr std::string_view kRecords = "records";
  static constexpr std::string_view kWeakEntries = "weak";
  static constexpr std::string_view kDerivations = "derivations";
  static constexpr std::string_view kPlaces = "places";
  static constexpr std::string_view kSites = "sites";
  static constexpr std::string_view kMisses = "misses";
  static constexpr std::string_view kTests = "tests";
  static constexpr std::string_view kLocks = "locks";
  static constexpr std::string_view kTemporaries = "tmp";
  static constexpr std::string_view kDigestTable = "digests";
  static constexpr std::string_view kCounters = "counters";
  static constexpr std::string_view kMadeLog = "made";
  /// All names that may stand in the folder.
  static constexpr std::array kNames{kFormat,      kBlobs,       kRecords,  kWeakEntries, kDerivations,
                                     kPlaces,      kSites,       kMisses,   kTests,       kLocks,
                                     kTemporaries, kDigestTable, kCounters, kMadeLog};
  static constexpr std::array kFolders{kBlobs, kRecords, kWeakEntries, kDerivations, kPlaces,
                                       kSites, kMisses,  kTests,       kLocks,       kTemporaries};

  const std::string& folder() const { return folder_; }
  std::string at(std::string_view name) const { return folder_ + '/' + std::string(name); }

  /// A file named by a hash: 256 folders by the first byte, so that none grows too long.
  std::string hashed(std::string_view area, const digest::Sha256& hash) const {
    const std::string hex = to_hex(hash);
    std::string path;
    path.reserve(folder_.size() + area.size() + hex.size() + 5);
    path.append(folder_).append("/").append(area).append("/").append(hex, 0, 2).append("/").append(hex);
    return path;
  }

 private:
  std::string folder_;
};

}  // namespace hallmark::store
