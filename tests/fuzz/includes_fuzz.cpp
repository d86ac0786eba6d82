// Source texts: reading their #include lines never crashes.
#include <cstdint>

#include "base/bytes.h"
#include "inspect/includes.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static_cast<void>(hallmark::inspect::includes_in(hallmark::as_text({data, size})));
  return 0;
}
