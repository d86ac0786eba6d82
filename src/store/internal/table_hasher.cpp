#include "store/internal/table_hasher.h"

#include <algorithm>
#include <array>

#include "base/format.h"
#include "base/limits.h"

namespace hallmark::store {
namespace {

constexpr std::size_t kReadChunkBytes = std::size_t{64} << 10;
constexpr int kAttempts = 3;

bool is_near(std::int64_t a_ns, std::int64_t b_ns) {
  return (a_ns > b_ns ? a_ns - b_ns : b_ns - a_ns) < limits::kRacyWindow_ns;
}

}  // namespace

bool TableHasher::is_trusted(const std::string& path, std::uint64_t device) {
  const auto known = trusted_.find(device);
  if (known != trusted_.end()) return known->second;
  const auto network = files_.is_network(path);
  const bool trusted = network.has_value() && !*network;
  trusted_.emplace(device, trusted);
  return trusted;
}

std::optional<TableHasher::Hashed> TableHasher::find(const std::string& path, const FileStat& stat) {
  const std::lock_guard lock(mutex_);
  if (!is_trusted(path, stat.device)) return std::nullopt;
  const auto known = table_.find(stat);
  if (!known) return std::nullopt;
  return Hashed{{known->hash, stat.size_bytes}, stat, known->clock};
}

void TableHasher::remember(const std::string& path, const Hashed& hashed, std::int64_t started_ns) {
  // A ctime ahead of the clock (it was set back) says nothing about the order of things either.
  const bool settled = hashed.stat.ctime_ns < started_ns && !is_near(hashed.stat.ctime_ns, started_ns) &&
                       !is_near(hashed.stat.mtime_ns, started_ns);
  if (!settled) return;
  const std::lock_guard lock(mutex_);
  if (is_trusted(path, hashed.stat.device)) table_.insert(hashed.stat, {hashed.digest.hash, hashed.clock});
}

Result<std::optional<TableHasher::Hashed>> TableHasher::read_and_hash(const std::string& path) {
  HALLMARK_TRY(const auto file, files_.open_read(path));
  HALLMARK_TRY(const FileStat before, file->stat());
  digest::Hasher hasher;
  digest::ClockScanner clock;
  std::array<std::uint8_t, kReadChunkBytes> buffer;
  std::uint64_t left = before.size_bytes;
  while (left > 0) {
    const std::size_t room = static_cast<std::size_t>(std::min<std::uint64_t>(left, buffer.size()));
    HALLMARK_TRY(const std::size_t got, file->read(std::span(buffer).first(room)));
    if (got == 0) return std::nullopt;
    hasher.update(ByteView(buffer).first(got));
    clock.update(as_text(ByteView(buffer).first(got)));
    left -= got;
  }
  HALLMARK_TRY(const FileStat after, file->stat());
  if (before != after) return std::nullopt;
  return Hashed{hasher.finish(), after, clock.finish()};
}

Result<TableHasher::Hashed> TableHasher::hash(const std::string& path) {
  HALLMARK_TRY(const auto stat, files_.stat(path));
  if (!stat) return fail({ErrorKind::not_found, formatted("hash {}: it does not exist", path), {}});
  if (stat->kind != NodeKind::file)
    return fail({ErrorKind::invalid, formatted("hash {}: not a regular file", path), {}});
  if (const auto known = find(path, *stat)) return *known;

  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const std::int64_t started_ns = clock_.now_ns();
    HALLMARK_TRY(const auto hashed, read_and_hash(path));
    if (!hashed) continue;
    remember(path, *hashed, started_ns);
    return *hashed;
  }
  return fail({ErrorKind::io, formatted("hash {}: it changes while it is read", path), {}});
}

Status TableHasher::flush() {
  const std::lock_guard lock(mutex_);
  return table_.flush();
}

}  // namespace hallmark::store
