// An ELF file of any origin: reading its stamp never crashes; what can bear a stamp says afterwards what it
// was given, and that its code is as stamped.
#include <cstdint>
#include <cstdlib>

#include "inspect/stamp.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hallmark;
  const std::string_view file = as_text({data, size});
  const auto found = inspect::read_stamp(file);
  if (found.has_value() && *found) static_cast<void>(inspect::difference_from_stamp(**found));
  const digest::Key run = {digest::digest_of("run").hash};
  const digest::Key inputs = {digest::digest_of("inputs").hash};
  const auto stamped = inspect::stamped(file, run, inputs);
  if (!stamped.has_value()) return 0;
  const auto again = inspect::read_stamp(*stamped);
  if (!again.has_value() || !*again || (*again)->stamp.strong != run) std::abort();
  if (inspect::difference_from_stamp(**again)) std::abort();
  return 0;
}
