#include "store/internal/census.h"

#include "base/format.h"
#include "base/limits.h"
#include "base/path.h"
#include "store/internal/frame.h"
#include "store/internal/payloads.h"

namespace hallmark::store {
namespace {

constexpr std::size_t kReadChunkBytes = std::size_t{256} << 10;

FrameKind kind_of_area(std::string_view area) {
  if (area == Layout::kRecords) return FrameKind::record;
  if (area == Layout::kWeakEntries) return FrameKind::weak_entry;
  if (area == Layout::kDerivations) return FrameKind::derivation;
  if (area == Layout::kPlaces) return FrameKind::places;
  if (area == Layout::kSites) return FrameKind::site;
  if (area == Layout::kTests) return FrameKind::tests;
  return FrameKind::last_miss;
}

template <class T>
std::optional<std::string> why_not(const Result<T>& decoded) {
  if (decoded.has_value()) return std::nullopt;
  return decoded.error().what;
}

bool is_gone(const Error& error) {
  return error.kind == ErrorKind::not_found;
}

}  // namespace

Status Census::walk(std::string_view area, const Visit& visit) {
  const std::string top = layout_.at(area);
  const auto folders = files_.list(top);
  if (!folders.has_value()) {
    if (is_gone(folders.error())) return {};
    return fail(folders.error());
  }
  for (const std::string& folder : *folders) {
    const std::string below = path::join(top, folder);
    HALLMARK_TRY(const auto stat, files_.lstat(below));
    if (!stat) continue;
    if (stat->kind != NodeKind::directory) {
      HALLMARK_CHECK(visit(below, folder));
      continue;
    }
    HALLMARK_TRY(const auto names, files_.list(below));
    for (const std::string& name : names) HALLMARK_CHECK(visit(path::join(below, name), name));
  }
  return {};
}

Result<StoreUsage> Census::count() {
  StoreUsage usage;
  HALLMARK_CHECK(walk(Layout::kBlobs, [&](const std::string& path, const std::string&) -> Status {
    HALLMARK_TRY(const auto stat, files_.lstat(path));
    if (!stat || stat->kind != NodeKind::file) return {};
    ++usage.blobs;
    usage.blob_bytes += stat->size_bytes;
    return {};
  }));
  const auto counting = [](std::uint64_t& number) {
    return [&number](const std::string&, const std::string&) -> Status {
      ++number;
      return {};
    };
  };
  HALLMARK_CHECK(walk(Layout::kRecords, counting(usage.records)));
  HALLMARK_CHECK(walk(Layout::kWeakEntries, counting(usage.weak_entries)));
  HALLMARK_CHECK(walk(Layout::kDerivations, counting(usage.derivations)));
  return usage;
}

Result<std::optional<std::string>> Census::check_blob(const std::string& path, const digest::Sha256& hash) {
  const auto file = files_.open_read(path);
  if (!file.has_value()) {
    if (is_gone(file.error())) return std::nullopt;
    return fail(file.error());
  }
  digest::Hasher hasher;
  Bytes buffer(kReadChunkBytes);
  for (;;) {
    HALLMARK_TRY(const std::size_t got, (*file)->read(buffer));
    if (got == 0) break;
    hasher.update(ByteView(buffer).first(got));
  }
  if (hasher.finish().hash == hash) return std::nullopt;
  return "the bytes are not those that were stored";
}

Result<std::optional<std::string>> Census::check_record(std::string_view payload) {
  const auto record = model::decode_record(payload);
  if (!record.has_value()) return record.error().what;
  const auto missing = [&](const digest::Digest& digest) -> Result<bool> {
    HALLMARK_TRY(const auto stat, files_.lstat(layout_.hashed(Layout::kBlobs, digest.hash)));
    return !stat || stat->size_bytes != digest.size_bytes;
  };
  for (const digest::Digest& digest : blobs_of(*record)) {
    HALLMARK_TRY(const bool is_missing, missing(digest));
    if (is_missing) return formatted("its blob {} is missing", digest.hex());
  }
  return std::nullopt;
}

Result<std::optional<std::string>> Census::check_frame(const std::string& path, std::string_view area,
                                                       const digest::Key& key) {
  const auto bytes = os::read_file(files_, path, limits::kRecordBytes + kFrameOverheadBytes);
  if (!bytes.has_value()) {
    if (is_gone(bytes.error())) return std::nullopt;
    if (bytes.error().kind == ErrorKind::limit) return bytes.error().what;
    return fail(bytes.error());
  }
  const FrameKind kind = kind_of_area(area);
  const auto payload = open_frame(kind, key, *bytes);
  if (!payload.has_value()) return payload.error().what;
  switch (kind) {
    case FrameKind::record:
      return check_record(*payload);
    case FrameKind::weak_entry:
      return why_not(model::decode_weak_entry(*payload));
    case FrameKind::derivation:
      return why_not(model::decode_derivation(*payload));
    case FrameKind::places:
      return why_not(model::decode_places(*payload));
    case FrameKind::site:
      return why_not(decode_site(*payload));
    case FrameKind::last_miss:
      return why_not(decode_last_miss(*payload));
    case FrameKind::tests:
      return why_not(decode_tests(*payload));
  }
  return std::nullopt;
}

Result<std::vector<StoreDefect>> Census::check(bool repair, const Progress& progress) {
  std::vector<StoreDefect> defects;
  std::uint64_t done = 0;
  const auto check_area = [&](std::string_view area) {
    return walk(area, [&](const std::string& path, const std::string& name) -> Status {
      const auto hash = digest::parse_hex(name);
      if (!hash || layout_.hashed(area, *hash) != path) {
        defects.push_back({path, "not a file of the store"});  // and so not ours to remove
      } else {
        auto what =
            area == Layout::kBlobs ? check_blob(path, *hash) : check_frame(path, area, digest::Key{*hash});
        if (!what.has_value()) what = std::optional(what.error().what);  // unreadable is a defect, too
        if (*what) {
          defects.push_back({path, std::move(**what)});
          if (repair) (void)files_.remove(path);
        }
      }
      if (progress) progress(++done);
      return {};
    });
  };
  // Blobs first: a record whose blob turns out to be damaged is then found to lack it.
  for (const std::string_view area :
       {Layout::kBlobs, Layout::kRecords, Layout::kWeakEntries, Layout::kDerivations, Layout::kPlaces,
        Layout::kSites, Layout::kMisses}) {
    HALLMARK_CHECK(check_area(area));
  }
  return defects;
}

}  // namespace hallmark::store
