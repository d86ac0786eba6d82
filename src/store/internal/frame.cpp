#include "store/internal/frame.h"

#include <algorithm>

#include "base/format.h"

namespace hallmark::store {
namespace {

// Offset  Size  What
//      0     8  magic
//      8     1  kind
//      9     1  version
//     10     6  payload length, little-endian
//     16    32  the key that names the file
//     48     n  payload
//   48+n    32  SHA-256 of all before
constexpr std::string_view kMagic = "hallmark";
constexpr char kVersion = 1;
constexpr std::size_t kLengthOffset = 10;
constexpr std::size_t kLengthBytes = 6;
constexpr std::size_t kKeyOffset = 16;
constexpr std::size_t kChecksumBytes = 32;

Error corrupt(std::string_view what) {
  return Error{ErrorKind::corrupt, std::string(what), {}};
}

}  // namespace

std::string seal_frame(FrameKind kind, const digest::Key& key, std::string_view payload) {
  std::string frame;
  frame.reserve(payload.size() + kFrameOverheadBytes);
  frame.append(kMagic);
  frame.push_back(static_cast<char>(kind));
  frame.push_back(kVersion);
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    frame.push_back(static_cast<char>(static_cast<std::uint64_t>(payload.size()) >> (8 * i)));
  }
  frame.append(as_text(key.hash));
  frame.append(payload);
  frame.append(as_text(digest::digest_of(frame).hash));
  return frame;
}

Result<std::string_view> open_frame(FrameKind kind, const digest::Key& key, std::string_view bytes) {
  if (bytes.size() < kFrameOverheadBytes) {
    return fail(
        corrupt(formatted("{} bytes where a frame has at least {}", bytes.size(), kFrameOverheadBytes)));
  }
  const std::string_view covered = bytes.substr(0, bytes.size() - kChecksumBytes);
  const digest::Sha256 checksum = digest::digest_of(covered).hash;
  if (bytes.substr(covered.size()) != as_text(checksum)) return fail(corrupt("checksum differs"));
  if (!covered.starts_with(kMagic)) return fail(corrupt("not a frame"));
  if (covered[kMagic.size()] != static_cast<char>(kind)) return fail(corrupt("a frame of another kind"));
  const char version = covered[kMagic.size() + 1];
  if (version != kVersion) {
    return fail({ErrorKind::newer_format,
                 formatted("frame version {}, known is {}", int{version}, int{kVersion}),
                 "use a later hallmark, or another store"});
  }
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    length |= static_cast<std::uint64_t>(static_cast<std::uint8_t>(covered[kLengthOffset + i])) << (8 * i);
  }
  if (length != covered.size() - kFrameHeaderBytes) return fail(corrupt("length differs"));
  if (covered.substr(kKeyOffset, key.hash.size()) != as_text(key.hash))
    return fail(corrupt("a frame of another key"));
  return covered.substr(kFrameHeaderBytes);
}

}  // namespace hallmark::store
