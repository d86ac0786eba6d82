// A weak entry's payload: decoding never crashes, what decodes is well formed and encodes to the same bytes.
#include <cstdint>
#include <cstdlib>

#include "model/record.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hallmark;
  const std::string_view bytes = as_text({data, size});
  const auto entry = model::decode_weak_entry(bytes);
  if (!entry.has_value()) return 0;
  if (!model::is_well_formed(*entry) || model::encode(*entry) != bytes) std::abort();
  return 0;
}
