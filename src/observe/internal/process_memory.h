// Reads the memory of a watched process.
//
// process_vm_readv first; where that is refused (old container profiles), /proc/<thread>/mem. One thread.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace hallmark::observe {

enum class MemoryRead : std::uint8_t {
  ok,
  bad_address,  ///< the process would get EFAULT, too
  gone,         ///< the process ended meanwhile
  refused,      ///< it may not be read: not dumpable, of another user
};

class ProcessMemory {
 public:
  /// Fills `into` whole.
  MemoryRead read(pid_t thread, std::uint64_t address, std::span<char> into);
  /// As much as can be read of `into`; `count` says how much.
  MemoryRead read_some(pid_t thread, std::uint64_t address, std::span<char> into, std::size_t& count);
  /// A text up to its 0. A text longer than `buffer` is a bad address (the kernel says ENAMETOOLONG).
  MemoryRead read_text(pid_t thread, std::uint64_t address, std::span<char> buffer, std::string_view& text);

 private:
  bool use_file_ = false;  // process_vm_readv is refused here
};

}  // namespace hallmark::observe
