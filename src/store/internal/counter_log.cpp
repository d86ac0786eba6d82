#include "store/internal/counter_log.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <cstring>

#include "base/limits.h"

namespace hallmark::store {
namespace {

/// The bytes of one addition.
struct Line {
  std::uint64_t replayed = 0;
  std::uint64_t executed = 0;
  std::uint64_t unproven = 0;
  std::uint64_t failed = 0;
  std::uint64_t uncacheable = 0;
  std::int64_t saved_ns = 0;
  std::uint64_t reserved = 0;
  std::uint64_t check = 0;
};
static_assert(sizeof(Line) == 64);

constexpr std::uint64_t kCheckSeed = 0x68616c6c6d61726bU;  // "hallmark"
/// The log may outgrow its limit while its sum cannot be written; beyond this nothing is appended.
constexpr std::size_t kMostBytes = 4 * limits::kCounterLogBytes;

std::uint64_t check_of(const Line& line) {
  return XXH3_64bits_withSeed(&line, offsetof(Line, check), kCheckSeed);
}

Line to_line(const StoreCounters& c) {
  Line line{c.replayed, c.executed, c.unproven, c.failed, c.uncacheable, c.saved_ns, 0, 0};
  line.check = check_of(line);
  return line;
}

ByteView view(const Line& line) {
  return {reinterpret_cast<const std::uint8_t*>(&line), sizeof line};
}

}  // namespace

Status CounterLog::add(const StoreCounters& delta) {
  HALLMARK_TRY(const auto stat, files_.lstat(path_));
  if (stat && stat->size_bytes > limits::kCounterLogBytes) {
    (void)shorten();
    if (stat->size_bytes > kMostBytes) {
      return fail({ErrorKind::limit, path_ + ": too long, and its sum cannot be written", {}});
    }
  }
  HALLMARK_TRY(const auto file, files_.append(path_, 0666));
  HALLMARK_CHECK(file->write(view(to_line(delta))));
  return file->close();
}

Result<StoreCounters> CounterLog::sum() {
  StoreCounters total;
  auto bytes = os::read_file(files_, path_, kMostBytes + limits::kCounterLogBytes);
  if (!bytes.has_value()) {
    if (bytes.error().kind == ErrorKind::not_found) return total;
    return fail(std::move(bytes).error());
  }
  for (std::size_t at = 0; at + sizeof(Line) <= bytes->size();) {
    Line line;
    std::memcpy(&line, bytes->data() + at, sizeof line);
    if (line.check != check_of(line)) {
      ++at;  // a part of a line, from a full disk: the next one begins somewhere behind it
      continue;
    }
    at += sizeof line;
    total.replayed += line.replayed;
    total.executed += line.executed;
    total.unproven += line.unproven;
    total.failed += line.failed;
    total.uncacheable += line.uncacheable;
    total.saved_ns += line.saved_ns;
  }
  return total;
}

Status CounterLog::shorten() {
  HALLMARK_TRY(const auto lock, files_.lock(lock_path_, os::LockMode::exclusive, os::LockWait::no));
  if (lock == nullptr) return {};
  HALLMARK_TRY(const auto stat, files_.lstat(path_));
  if (!stat || stat->size_bytes <= limits::kCounterLogBytes) return {};
  HALLMARK_TRY(const StoreCounters total, sum());
  HALLMARK_TRY(const std::string temporary, scratch_.write(as_text(view(to_line(total))), 0666));
  return scratch_.place(temporary, path_);
}

}  // namespace hallmark::store
