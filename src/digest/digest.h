// Digest: SHA-256 and size of some bytes, as the Remote Execution API names blobs.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"

namespace hallmark::digest {

using Sha256 = std::array<std::uint8_t, 32>;

struct Digest {
  Sha256 hash{};
  std::uint64_t size_bytes = 0;

  auto operator<=>(const Digest&) const = default;
  /// 64 lower-case hex characters.
  std::string hex() const { return to_hex(hash); }
};

/// A digest that names a question (weak key, strong key), never blob bytes: it has no size.
struct Key {
  Sha256 hash{};
  auto operator<=>(const Key&) const = default;
  std::string hex() const { return to_hex(hash); }
};

/// Incremental SHA-256. One thread at a time.
class Hasher {
 public:
  Hasher();
  void update(ByteView bytes);
  void update(std::string_view text) { update(as_bytes(text)); }
  /// Ends the hash; the hasher must not be used again.
  Digest finish();

 private:
  alignas(16) std::array<std::uint8_t, 128> state_;  // an OpenSSL SHA256_CTX; kept opaque to spare its header
  std::uint64_t size_bytes_ = 0;
};

Digest digest_of(ByteView bytes);
inline Digest digest_of(std::string_view text) {
  return digest_of(as_bytes(text));
}

/// Reads 64 hex characters.
std::optional<Sha256> parse_hex(std::string_view hex);

struct HashOfSha256 {
  std::size_t operator()(const Sha256& hash) const {
    std::size_t value = 0;
    std::memcpy(&value, hash.data(), sizeof value);
    return value;
  }
};

}  // namespace hallmark::digest
