#include "store/internal/blob_folder.h"

#include "base/format.h"
#include "base/limits.h"

namespace hallmark::store {
namespace {

/// Up to this size a blob goes through memory in one piece: fewer system calls, and the check comes before
/// the write.
constexpr std::size_t kSmallBlobBytes = std::size_t{1} << 20;
constexpr std::size_t kCopyChunkBytes = std::size_t{256} << 10;
/// Nobody may write to a blob, not even its owner by accident.
constexpr std::uint32_t kBlobMode = 0444;

/// The digest of a file that is read to its end, each piece being handed on.
template <class Take>
Result<digest::Digest> hash_all(os::ReadableFile& file, const Take& take) {
  digest::Hasher hasher;
  Bytes buffer(kCopyChunkBytes);
  for (;;) {
    HALLMARK_TRY(const std::size_t got, file.read(buffer));
    if (got == 0) return hasher.finish();
    const ByteView chunk = ByteView(buffer).first(got);
    hasher.update(chunk);
    HALLMARK_CHECK(take(chunk));
  }
}

}  // namespace

Status BlobFolder::check_writable() const {
  if (!read_only_) return {};
  return fail({ErrorKind::permission, formatted("the store {} is read-only", layout_.folder()), {}});
}

Result<bool> BlobFolder::contains(const digest::Digest& digest) {
  HALLMARK_TRY(const auto stat, files_.lstat(path_of(digest)));
  return stat && stat->kind == NodeKind::file && stat->size_bytes == digest.size_bytes;
}

Error BlobFolder::remove_corrupt(const std::string& blob) {
  if (!read_only_) (void)files_.remove(blob);
  return Error{ErrorKind::corrupt, formatted("{}: the bytes are not those that were stored", blob), {}};
}

Result<std::optional<std::string>> BlobFolder::read(const digest::Digest& digest, std::size_t max_bytes) {
  if (digest.size_bytes > max_bytes) {
    return fail({ErrorKind::limit,
                 formatted("blob {}: {} bytes, the limit is {}", digest.hex(), digest.size_bytes, max_bytes),
                 {}});
  }
  const std::string blob = path_of(digest);
  auto bytes = os::read_file(files_, blob, static_cast<std::size_t>(digest.size_bytes));
  if (!bytes.has_value()) {
    if (bytes.error().kind == ErrorKind::not_found) return std::nullopt;
    if (bytes.error().kind == ErrorKind::limit) return fail(remove_corrupt(blob));
    return fail(std::move(bytes).error());
  }
  if (digest::digest_of(*bytes) != digest) return fail(remove_corrupt(blob));
  return std::move(*bytes);
}

Result<digest::Digest> BlobFolder::put(std::string_view bytes) {
  HALLMARK_CHECK(check_writable());
  const digest::Digest digest = digest::digest_of(bytes);
  // One that is there already is read, not believed: a power loss may have left it with its size and without
  // its bytes.
  if (bytes.size() <= kSmallBlobBytes) {
    const auto there = read(digest, kSmallBlobBytes);
    if (there.has_value() && there->has_value()) return digest;
  }
  HALLMARK_TRY(const std::string temporary, scratch_.write(bytes, kBlobMode));
  HALLMARK_CHECK(scratch_.place(temporary, path_of(digest)));
  return digest;
}

Result<digest::Digest> BlobFolder::put_file(const std::string& path) {
  HALLMARK_CHECK(check_writable());
  HALLMARK_TRY(const auto stat, files_.stat(path));
  if (!stat) return fail({ErrorKind::not_found, formatted("store {}: it does not exist", path), {}});
  if (stat->kind != NodeKind::file) {
    return fail({ErrorKind::invalid, formatted("store {}: not a regular file", path), {}});
  }
  if (stat->size_bytes > limits::kBlobBytes) {
    return fail(
        {ErrorKind::limit, formatted("store {}: longer than {} bytes", path, limits::kBlobBytes), {}});
  }
  if (stat->size_bytes > kSmallBlobBytes) return put_large(path);
  auto bytes = os::read_file(files_, path, kSmallBlobBytes);
  if (!bytes.has_value()) {
    if (bytes.error().kind == ErrorKind::limit) return put_large(path);  // it grew
    return fail(std::move(bytes).error());
  }
  return put(*bytes);
}

Result<digest::Digest> BlobFolder::put_large(const std::string& path) {
  HALLMARK_TRY(const std::string temporary, scratch_.new_name());
  const auto take = [&]() -> Result<digest::Digest> {
    HALLMARK_TRY(const bool cloned, files_.clone(path, temporary, kBlobMode));
    return cloned ? hash_file(temporary) : copy_hashed(path, temporary, kBlobMode);
  };
  Result<digest::Digest> taken = take();
  if (!taken.has_value() && taken.error().kind == ErrorKind::not_found) {
    HALLMARK_CHECK(os::make_folders(files_, layout_.at(Layout::kTemporaries)));
    taken = take();
  }
  if (!taken.has_value()) {
    (void)files_.remove(temporary);
    return taken;
  }
  // Even if the blob is there: what was just hashed is good, and an older one may not be.
  HALLMARK_CHECK(scratch_.place(temporary, path_of(*taken)));
  return taken;
}

Result<digest::Digest> BlobFolder::copy_hashed(const std::string& from, const std::string& to,
                                               std::uint32_t mode) {
  HALLMARK_TRY(const auto source, files_.open_read(from));
  HALLMARK_TRY(const auto target, files_.create(to, mode));
  HALLMARK_TRY(const auto digest, hash_all(*source, [&](ByteView chunk) { return target->write(chunk); }));
  HALLMARK_CHECK(target->close());
  return digest;
}

Result<digest::Digest> BlobFolder::hash_file(const std::string& path) {
  HALLMARK_TRY(const auto file, files_.open_read(path));
  return hash_all(*file, [](ByteView) { return Status(); });
}

Result<bool> BlobFolder::restore(const digest::Digest& digest, os::UnseenFile& into, std::uint32_t mode) {
  if (digest.size_bytes <= kSmallBlobBytes) {
    HALLMARK_TRY(const auto bytes, read(digest, kSmallBlobBytes));
    if (!bytes) return false;
    HALLMARK_CHECK(into.write(as_bytes(*bytes)));
  } else {
    const std::string blob = path_of(digest);
    HALLMARK_TRY(const auto stat, files_.lstat(blob));
    if (!stat) return false;
    if (stat->size_bytes != digest.size_bytes) return fail(remove_corrupt(blob));
    HALLMARK_TRY(const auto filled, fill(blob, into));
    if (filled != digest) return fail(remove_corrupt(blob));
  }
  HALLMARK_CHECK(into.finish(mode));
  return true;
}

Result<digest::Digest> BlobFolder::fill(const std::string& blob, os::UnseenFile& into) {
  HALLMARK_TRY(const bool cloned, into.clone(blob));
  if (cloned) {
    HALLMARK_TRY(const auto file, into.read_back());
    return hash_all(*file, [](ByteView) { return Status(); });
  }
  HALLMARK_TRY(const auto source, files_.open_read(blob));
  return hash_all(*source, [&](ByteView chunk) { return into.write(chunk); });
}

}  // namespace hallmark::store
