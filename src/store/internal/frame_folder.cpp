#include "store/internal/frame_folder.h"

#include "base/format.h"
#include "base/limits.h"

namespace hallmark::store {
namespace {

constexpr std::uint32_t kFrameMode = 0444;

}  // namespace

Result<std::optional<Frame>> FrameFolder::load(const digest::Key& key) {
  auto bytes = os::read_file(files_, path_of(key), limits::kRecordBytes + kFrameOverheadBytes);
  if (!bytes.has_value()) {
    if (bytes.error().kind == ErrorKind::not_found) return std::nullopt;
    if (bytes.error().kind == ErrorKind::limit) return fail(reject(key, bytes.error()));
    return fail(std::move(bytes).error());
  }
  const auto payload = open_frame(kind_, key, *bytes);
  if (payload.has_value()) return Frame(std::move(*bytes), *payload);
  if (payload.error().kind != ErrorKind::corrupt) return fail(payload.error());
  return fail(reject(key, payload.error()));
}

Error FrameFolder::reject(const digest::Key& key, const Error& why) {
  const std::string path = path_of(key);
  if (!read_only_) (void)files_.remove(path);
  return Error{ErrorKind::corrupt, formatted("{}: {}", path, why.what), {}};
}

Status FrameFolder::check_writable(std::size_t payload_bytes) const {
  if (read_only_) {
    return fail({ErrorKind::permission, formatted("the store {} is read-only", layout_.folder()), {}});
  }
  if (payload_bytes > limits::kRecordBytes) {
    return fail({ErrorKind::limit,
                 formatted("a record of {} bytes, the limit is {}", payload_bytes, limits::kRecordBytes),
                 {}});
  }
  return {};
}

Status FrameFolder::replace(const digest::Key& key, std::string_view payload) {
  HALLMARK_CHECK(check_writable(payload.size()));
  HALLMARK_TRY(const std::string temporary, scratch_.write(seal_frame(kind_, key, payload), kFrameMode));
  return scratch_.place(temporary, path_of(key));
}

Result<bool> FrameFolder::add(const digest::Key& key, std::string_view payload) {
  HALLMARK_CHECK(check_writable(payload.size()));
  HALLMARK_TRY(const std::string temporary, scratch_.write(seal_frame(kind_, key, payload), kFrameMode));
  return scratch_.place_new(temporary, path_of(key));
}

}  // namespace hallmark::store
