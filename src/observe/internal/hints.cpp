#include "observe/internal/hints.h"

#include <algorithm>
#include <cstring>

#include "base/limits.h"
#include "digest/digest.h"
#include "digest/encoding.h"

namespace hallmark::observe {
namespace {

constexpr std::string_view kMagic = "hallmark hints 1\n";
constexpr std::size_t kHintsMaxBytes = limits::kHintPrograms * 64 + 4096;
constexpr std::size_t kProgramMinBytes = 6;
constexpr std::uint32_t kAverageMax_x16 = 1u << 28;

}  // namespace

std::size_t Hints::KeyHash::operator()(const Key& key) const {
  std::uint64_t hash = key.inode * 0x9e3779b97f4a7c15ULL;
  hash ^= key.device + (hash << 6) + (hash >> 2);
  hash ^= static_cast<std::uint64_t>(key.mtime_ns) + key.size_bytes + (hash << 6) + (hash >> 2);
  return static_cast<std::size_t>(hash);
}

Hints Hints::load(os::FileSystem& files, const std::string& path) {
  if (path.empty()) return {};
  const auto bytes = os::read_file(files, path, kHintsMaxBytes);
  if (!bytes) return {};
  auto hints = decode(*bytes);
  if (!hints) return {};
  ++hints->run_;
  return std::move(*hints);
}

std::optional<Hints> Hints::decode(std::string_view bytes) {
  if (!bytes.starts_with(kMagic) || bytes.size() < kMagic.size() + sizeof(digest::Sha256))
    return std::nullopt;
  const std::string_view body =
      bytes.substr(kMagic.size(), bytes.size() - kMagic.size() - sizeof(digest::Sha256));
  const std::string_view check = bytes.substr(bytes.size() - sizeof(digest::Sha256));
  if (std::memcmp(digest::digest_of(body).hash.data(), check.data(), check.size()) != 0) return std::nullopt;

  digest::Decoder in(body);
  Hints hints;
  hints.run_ = in.number();
  const std::size_t count = in.count(kProgramMinBytes);
  if (count > limits::kHintPrograms) return std::nullopt;
  hints.programs_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    Key key;
    key.device = in.number();
    key.inode = in.number();
    key.size_bytes = in.number();
    key.mtime_ns = in.signed_number();
    const std::uint64_t average = in.number();
    const std::uint64_t last_run = in.number();
    if (average > kAverageMax_x16 || last_run > hints.run_) return std::nullopt;
    if (!hints.programs_.emplace(key, Program{static_cast<std::uint32_t>(average), last_run}).second) {
      return std::nullopt;
    }
  }
  if (!in.finished()) return std::nullopt;
  return hints;
}

std::string Hints::encode() const {
  digest::Encoder out;
  out.number(run_).number(programs_.size());
  std::vector<std::pair<Key, Program>> sorted(programs_.begin(), programs_.end());
  std::ranges::sort(sorted, {}, [](const auto& entry) {
    const Key& key = entry.first;
    return std::tuple(key.device, key.inode, key.size_bytes, key.mtime_ns);
  });
  for (const auto& [key, program] : sorted) {
    out.number(key.device).number(key.inode).number(key.size_bytes).signed_number(key.mtime_ns);
    out.number(program.average_x16).number(program.last_run);
  }
  std::string bytes(kMagic);
  bytes += out.bytes();
  const digest::Sha256 check = digest::digest_of(out.bytes()).hash;
  bytes.append(reinterpret_cast<const char*>(check.data()), check.size());
  return bytes;
}

bool Hints::pays(const FileStat& program) const {
  const auto found = programs_.find(key_of(program));
  return found == programs_.end() || found->second.average_x16 >= kPaysFrom * 16;
}

void Hints::learn(const FileStat& program, std::uint64_t processes, std::uint64_t accesses) {
  if (processes == 0) return;
  const auto now = static_cast<std::uint32_t>(std::min<std::uint64_t>(
      accesses / processes * 16 + accesses % processes * 16 / processes, kAverageMax_x16));
  const auto [place, is_new] = programs_.try_emplace(key_of(program), Program{now, run_});
  Program& known = place->second;
  if (is_new) {
    worth_saving_ = true;
    while (programs_.size() > limits::kHintPrograms) {
      programs_.erase(
          std::ranges::min_element(programs_, {}, [](const auto& entry) { return entry.second.last_run; }));
    }
    return;
  }
  const bool paid = known.average_x16 >= kPaysFrom * 16;
  known.average_x16 = (known.average_x16 * 3 + now) / 4;  // a single odd run does not turn it round
  known.last_run = run_;
  worth_saving_ |= paid != (known.average_x16 >= kPaysFrom * 16);
}

Status Hints::save(os::FileSystem& files, const std::string& path, std::string_view unique) const {
  return os::write_file_atomically(files, path, encode(), unique, false);
}

}  // namespace hallmark::observe
