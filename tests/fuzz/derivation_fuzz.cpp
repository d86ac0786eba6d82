// A derivation's payload: decoding never crashes, and what decodes encodes to the same bytes.
#include <cstdint>
#include <cstdlib>

#include "model/record.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hallmark;
  const std::string_view bytes = as_text({data, size});
  const auto derivation = model::decode_derivation(bytes);
  if (derivation.has_value() && model::encode(*derivation) != bytes) std::abort();
  return 0;
}
