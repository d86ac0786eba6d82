// A statement beside an artifact: parsing never crashes, and what parses can be written again.
#include <cstdint>
#include <cstdlib>

#include "app/attestation.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hallmark;
  const auto attestation = app::parse_attestation(as_text({data, size}));
  if (!attestation.has_value()) return 0;
  const auto text = app::to_json(*attestation);
  if (!text.has_value() || !app::parse_attestation(*text).has_value()) std::abort();
  return 0;
}
