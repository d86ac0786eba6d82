// Reports of tests: reading never crashes.
#include <cstdint>

#include "base/bytes.h"
#include "inspect/test_report.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hallmark;
  const auto text = as_text({data, size});
  static_cast<void>(inspect::read_junit(text));
  static_cast<void>(inspect::read_summary(text));
  return 0;
}
