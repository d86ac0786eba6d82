// The shell around a record file. The checksum stops nearly everything, so that the input is also tried with
// a right checksum.
#include <cstdint>
#include <cstdlib>

#include "store/internal/frame.h"
#include "store/internal/payloads.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hallmark;
  const std::string_view bytes = as_text({data, size});
  const auto key = digest::Key{};
  const auto check = [&](std::string_view frame) {
    const auto payload = store::open_frame(store::FrameKind::site, key, frame);
    if (!payload.has_value()) return;
    if (store::seal_frame(store::FrameKind::site, key, *payload) != frame) std::abort();
  };
  check(bytes);
  std::string sealed(bytes);
  sealed.append(as_text(digest::digest_of(sealed).hash));
  check(sealed);
  const auto site = store::decode_site(bytes);
  if (site.has_value() && store::encode_site(*site) != bytes) std::abort();
  (void)store::decode_last_miss(bytes);
  return 0;
}
