// hallmark.toml: reading and expanding never crashes, comes to an end and says where each problem is.
#include <cstdint>
#include <cstdlib>

#include "manifest/expand.h"
#include "manifest/parse.h"
#include "support/fake_clock.h"
#include "support/fake_file_system.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hallmark;
  const auto parsed = manifest::parse(as_text({data, size}), "/p/hallmark.toml");
  for (const auto& problem : parsed.problems)
    if (problem.what.empty() || problem.place.line == 0) std::abort();
  static_cast<void>(manifest::rendered(parsed.problems, "F"));
  if (!parsed.problems.empty()) return 0;

  // A product that is too large is refused only when a million of it was made: no matter for a fuzzer.
  for (const auto& library : parsed.manifest.libraries) {
    std::size_t points = 1;
    for (const auto& axis : library.axes) points *= axis.values.size();
    if (points * (library.kernels.size() + 1) > 10'000) return 0;
  }
  test::FakeClock clock;
  test::FakeFileSystem disk(clock);
  disk.put("/p/src/a.cpp", "");
  disk.put("/p/k/fwd.cu", "");
  disk.put("/p/include/x.h", "");
  const auto expanded = manifest::expand(parsed.manifest, {}, manifest::source_folders(parsed.manifest),
                                         {{manifest::ToolchainKind::cpu, {"native"}}}, disk,
                                         manifest::MissingSources::are_awaited);
  if (expanded.has_value()) static_cast<void>(manifest::rendered(expanded->problems, "F"));
  return 0;
}
