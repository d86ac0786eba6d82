// The one-shot SHA256_* functions are used, not EVP: fetching EVP's provider costs 0.7 ms in each process, a
// twentieth of the whole time of a hit (docs/adr/0002-sha256-without-evp.md).
#define OPENSSL_SUPPRESS_DEPRECATED
#include "digest/digest.h"

#include <openssl/sha.h>

#include <new>

namespace hallmark::digest {
namespace {

SHA256_CTX* context(std::array<std::uint8_t, 128>& state) {
  return std::launder(reinterpret_cast<SHA256_CTX*>(state.data()));
}

std::optional<std::uint8_t> nibble(char c) {
  if (c >= '0' && c <= '9') return static_cast<std::uint8_t>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<std::uint8_t>(c - 'a' + 10);
  return std::nullopt;
}

}  // namespace

Hasher::Hasher() {
  static_assert(sizeof(SHA256_CTX) <= sizeof state_);
  new (state_.data()) SHA256_CTX;
  SHA256_Init(context(state_));
}

void Hasher::update(ByteView bytes) {
  SHA256_Update(context(state_), bytes.data(), bytes.size());
  size_bytes_ += bytes.size();
}

Digest Hasher::finish() {
  Digest digest;
  SHA256_Final(digest.hash.data(), context(state_));
  digest.size_bytes = size_bytes_;
  return digest;
}

Digest digest_of(ByteView bytes) {
  Hasher hasher;
  hasher.update(bytes);
  return hasher.finish();
}

std::optional<Sha256> parse_hex(std::string_view hex) {
  Sha256 hash;
  if (hex.size() != hash.size() * 2) return std::nullopt;
  for (std::size_t i = 0; i < hash.size(); ++i) {
    const auto high = nibble(hex[2 * i]);
    const auto low = nibble(hex[2 * i + 1]);
    if (!high || !low) return std::nullopt;
    hash[i] = static_cast<std::uint8_t>(*high << 4 | *low);
  }
  return hash;
}

}  // namespace hallmark::digest
