#include "inspect/ninja_logs.h"

#include <array>
#include <charconv>
#include <cstring>

#include "base/format.h"

namespace hallmark::inspect {
namespace {

constexpr std::string_view kLogMark = "# ninja log v";
constexpr int kOldestLog = 4;
constexpr int kLastMurmurLog = 6;
constexpr int kNewestLog = 7;
constexpr std::string_view kDepsMark = "# ninjadeps\n";
constexpr std::uint32_t kDepsBit = 0x80000000U;
constexpr std::uint32_t kDepsRecordBytes = (1U << 19) - 1;
constexpr std::int64_t kNanosecondsInSecond = 1'000'000'000;
constexpr std::size_t kWord = sizeof(std::uint32_t);

template <class Number>
std::optional<Number> number_in(std::string_view text, int base = 10) {
  Number number{};
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (text.empty() || read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

/// MurmurHash64A by Austin Appleby (public domain), with the seed that Ninja uses.
std::uint64_t murmur_hash_64a(std::string_view text) {
  constexpr std::uint64_t kSeed = 0xDECAFBADDECAFBADULL;
  constexpr std::uint64_t kFactor = 0xc6a4a7935bd1e995ULL;
  constexpr int kShift = 47;
  std::uint64_t hash = kSeed ^ (text.size() * kFactor);
  while (text.size() >= sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data(), sizeof(word));
    word *= kFactor;
    word ^= word >> kShift;
    word *= kFactor;
    hash = (hash ^ word) * kFactor;
    text.remove_prefix(sizeof(word));
  }
  if (!text.empty()) {
    std::uint64_t rest = 0;
    std::memcpy(&rest, text.data(), text.size());
    hash = (hash ^ rest) * kFactor;
  }
  hash = (hash ^ (hash >> kShift)) * kFactor;
  return hash ^ (hash >> kShift);
}

std::optional<std::pair<std::string, NinjaLogEntry>> entry_in(std::string_view line, int version) {
  std::array<std::string_view, 5> fields;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const auto end = line.find('\t');
    if ((end == std::string_view::npos) != (i + 1 == fields.size())) return std::nullopt;
    fields[i] = line.substr(0, end);
    if (end != std::string_view::npos) line.remove_prefix(end + 1);
  }
  const auto time = number_in<std::int64_t>(fields[2]);
  const auto hash = number_in<std::uint64_t>(fields[4], 16);
  if (!time || !hash || fields[3].empty()) return std::nullopt;
  // Version 4 holds seconds.
  if (version == kOldestLog && *time > INT64_MAX / kNanosecondsInSecond) return std::nullopt;
  return std::pair(std::string(fields[3]),
                   NinjaLogEntry{version == kOldestLog ? *time * kNanosecondsInSecond : *time, *hash});
}

std::uint32_t word_at(std::string_view bytes, std::size_t at) {
  std::uint32_t word = 0;
  std::memcpy(&word, bytes.data() + at, kWord);
  return word;
}

/// False if the record is damaged.
bool take_path(NinjaDeps& deps, std::string_view record) {
  if (record.size() < kWord + 1 ||
      word_at(record, record.size() - kWord) != ~static_cast<std::uint32_t>(deps.paths.size()))
    return false;
  auto name = record.substr(0, record.size() - kWord);
  for (std::size_t zeros = 0; zeros < kWord - 1 && name.ends_with('\0'); ++zeros) name.remove_suffix(1);
  if (name.empty()) return false;
  deps.paths.emplace_back(name);
  return true;
}

bool take_deps(NinjaDeps& deps, std::string_view record, std::uint32_t version) {
  const std::size_t header = version == 3 ? 2 * kWord : 3 * kWord;
  if (record.size() < header) return false;
  const auto output = word_at(record, 0);
  if (output >= deps.paths.size()) return false;
  NinjaDeps::Entry entry;
  if (version == 3) {
    entry.mtime_ns = static_cast<std::int64_t>(word_at(record, kWord)) * kNanosecondsInSecond;
  } else {
    std::memcpy(&entry.mtime_ns, record.data() + kWord, sizeof(entry.mtime_ns));
  }
  for (std::size_t at = header; at < record.size(); at += kWord) {
    const auto path = word_at(record, at);
    if (path >= deps.paths.size()) return false;
    entry.paths.push_back(path);
  }
  deps.outputs.insert_or_assign(deps.paths[output], std::move(entry));
  return true;
}

}  // namespace

std::optional<bool> NinjaLog::is_made_by(const NinjaLogEntry& entry, std::string_view command) const {
  if (version > kLastMurmurLog) return std::nullopt;
  return entry.command_hash == murmur_hash_64a(command);
}

Result<NinjaLog> parse_ninja_log(std::string_view text) {
  if (!text.starts_with(kLogMark)) return fail({ErrorKind::invalid, "it is no log of Ninja", {}});
  const auto first_end = std::min(text.find('\n'), text.size());
  const auto version = number_in<int>(text.substr(kLogMark.size(), first_end - kLogMark.size()));
  if (!version || *version < kOldestLog || *version > kNewestLog)
    return fail({ErrorKind::unsupported,
                 formatted("it is a log of a version of Ninja that is not known here (known are v{} to v{})",
                           kOldestLog, kNewestLog),
                 {}});
  NinjaLog log;
  log.version = *version;
  text.remove_prefix(first_end);
  while (!text.empty()) {
    text.remove_prefix(1);
    const auto end = text.find('\n');
    if (end == std::string_view::npos) break;  // a line that was never finished
    if (auto entry = entry_in(text.substr(0, end), log.version))
      log.outputs.insert_or_assign(std::move(entry->first), entry->second);
    text.remove_prefix(end);
  }
  return log;
}

Result<NinjaDeps> parse_ninja_deps(std::string_view bytes) {
  if (!bytes.starts_with(kDepsMark) || bytes.size() < kDepsMark.size() + kWord)
    return fail({ErrorKind::invalid, "it is no dependency log of Ninja", {}});
  bytes.remove_prefix(kDepsMark.size());
  const auto version = word_at(bytes, 0);
  if (version != 3 && version != 4)
    return fail({ErrorKind::unsupported,
                 "it is a dependency log of a version of Ninja that is not known here (known are 3 and 4)",
                 {}});
  bytes.remove_prefix(kWord);
  NinjaDeps deps;
  while (bytes.size() >= kWord) {
    const auto head = word_at(bytes, 0);
    const std::size_t size = head & ~kDepsBit;
    bytes.remove_prefix(kWord);
    if (size > kDepsRecordBytes || size > bytes.size() || size % kWord != 0) break;
    const auto record = bytes.substr(0, size);
    if (!((head & kDepsBit) != 0 ? take_deps(deps, record, version) : take_path(deps, record))) break;
    bytes.remove_prefix(size);
  }
  return deps;
}

}  // namespace hallmark::inspect
