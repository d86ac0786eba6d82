// Device code that a container holds: fat binaries and offload bundles, as they are and with a right frame
// around the input. What the search for paths reads of it goes the same way.
#include <cstdint>
#include <cstdlib>

#include "base/bytes.h"
#include "inspect/device_code.h"
#include "inspect/searchable.h"

namespace {

template <class T>
void put(std::string& into, T value) {
  into.append(reinterpret_cast<const char*>(&value), sizeof value);
}

/// One container whose entries are the input.
std::string fat_binary(std::string_view entries) {
  std::string bytes;
  put(bytes, std::uint32_t{0xBA55ED50});
  put(bytes, std::uint16_t{1});
  put(bytes, std::uint16_t{16});
  put(bytes, std::uint64_t{entries.size()});
  return bytes.append(entries);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hallmark;
  const auto input = as_text({data, size});
  for (const auto& bytes : {std::string(input), fat_binary(input),
                            "__CLANG_OFFLOAD_BUNDLE__" + std::string(input), "CCOB" + std::string(input)}) {
    const auto code = inspect::read_device_code(bytes);
    // Kernels are those of the pieces, and nothing else.
    std::size_t kernels = 0;
    for (const auto& image : code.images) kernels += image.kernels.size();
    if (code.kernels().size() > kernels) std::abort();
    (void)inspect::visit_searchable(bytes, [](std::string_view) {});
  }
  return 0;
}
