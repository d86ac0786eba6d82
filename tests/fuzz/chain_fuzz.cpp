// A chain of an attestation: neither unpacking nor decoding crashes, and what decodes encodes to the same
// bytes.
#include <cstdint>
#include <cstdlib>

#include "prove/chain.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hallmark;
  const std::string_view bytes = as_text({data, size});
  static_cast<void>(prove::unpack_chain(bytes));
  const auto chain = prove::decode_chain(bytes);
  if (!chain.has_value()) return 0;
  if (prove::encode(*chain).value() != bytes) std::abort();
  const auto leaves = prove::leaves_of(*chain, "/r");
  prove::ChainEvidence evidence(*chain, "/r");
  for (const auto& leaf : leaves) static_cast<void>(evidence.makers_of(leaf.content, std::nullopt));
  return 0;
}
