#include "engine/plain_hasher.h"

namespace hallmark::engine {

Result<digest::ContentHasher::Hashed> PlainHasher::hash(const std::string& path) {
  constexpr std::size_t kBufferBytes = 256u << 10;
  HALLMARK_TRY(const auto file, files_.open_read(path));
  HALLMARK_TRY(const auto before, file->stat());
  digest::Hasher hasher;
  std::string buffer(kBufferBytes, '\0');
  for (;;) {
    HALLMARK_TRY(const std::size_t got,
                 file->read({reinterpret_cast<std::uint8_t*>(buffer.data()), buffer.size()}));
    if (got == 0) break;
    hasher.update(std::string_view(buffer).substr(0, got));
  }
  HALLMARK_TRY(const auto after, file->stat());
  if (before != after) return fail(Error{ErrorKind::io, path + " changed while it was read", {}});
  return Hashed{hasher.finish(), after};
}

}  // namespace hallmark::engine
