#include "engine/internal/loader_cache.h"

#include <cstdint>
#include <cstring>

#include "digest/digest.h"

namespace hallmark::engine {
namespace {

constexpr std::string_view kMagic = "glibc-ld.so.cache1.1";
constexpr std::size_t kHeaderBytes = 48;
constexpr std::size_t kEntryBytes = 24;
constexpr std::size_t kCacheFileBytes = 16u << 20;

template <class T>
T number_at(std::string_view bytes, std::size_t offset) {
  T value{};
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

/// The text that begins at `offset`, up to its NUL; empty if the offset is not inside.
std::string_view text_at(std::string_view bytes, std::uint32_t offset) {
  if (offset >= bytes.size()) return {};
  const auto rest = bytes.substr(offset);
  const auto end = rest.find('\0');
  return end == std::string_view::npos ? std::string_view() : rest.substr(0, end);
}

}  // namespace

LoaderCache::LoaderCache(std::string bytes) : bytes_(std::move(bytes)) {
  if (bytes_.size() < kHeaderBytes || !bytes_.starts_with(kMagic)) return;
  const auto count = number_at<std::uint32_t>(bytes_, kMagic.size());
  if (count <= (bytes_.size() - kHeaderBytes) / kEntryBytes) entries_ = count;
}

LoaderCache LoaderCache::read(os::FileSystem& files) {
  auto bytes = os::read_file(files, kPath, kCacheFileBytes);
  return LoaderCache(bytes.has_value() ? *std::move(bytes) : std::string());
}

std::string LoaderCache::answer(std::string_view soname) const {
  if (entries_ == 0) {
    // Not understood, or absent: everything in it counts.
    const auto digest = digest::digest_of(bytes_);
    return "whole " + digest.hex();
  }
  std::string found;
  for (std::size_t i = 0; i < entries_; ++i) {
    const std::size_t at = kHeaderBytes + i * kEntryBytes;
    // flags, key, value, os version, hardware capabilities
    if (text_at(bytes_, number_at<std::uint32_t>(bytes_, at + 4)) != soname) continue;
    found.append(text_at(bytes_, number_at<std::uint32_t>(bytes_, at + 8)));
    found.append(" ").append(std::to_string(number_at<std::uint32_t>(bytes_, at)));
    found.append(" ").append(std::to_string(number_at<std::uint64_t>(bytes_, at + 16))).append("\n");
  }
  return found;
}

bool is_library_name(std::string_view name) {
  const auto mark = name.find(".so");
  return mark != std::string_view::npos && mark > 0 && (mark + 3 == name.size() || name[mark + 3] == '.');
}

}  // namespace hallmark::engine
