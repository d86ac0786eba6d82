#include "observe/internal/process_memory.h"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "observe/internal/proc_text.h"

namespace hallmark::observe {
namespace {

constexpr std::size_t kPageBytes = 4096;
constexpr std::size_t kFirstTextBytes = 256;  // most paths are shorter

MemoryRead read_file(pid_t thread, std::uint64_t address, std::span<char> into, std::size_t& count) {
  const int file = ::open(ProcPath(thread, "mem").c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return errno == ENOENT || errno == ESRCH ? MemoryRead::gone : MemoryRead::refused;
  const ssize_t got = ::pread(file, into.data(), into.size(), static_cast<off_t>(address));
  ::close(file);
  if (got == 0) return MemoryRead::gone;
  if (got < 0) return MemoryRead::bad_address;
  count = static_cast<std::size_t>(got);
  return MemoryRead::ok;
}

}  // namespace

MemoryRead ProcessMemory::read_some(pid_t thread, std::uint64_t address, std::span<char> into,
                                    std::size_t& count) {
  count = 0;
  if (into.empty()) return MemoryRead::ok;
  if (!use_file_) {
    const iovec local{into.data(), into.size()};
    const iovec remote{reinterpret_cast<void*>(address), into.size()};
    const ssize_t got = ::process_vm_readv(thread, &local, 1, &remote, 1, 0);
    if (got > 0) {
      count = static_cast<std::size_t>(got);
      return MemoryRead::ok;
    }
    if (errno == ESRCH) return MemoryRead::gone;
    if (errno != EPERM && errno != ENOSYS) return MemoryRead::bad_address;
    const MemoryRead result = read_file(thread, address, into, count);
    use_file_ = result == MemoryRead::ok;
    return result;
  }
  return read_file(thread, address, into, count);
}

MemoryRead ProcessMemory::read(pid_t thread, std::uint64_t address, std::span<char> into) {
  std::size_t count = 0;
  const MemoryRead result = read_some(thread, address, into, count);
  if (result != MemoryRead::ok) return result;
  return count == into.size() ? MemoryRead::ok : MemoryRead::bad_address;
}

MemoryRead ProcessMemory::read_text(pid_t thread, std::uint64_t address, std::span<char> buffer,
                                    std::string_view& text) {
  std::size_t filled = 0;
  while (filled < buffer.size()) {
    // Never across a page border at once: what lies behind it may not be mapped.
    std::size_t want = kPageBytes - (address & (kPageBytes - 1));
    if (filled == 0) want = std::min(want, kFirstTextBytes);
    want = std::min(want, buffer.size() - filled);
    std::size_t count = 0;
    const MemoryRead result = read_some(thread, address, buffer.subspan(filled, want), count);
    if (result != MemoryRead::ok) return result;
    if (const void* end = std::memchr(buffer.data() + filled, 0, count)) {
      text = {buffer.data(), static_cast<std::size_t>(static_cast<const char*>(end) - buffer.data())};
      return MemoryRead::ok;
    }
    filled += count;
    address += count;
  }
  return MemoryRead::bad_address;
}

}  // namespace hallmark::observe
