// Fast hashing of short texts and a flat set of 64-bit hashes, for tables that live as long as one run.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

namespace hallmark::observe {

inline std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

/// 64 bits; not for adversaries, never stored.
inline std::uint64_t hash_of(std::string_view text, std::uint64_t seed) {
  constexpr std::uint64_t kOdd1 = 0xa0761d6478bd642full;
  constexpr std::uint64_t kOdd2 = 0xe7037ed1a0b428dbull;
  const char* at = text.data();
  std::size_t left = text.size();
  std::uint64_t state = seed ^ kOdd1;
  while (left > 16) {
    std::uint64_t words[2];
    std::memcpy(words, at, 16);
    state = mix(words[0] ^ kOdd2, words[1] ^ state);
    at += 16;
    left -= 16;
  }
  std::uint64_t words[2] = {0, 0};
  if (left != 0) std::memcpy(words, at, left);
  return mix(kOdd2 ^ text.size(), mix(words[0] ^ kOdd1, words[1] ^ state));
}

/// A set of hashes with an optional value each. Grows by doubling, never shrinks; clear() keeps the memory.
class HashTable {
 public:
  std::optional<std::uint32_t> find(std::uint64_t hash) const {
    if (slots_.empty()) return std::nullopt;
    hash |= 1;  // 0 marks a free slot
    for (std::size_t at = hash >> shift_;; at = (at + 1) & (slots_.size() - 1)) {
      if (slots_[at].hash == hash) return slots_[at].value;
      if (slots_[at].hash == 0) return std::nullopt;
    }
  }
  void put(std::uint64_t hash, std::uint32_t value) {
    if ((used_ + 1) * 3 > slots_.size() * 2) grow();
    hash |= 1;
    for (std::size_t at = hash >> shift_;; at = (at + 1) & (slots_.size() - 1)) {
      if (slots_[at].hash == 0) {
        slots_[at].hash = hash;
        ++used_;
      }
      if (slots_[at].hash != hash) continue;
      slots_[at].value = value;
      return;
    }
  }
  void clear() {
    if (used_ == 0) return;
    std::fill(slots_.begin(), slots_.end(), Slot{});
    used_ = 0;
  }
  void release() { *this = HashTable(); }
  std::size_t size() const { return used_; }

 private:
  struct Slot {
    std::uint64_t hash = 0;
    std::uint32_t value = 0;
  } __attribute__((packed));

  void grow() {
    std::vector<Slot> old(slots_.empty() ? 256 : slots_.size() * 2);
    old.swap(slots_);
    shift_ = 64;
    for (std::size_t size = slots_.size(); size > 1; size /= 2) --shift_;
    used_ = 0;
    for (const Slot& slot : old) {
      if (slot.hash != 0) put(slot.hash, slot.value);
    }
  }

  std::vector<Slot> slots_;
  std::size_t used_ = 0;
  unsigned shift_ = 63;
};

}  // namespace hallmark::observe
