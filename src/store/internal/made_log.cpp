#include "store/internal/made_log.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <unordered_set>

#include "base/limits.h"

namespace hallmark::store {

namespace {

constexpr std::uint64_t kSeed = 0x68616c6c6d61726bU;  // "hallmark"
/// The log may outgrow its limit while it cannot be shortened; beyond this nothing is appended.
constexpr std::size_t kMostBytes = 2 * limits::kMadeLogBytes;

}  // namespace

std::uint64_t place_of(std::string_view folded_path) {
  return XXH3_64bits_withSeed(folded_path.data(), folded_path.size(), kSeed);
}

std::size_t MadeLog::Index::bucket_of(const digest::Sha256& content) const {
  return digest::HashOfSha256{}(content) & (latest.size() - 1);
}

Status MadeLog::add(const digest::Key& strong, const std::vector<DerivationStore::Made>& made) {
  static_assert(sizeof(Line) == 80);
  if (made.empty()) return {};
  HALLMARK_TRY(const auto stat, files_.lstat(path_));
  if (stat && stat->size_bytes > limits::kMadeLogBytes) {
    (void)shorten();
    if (stat->size_bytes > kMostBytes)
      return fail({ErrorKind::limit, path_ + ": too long, and cannot be shortened", {}});
  }
  std::vector<Line> lines;
  lines.reserve(made.size());
  for (const auto& file : made) {
    auto& line = lines.emplace_back(Line{file.content.hash, strong.hash, place_of(file.path), 0});
    line.check = XXH3_64bits_withSeed(&line, offsetof(Line, check), kSeed);
  }
  HALLMARK_TRY(const auto file, files_.append(path_, 0666));
  HALLMARK_CHECK(
      file->write(as_bytes({reinterpret_cast<const char*>(lines.data()), lines.size() * sizeof(Line)})));
  return file->close();
}

Result<MadeLog::Content> MadeLog::read() const {
  Content content;
  auto& lines = content.lines;
  auto bytes = os::read_file(files_, path_, kMostBytes + limits::kMadeLogBytes);
  if (!bytes.has_value()) {
    if (bytes.error().kind == ErrorKind::not_found) return content;
    return fail(std::move(bytes).error());
  }
  lines.reserve(bytes->size() / sizeof(Line));
  std::size_t at = 0;
  while (at + sizeof(Line) <= bytes->size()) {
    Line line;
    std::memcpy(&line, bytes->data() + at, sizeof line);
    if (line.check != XXH3_64bits_withSeed(&line, offsetof(Line, check), kSeed)) {
      ++at;  // a part of a line, from a full disk: the next one begins somewhere behind it
      continue;
    }
    at += sizeof line;
    lines.push_back(line);
  }
  content.damaged_bytes = bytes->size() - lines.size() * sizeof(Line);
  return content;
}

Status MadeLog::load() {
  Index index;
  HALLMARK_TRY(auto content, read());
  index.lines = std::move(content.lines);
  index.latest.resize(std::bit_ceil(index.lines.size() + 1), 0);
  index.earlier.reserve(index.lines.size());
  for (std::size_t i = 0; i < index.lines.size(); ++i) {
    auto& latest = index.latest[index.bucket_of(index.lines[i].content)];
    index.earlier.push_back(latest);
    latest = static_cast<std::uint32_t>(i) + 1;
  }
  index_ = std::move(index);
  return {};
}

Result<std::vector<DerivationStore::Maker>> MadeLog::makers_of(const digest::Digest& content,
                                                               std::optional<std::uint64_t> place) {
  const std::lock_guard lock(mutex_);
  if (!index_) HALLMARK_CHECK(load());
  std::vector<DerivationStore::Maker> makers;
  for (auto at = index_->latest[index_->bucket_of(content.hash)]; at != 0; at = index_->earlier[at - 1]) {
    const Line& line = index_->lines[at - 1];
    if (line.content != content.hash || (place && line.place != *place)) continue;
    const bool known = std::any_of(makers.begin(), makers.end(), [&](const auto& maker) {
      return maker.strong.hash == line.strong && maker.place == line.place;
    });
    if (known) continue;
    makers.push_back({digest::Key{line.strong}, line.place});
    if (makers.size() == limits::kMakersPerContent) break;
  }
  return makers;
}

Status MadeLog::shorten() {
  HALLMARK_TRY(const auto lock, files_.lock(lock_path_, os::LockMode::exclusive, os::LockWait::no));
  if (lock == nullptr) return {};
  HALLMARK_TRY(const auto stat, files_.lstat(path_));
  if (!stat || stat->size_bytes <= limits::kMadeLogBytes) return {};
  HALLMARK_TRY(const auto content, read());
  std::vector<Line> kept;
  std::unordered_set<std::uint64_t> seen;  // a line's check is a digest of it
  for (auto line = content.lines.rbegin(); line != content.lines.rend(); ++line) {
    if (!seen.insert(line->check).second) continue;
    kept.push_back(*line);
    if (kept.size() * sizeof(Line) >= limits::kMadeLogBytes / 2) break;
  }
  std::reverse(kept.begin(), kept.end());
  return replace(kept);
}

Status MadeLog::replace(std::span<const Line> lines) {
  HALLMARK_TRY(const std::string temporary,
               scratch_.write({reinterpret_cast<const char*>(lines.data()), lines.size_bytes()}, 0666));
  return scratch_.place(temporary, path_);
}

Result<std::uint64_t> MadeLog::count_damaged(bool repair) {
  std::unique_ptr<os::FileLock> lock;
  if (repair) {
    HALLMARK_TRY(lock, files_.lock(lock_path_, os::LockMode::exclusive, os::LockWait::no));
  }
  HALLMARK_TRY(const auto content, read());
  if (repair && content.damaged_bytes > 0 && lock != nullptr) HALLMARK_CHECK(replace(content.lines));
  return content.damaged_bytes;
}

}  // namespace hallmark::store
