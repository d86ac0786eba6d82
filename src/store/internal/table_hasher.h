// TableHasher: hashes files, and spares it where the digest table knows them.
//
// Contract: as ContentHasher; thread-safe. A file on a network file system is read each time: its stat may
// lag behind. A file whose mtime or ctime lies within limits::kRacyWindow_ns of the hashing is not
// remembered: it could change once more without a change of its times. A file that changes while it is read
// is read again; if it will not rest, that is an Error.
#pragma once

#include <mutex>
#include <unordered_map>

#include "digest/content_hasher.h"
#include "os/clock.h"
#include "store/internal/digest_table.h"

namespace hallmark::store {

class TableHasher final : public digest::ContentHasher {
 public:
  TableHasher(os::FileSystem& files, os::Clock& clock, DigestTable& table)
      : files_(files), clock_(clock), table_(table) {}

  Result<Hashed> hash(const std::string& path) override;
  Status flush();

 private:
  std::optional<Hashed> find(const std::string& path, const FileStat& stat);
  void remember(const std::string& path, const Hashed& hashed, std::int64_t started_ns);
  bool is_trusted(const std::string& path, std::uint64_t device);
  Result<std::optional<Hashed>> read_and_hash(const std::string& path);

  os::FileSystem& files_;
  os::Clock& clock_;
  std::mutex mutex_;  // guards the two below
  DigestTable& table_;
  std::unordered_map<std::uint64_t, bool> trusted_;  // by device
};

}  // namespace hallmark::store
