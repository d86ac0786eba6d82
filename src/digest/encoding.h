// The canonical encoding of everything that hallmark hashes or stores: one value has exactly one encoding.
//
// Integers are little-endian LEB128 varints in shortest form, text and bytes are a length and the bytes,
// lists a count and the items, optionals a 0 or 1 and the value. docs/formats/encoding.md is the byte-level
// description.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"
#include "digest/digest.h"

namespace hallmark::digest {

/// Appends values to a buffer. Never fails.
class Encoder {
 public:
  Encoder& number(std::uint64_t value);
  Encoder& signed_number(std::int64_t value);  ///< zigzag
  Encoder& text(std::string_view value);
  Encoder& flag(bool value) { return number(value ? 1 : 0); }
  Encoder& hash(const Sha256& value);
  Encoder& digest(const Digest& value) { return hash(value.hash).number(value.size_bytes); }

  const std::string& bytes() const { return bytes_; }
  std::string take() { return std::move(bytes_); }
  void clear() { bytes_.clear(); }  ///< keeps the memory
  Key key() const { return Key{digest_of(bytes_).hash}; }

 private:
  std::string bytes_;
};

/// Reads what Encoder wrote from bytes of any origin. After the first malformed value every read gives zero
/// or empty and ok() is false, so that a decoder may check once, at its end. Never allocates more than the
/// input holds.
class Decoder {
 public:
  explicit Decoder(std::string_view bytes) : rest_(bytes) {}

  std::uint64_t number();
  std::int64_t signed_number();
  std::string_view text();
  bool flag();
  Sha256 hash();
  Digest digest();
  /// A count of items that each take at least `min_item_bytes`; more than can follow is malformed.
  std::size_t count(std::size_t min_item_bytes = 1);

  std::size_t remaining_bytes() const { return rest_.size(); }
  bool ok() const { return ok_; }
  /// True if all was well formed and nothing is left.
  bool finished() const { return ok_ && rest_.empty(); }
  void reject() {
    ok_ = false;
    rest_ = {};
  }

 private:
  std::string_view take(std::size_t size);

  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace hallmark::digest
