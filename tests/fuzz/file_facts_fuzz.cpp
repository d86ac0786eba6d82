// ELF files, archives, fat binaries, offload bundles and PTX: reading never crashes, nor does looking for
// what two of them define.
#include <array>
#include <cstdint>

#include "base/bytes.h"
#include "inspect/collisions.h"
#include "inspect/file_facts.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hallmark;
  const auto facts = inspect::read_file_facts(as_text({data, size}));
  if (!facts.has_value() || !facts->elf) return 0;
  const std::array<inspect::Together, 2> twice = {inspect::Together{&*facts->elf, {}},
                                                  inspect::Together{&*facts->elf, {}}};
  static_cast<void>(inspect::find_collisions(twice));
  return 0;
}
