// Dependency files: reading never crashes, and a rule that was written is read back the same.
#include <cstdint>
#include <cstdlib>

#include "base/bytes.h"
#include "engine/make_text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hallmark;
  const auto read = engine::parse_make_text(as_text({data, size}));
  if (!read || read->rules.empty()) return 0;
  // Names that the syntax cannot carry are left out.
  std::vector<std::string> kept;
  for (const auto& path : read->rules.front().prerequisites) {
    if (engine::escape_for_make(path)) kept.push_back(path);
  }
  const auto again = engine::parse_make_text(engine::make_rule("target", kept));
  if (!again || again->rules.size() != 1 || again->rules.front().prerequisites != kept) std::abort();
  return 0;
}
