// A Ninja manifest: reading and expanding never crashes and comes to an end.
#include <cstdint>

#include "inspect/ninja_manifest.h"
#include "support/fake_clock.h"
#include "support/fake_file_system.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hallmark;
  test::FakeClock clock;
  test::FakeFileSystem disk(clock);
  disk.put("/b/build.ninja", as_text({data, size}));
  const auto manifest = inspect::NinjaManifest::read(disk, "/b");
  if (!manifest.has_value()) return 0;
  for (const auto& edge : manifest->edges()) {
    static_cast<void>(manifest->value(edge, "command"));
    static_cast<void>(manifest->value(edge, "depfile"));
  }
  return 0;
}
