#include "digest/encoding.h"

#include <algorithm>

namespace hallmark::digest {

Encoder& Encoder::number(std::uint64_t value) {
  while (value >= 0x80) {
    bytes_.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  bytes_.push_back(static_cast<char>(value));
  return *this;
}

Encoder& Encoder::signed_number(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  return number((bits << 1) ^ (value < 0 ? ~std::uint64_t{0} : 0));
}

Encoder& Encoder::text(std::string_view value) {
  number(value.size());
  bytes_.append(value);
  return *this;
}

Encoder& Encoder::hash(const Sha256& value) {
  bytes_.append(as_text(value));
  return *this;
}

std::string_view Decoder::take(std::size_t size) {
  if (size > rest_.size()) {
    reject();
    return {};
  }
  const auto taken = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return taken;
}

std::uint64_t Decoder::number() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    const auto byte = take(1);
    if (byte.empty()) return 0;
    const auto bits = static_cast<std::uint8_t>(byte.front());
    const std::uint64_t low = bits & 0x7f;
    const bool overflows = shift == 63 && low > 1;
    const bool not_shortest = shift > 0 && bits == 0;
    if (overflows || not_shortest) break;
    value |= low << shift;
    if ((bits & 0x80) == 0) return value;
  }
  reject();
  return 0;
}

std::int64_t Decoder::signed_number() {
  const std::uint64_t bits = number();
  return static_cast<std::int64_t>((bits >> 1) ^ (~(bits & 1) + 1));
}

std::string_view Decoder::text() {
  return take(count());
}

bool Decoder::flag() {
  const auto value = number();
  if (value > 1) reject();
  return value == 1;
}

Sha256 Decoder::hash() {
  Sha256 value{};
  const auto bytes = take(value.size());
  std::copy(bytes.begin(), bytes.end(), value.begin());
  return value;
}

Digest Decoder::digest() {
  Digest value;
  value.hash = hash();
  value.size_bytes = number();
  return value;
}

std::size_t Decoder::count(std::size_t min_item_bytes) {
  const auto value = number();
  if (value > rest_.size() / std::max<std::size_t>(min_item_bytes, 1)) {
    reject();
    return 0;
  }
  return static_cast<std::size_t>(value);
}

}  // namespace hallmark::digest
