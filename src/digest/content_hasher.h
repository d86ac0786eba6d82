// ContentHasher: reads and hashes a file's content now. Room store implements it (with its digest table),
// room observe asks it for what must be hashed at the event.
#pragma once

#include <optional>
#include <string>

#include "base/file_stat.h"
#include "base/result.h"
#include "digest/clock_words.h"
#include "digest/digest.h"

namespace hallmark::digest {

class ContentHasher {
 public:
  virtual ~ContentHasher() = default;
  struct Hashed {
    Digest digest;
    FileStat stat;                                   ///< of the very bytes that were hashed
    std::optional<ClockWords> clock = std::nullopt;  ///< in them; nullopt: nobody looked
  };
  /// Follows links. Thread-safe.
  virtual Result<Hashed> hash(const std::string& path) = 0;
};

}  // namespace hallmark::digest
