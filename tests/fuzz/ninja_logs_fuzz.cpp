// Ninja's logs: reading never crashes, and dependencies name paths that are there.
#include <cstdint>
#include <cstdlib>

#include "base/bytes.h"
#include "inspect/ninja_logs.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hallmark;
  const std::string_view bytes = as_text({data, size});
  static_cast<void>(inspect::parse_ninja_log(bytes));
  const auto deps = inspect::parse_ninja_deps(bytes);
  if (!deps.has_value()) return 0;
  for (const auto& [output, entry] : deps->outputs) {
    for (const auto path : entry.paths) {
      if (path >= deps->paths.size()) std::abort();
    }
  }
  return 0;
}
