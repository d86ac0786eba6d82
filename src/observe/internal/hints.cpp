#include "observe/internal/hints.h"

#include <algorithm>
#include <cstring>
#include <tuple>

#include "base/limits.h"
#include "digest/digest.h"
#include "digest/encoding.h"

namespace hallmark::observe {
namespace {

constexpr std::string_view kMagic = "hallmark hints 1\n";
constexpr std::size_t kHintsMaxBytes = limits::kHintPrograms * 64 + (16u << 10);
constexpr std::size_t kProgramMinBytes = 6;
constexpr std::size_t kLibraryMinBytes = 6;
constexpr std::size_t kSiteMinBytes = 3;
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
  if (!hints.decode_programs(in) || !hints.decode_libraries(in) || !in.finished()) return std::nullopt;
  return hints;
}

Hints::Key Hints::decode_key(digest::Decoder& in) {
  Key key;
  key.device = in.number();
  key.inode = in.number();
  key.size_bytes = in.number();
  key.mtime_ns = in.signed_number();
  return key;
}

bool Hints::decode_programs(digest::Decoder& in) {
  const std::size_t count = in.count(kProgramMinBytes);
  if (count > limits::kHintPrograms) return false;
  programs_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const Key key = decode_key(in);
    const std::uint64_t average = in.number();
    const std::uint64_t last_run = in.number();
    if (average > kAverageMax_x16 || last_run > run_) return false;
    if (!programs_.emplace(key, Program{static_cast<std::uint32_t>(average), last_run}).second) return false;
  }
  return true;
}

bool Hints::decode_libraries(digest::Decoder& in) {
  const std::size_t count = in.count(kLibraryMinBytes);
  if (count > kLibrariesMax) return false;
  for (std::size_t i = 0; i < count; ++i) {
    const Key key = decode_key(in);
    Library library;
    library.last_run = in.number();
    const std::size_t sites = in.count(kSiteMinBytes);
    if (library.last_run > run_ || sites > ring::kSitesPerLibrary) return false;
    for (std::size_t k = 0; k < sites; ++k) {
      const std::uint64_t offset = in.number();
      const std::uint64_t number = in.number();
      const std::uint64_t form = in.number();
      if (offset > 0xffffffff || number > 0xffff || form > ring::SharedSite::kSetsFolder) return false;
      library.sites.push_back({static_cast<std::uint32_t>(offset), static_cast<std::uint16_t>(number),
                               static_cast<std::uint16_t>(form)});
    }
    if (!libraries_.emplace(key, std::move(library)).second) return false;
  }
  return true;
}

std::string Hints::encode() const {
  const auto by_key = [](const auto& entry) {
    const Key& key = entry.first;
    return std::tuple(key.device, key.inode, key.size_bytes, key.mtime_ns);
  };
  digest::Encoder out;
  const auto put_key = [&out](const Key& key) {
    out.number(key.device).number(key.inode).number(key.size_bytes).signed_number(key.mtime_ns);
  };
  std::vector<std::pair<Key, Program>> programs(programs_.begin(), programs_.end());
  std::ranges::sort(programs, {}, by_key);
  out.number(run_).number(programs.size());
  for (const auto& [key, program] : programs) {
    put_key(key);
    out.number(program.average_x16).number(program.last_run);
  }
  std::vector<std::pair<Key, Library>> libraries(libraries_.begin(), libraries_.end());
  std::ranges::sort(libraries, {}, by_key);
  out.number(libraries.size());
  for (const auto& [key, library] : libraries) {
    put_key(key);
    out.number(library.last_run).number(library.sites.size());
    for (const ring::SharedSite& site : library.sites)
      out.number(site.offset).number(site.number).number(site.form);
  }
  std::string bytes(kMagic);
  bytes += out.bytes();
  const digest::Sha256 check = digest::digest_of(out.bytes()).hash;
  bytes.append(reinterpret_cast<const char*>(check.data()), check.size());
  return bytes;
}

std::optional<std::vector<ring::SharedSite>> Hints::sites_of(const FileStat& library) const {
  const auto found = libraries_.find(key_of(library));
  if (found == libraries_.end()) return std::nullopt;
  return found->second.sites;
}

void Hints::learn_sites(const FileStat& library, std::vector<ring::SharedSite> sites) {
  if (libraries_.size() == kLibrariesMax) {
    libraries_.erase(
        std::ranges::min_element(libraries_, {}, [](const auto& entry) { return entry.second.last_run; }));
  }
  libraries_[key_of(library)] = {std::move(sites), run_};
  worth_saving_ = true;
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
