// Frame: the shell around every record file: who it is, how long, and a checksum over all of it
// (docs/formats/store.md).
//
// Contract: open_frame gives a payload only if every byte of the file, and the name it was found under, are
// as written.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "digest/digest.h"

namespace hallmark::store {

/// What a frame holds. The letters are stored.
enum class FrameKind : char {
  weak_entry = 'W',
  record = 'R',
  site = 'S',
  last_miss = 'M',
  derivation = 'D',
  places = 'P',
  tests = 'T'
};

inline constexpr std::size_t kFrameHeaderBytes = 48;
inline constexpr std::size_t kFrameOverheadBytes = kFrameHeaderBytes + 32;

std::string seal_frame(FrameKind kind, const digest::Key& key, std::string_view payload);

/// The payload, as a part of `bytes`. Errors: corrupt; newer_format for an intact frame of a later version.
Result<std::string_view> open_frame(FrameKind kind, const digest::Key& key, std::string_view bytes);

}  // namespace hallmark::store
