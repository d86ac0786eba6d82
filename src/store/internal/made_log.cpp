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

std::uint64_t number_of(const digest::Sha256& hash) {
  return digest::HashOfSha256{}(hash);
}

}  // namespace

std::uint64_t place_of(std::string_view path) {
  return XXH3_64bits_withSeed(path.data(), path.size(), kSeed);
}

void MadeLog::Index::add(std::uint32_t line, std::uint64_t number) {
  auto& bucket = latest[number & (latest.size() - 1)];
  earlier.push_back(bucket);
  bucket = line + 1;
}

MadeLog::Line MadeLog::sealed(Line line) {
  line.check = XXH3_64bits_withSeed(&line, offsetof(Line, check), kSeed);
  return line;
}

/// All zero but for the check: names no place and no bytes.
MadeLog::Line MadeLog::mark_of_loss() {
  return sealed(Line{});
}

MadeLog::Maker MadeLog::maker_of(const Line& line) {
  const bool recorded = line.strong != digest::Sha256{};
  return {recorded ? std::optional(digest::Key{line.strong}) : std::nullopt, digest::Key{line.places},
          line.place};
}

Status MadeLog::add(const std::optional<digest::Key>& strong, const digest::Key& places,
                    const std::vector<DerivationStore::Made>& made) {
  static_assert(sizeof(Line) == 112);
  HALLMARK_TRY(const auto stat, files_.lstat(path_));
  if (stat && stat->size_bytes > limits::kMadeLogBytes) {
    (void)shorten();
    if (stat->size_bytes > kMostBytes)
      return fail({ErrorKind::limit, path_ + ": too long, and cannot be shortened", {}});
  }
  std::vector<Line> lines;
  lines.reserve(made.size());
  for (const auto& file : made) {
    Line line;
    if (strong) line.content = file.content.hash;
    if (strong) line.strong = strong->hash;
    line.places = places.hash;
    line.place = place_of(file.path);
    lines.push_back(sealed(line));
  }
  HALLMARK_TRY(const auto file, files_.append(path_, 0666));
  HALLMARK_CHECK(
      file->write(as_bytes({reinterpret_cast<const char*>(lines.data()), lines.size() * sizeof(Line)})));
  return file->close();
}

Result<MadeLog::Content> MadeLog::read() const {
  Content content;
  auto bytes = os::read_file(files_, path_, kMostBytes + limits::kMadeLogBytes);
  if (!bytes.has_value()) {
    if (bytes.error().kind != ErrorKind::not_found) return fail(std::move(bytes).error());
    bytes = std::string();
  }
  content.lines.reserve(bytes->size() / sizeof(Line));
  std::size_t good = 0;
  for (std::size_t at = 0; at + sizeof(Line) <= bytes->size();) {
    Line line;
    std::memcpy(&line, bytes->data() + at, sizeof line);
    if (line.check != sealed(line).check) {
      ++at;  // a part of a line, from a full disk: the next one begins somewhere behind it
      continue;
    }
    at += sizeof line;
    good += sizeof line;
    if (line.places == digest::Sha256{}) {
      content.lost = true;
    } else {
      content.lines.push_back(line);
    }
  }
  content.damaged_bytes = bytes->size() - good;
  return content;
}

Status MadeLog::load() {
  HALLMARK_TRY(auto content, read());
  const auto buckets = std::bit_ceil(content.lines.size() + 1);
  for (auto* index : {&content.by_content, &content.by_place}) {
    index->latest.resize(buckets, 0);
    index->earlier.reserve(content.lines.size());
  }
  for (std::uint32_t i = 0; i < content.lines.size(); ++i) {
    content.by_content.add(i, number_of(content.lines[i].content));
    content.by_place.add(i, content.lines[i].place);
  }
  content_ = std::move(content);
  return {};
}

Result<std::vector<MadeLog::Maker>> MadeLog::makers_of(const digest::Digest& content,
                                                       std::optional<std::uint64_t> place) {
  const std::lock_guard lock(mutex_);
  if (!content_) HALLMARK_CHECK(load());
  std::vector<Maker> makers;
  const auto& index = content_->by_content;
  for (auto at = index.first(number_of(content.hash)); at != 0; at = index.earlier[at - 1]) {
    const Line& line = content_->lines[at - 1];
    if (line.content != content.hash || (place && line.place != *place)) continue;
    const Maker maker = maker_of(line);
    if (!maker.strong) continue;
    const bool known = std::any_of(makers.begin(), makers.end(), [&](const Maker& other) {
      return other.strong == maker.strong && other.place == maker.place && other.places == maker.places;
    });
    if (known) continue;
    makers.push_back(maker);
    if (makers.size() == limits::kMakersPerContent) break;
  }
  return makers;
}

Result<std::optional<MadeLog::Maker>> MadeLog::last_maker_at(std::uint64_t place) {
  const std::lock_guard lock(mutex_);
  if (!content_) HALLMARK_CHECK(load());
  const auto& index = content_->by_place;
  for (auto at = index.first(place); at != 0; at = index.earlier[at - 1]) {
    if (content_->lines[at - 1].place == place) return maker_of(content_->lines[at - 1]);
  }
  return std::nullopt;
}

Result<bool> MadeLog::has_all_notes() {
  const std::lock_guard lock(mutex_);
  if (!content_) HALLMARK_CHECK(load());
  return !content_->lost && content_->damaged_bytes == 0;
}

Status MadeLog::shorten() {
  HALLMARK_TRY(const auto lock, files_.lock(lock_path_, os::LockMode::exclusive, os::LockWait::no));
  if (lock == nullptr) return {};
  HALLMARK_TRY(const auto stat, files_.lstat(path_));
  if (!stat || stat->size_bytes <= limits::kMadeLogBytes) return {};
  HALLMARK_TRY(const auto content, read());
  std::vector<Line> kept;
  std::unordered_set<std::uint64_t> seen;  // a line's check is a digest of it
  bool lost = content.lost || content.damaged_bytes > 0;
  for (auto line = content.lines.rbegin(); line != content.lines.rend(); ++line) {
    if (!seen.insert(line->check).second) continue;
    if (kept.size() * sizeof(Line) >= limits::kMadeLogBytes / 2) {
      lost = true;
      break;
    }
    kept.push_back(*line);
  }
  if (lost) kept.push_back(mark_of_loss());
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
  HALLMARK_TRY(auto content, read());
  if (repair && content.damaged_bytes > 0 && lock != nullptr) {
    content.lines.insert(content.lines.begin(), mark_of_loss());
    HALLMARK_CHECK(replace(content.lines));
  }
  return content.damaged_bytes;
}

}  // namespace hallmark::store
