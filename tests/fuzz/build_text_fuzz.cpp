// What Make says and what CMake reads: reading never crashes.
#include <cstdint>
#include <cstdlib>

#include "base/bytes.h"
#include "inspect/cmake_lists.h"
#include "inspect/make_trace.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hallmark;
  const auto text = as_text({data, size});
  for (const auto& command : inspect::cmake_commands_in(text))
    static_cast<void>(inspect::is_frozen_glob(command));
  for (const auto& target : inspect::parse_make_trace(text)) {
    if (target.recipe.empty()) std::abort();
  }
  return 0;
}
