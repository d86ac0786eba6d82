#include "observe/internal/sites.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "observe/internal/syscall_table.h"

namespace hallmark::observe {
namespace {

constexpr std::size_t kMovBytes = 5;
constexpr std::size_t kSyscallBytes = 2;
constexpr std::size_t kSiteBytes = kMovBytes + kSyscallBytes;
/// mov %rdi,%rsi; mov $AT_FDCWD,%edi
constexpr std::uint8_t kFolderIdiom[] = {0x48, 0x89, 0xfe, 0xbf, 0x9c, 0xff, 0xff, 0xff};
constexpr std::size_t kLibraryMaxBytes = 256u << 20;
/// A libc's own functions are shorter than this; farther jumps go through the start of a function.
constexpr std::size_t kJumpWindow_bytes = 1024;
/// The calls around a cancellable system call are nearer than this.
constexpr std::size_t kCancelWindow_bytes = 32;

struct Segment {
  ByteView code;
  std::uint64_t address = 0;
};

template <class T>
std::optional<T> read_at(ByteView bytes, std::uint64_t offset) {
  T value;
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

Result<std::vector<Segment>> code_segments(ByteView library) {
  const Error not_ours{ErrorKind::invalid, "not an x86-64 shared library", ""};
  const auto header = read_at<Elf64_Ehdr>(library, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_machine != EM_X86_64 || header->e_type != ET_DYN ||
      header->e_phentsize != sizeof(Elf64_Phdr)) {
    return fail(not_ours);
  }
  std::vector<Segment> segments;
  for (std::uint64_t i = 0; i < header->e_phnum; ++i) {
    const auto part = read_at<Elf64_Phdr>(library, header->e_phoff + i * sizeof(Elf64_Phdr));
    if (!part) return fail(not_ours);
    if (part->p_type != PT_LOAD || (part->p_flags & PF_X) == 0) continue;
    if (part->p_offset > library.size() || library.size() - part->p_offset < part->p_filesz)
      return fail(not_ours);
    segments.push_back({library.subspan(part->p_offset, part->p_filesz), part->p_vaddr});
  }
  return segments;
}

/// A byte that, if it belongs to the same instruction as the b8 behind it, makes it another instruction.
bool is_prefix(std::uint8_t byte) {
  const bool rex = (byte & 0xf0) == 0x40;
  return rex || byte == 0x66 || byte == 0x0f;
}

/// Whether some bytes around could be a jump behind the first byte of [site, syscall).
bool may_be_jumped_into(ByteView code, std::size_t site, std::size_t syscall) {
  const std::size_t begin = site > kJumpWindow_bytes ? site - kJumpWindow_bytes : 0;
  const std::size_t end = std::min(code.size(), site + kJumpWindow_bytes);
  const auto lands_inside = [&](std::int64_t target) {
    return target > static_cast<std::int64_t>(site) && target < static_cast<std::int64_t>(syscall);
  };
  for (std::size_t at = begin; at + 6 <= end; ++at) {
    if (at >= site && at < syscall + kSyscallBytes) continue;
    const std::uint8_t first = code[at];
    const auto next = static_cast<std::int64_t>(at);
    if ((first & 0xf0) == 0x70 || first == 0xeb) {  // jcc rel8, jmp rel8
      if (lands_inside(next + 2 + static_cast<std::int8_t>(code[at + 1]))) return true;
    } else if (first == 0xe8 || first == 0xe9) {  // call and jmp rel32
      std::int32_t distance;
      std::memcpy(&distance, &code[at + 1], sizeof(distance));
      if (lands_inside(next + 5 + distance)) return true;
    } else if (first == 0x0f && (code[at + 1] & 0xf0) == 0x80) {  // jcc rel32
      std::int32_t distance;
      std::memcpy(&distance, &code[at + 2], sizeof(distance));
      if (lands_inside(next + 6 + distance)) return true;
    }
  }
  return false;
}

bool is_fast(std::uint32_t number) {
  const SyscallRule* rule = rule_of(number);
  return rule != nullptr && rule->fast;
}

std::size_t rank_of(std::uint32_t number) {
  return static_cast<std::size_t>(rule_of(number) - kSyscallRules.data());
}

bool has_call(ByteView code, std::size_t begin, std::size_t end) {
  for (std::size_t at = begin; at < std::min(end, code.size()); ++at) {
    if (code[at] == 0xe8) return true;  // call rel32, or a byte of something else: then a site is lost
  }
  return false;
}

/// glibc's open where a thread may be cancelled: between two calls that allow it and forbid it again. The
/// unwinder that then runs would not find its way through the stub page.
bool may_be_cancelled(ByteView code, std::size_t site, std::size_t syscall, std::uint32_t number) {
  if (number != SYS_open && number != SYS_openat) return false;
  const std::size_t begin = site > kCancelWindow_bytes ? site - kCancelWindow_bytes : 0;
  const std::size_t behind = syscall + kSyscallBytes;
  return has_call(code, begin, site) && has_call(code, behind, behind + kCancelWindow_bytes);
}

/// The site whose syscall instruction is at `syscall`, if there is one that can be trusted.
std::optional<ring::SharedSite> site_before(const Segment& segment, std::size_t syscall) {
  const ByteView code = segment.code;
  ring::SharedSite site;
  const std::size_t replaced = syscall - kMovBytes;
  std::size_t first = replaced;  // the mov of the number
  if (syscall >= sizeof(kFolderIdiom) + kMovBytes &&
      std::memcmp(&code[syscall - sizeof(kFolderIdiom)], kFolderIdiom, sizeof(kFolderIdiom)) == 0) {
    first = syscall - sizeof(kFolderIdiom) - kMovBytes;
    site.form = ring::SharedSite::kSetsFolder;
  }
  if (code[first] != 0xb8) return std::nullopt;
  std::uint32_t number;
  std::memcpy(&number, &code[first + 1], sizeof(number));
  if (!is_fast(number) || (first > 0 && is_prefix(code[first - 1]))) return std::nullopt;
  if (may_be_jumped_into(code, first, syscall)) return std::nullopt;
  if (may_be_cancelled(code, first, syscall, number)) return std::nullopt;
  const std::uint64_t address = segment.address + replaced;
  if (address > 0xffffffff) return std::nullopt;
  site.offset = static_cast<std::uint32_t>(address);
  site.number = static_cast<std::uint16_t>(number);
  return site;
}

void find_in(const Segment& segment, std::vector<ring::SharedSite>& sites) {
  const ByteView code = segment.code;
  // Look for the rarer byte of `syscall` (0f 05) first.
  std::size_t at = kSiteBytes - 1;
  while (at < code.size()) {
    const void* found = std::memchr(code.data() + at, 0x05, code.size() - at);
    if (found == nullptr) return;
    at = static_cast<std::size_t>(static_cast<const std::uint8_t*>(found) - code.data()) + 1;
    const std::size_t syscall = at - kSyscallBytes;
    if (code[syscall] != 0x0f) continue;
    if (const auto site = site_before(segment, syscall)) sites.push_back(*site);
  }
}

}  // namespace

Result<std::vector<ring::SharedSite>> find_sites(ByteView library) {
  HALLMARK_TRY(const auto segments, code_segments(library));
  std::vector<ring::SharedSite> sites;
  for (const Segment& segment : segments) find_in(segment, sites);
  std::ranges::stable_sort(sites, {}, [](const ring::SharedSite& site) { return rank_of(site.number); });
  if (sites.size() > ring::kSitesPerLibrary) sites.resize(ring::kSitesPerLibrary);
  std::ranges::sort(sites, {}, &ring::SharedSite::offset);
  return sites;
}

Result<std::vector<ring::SharedSite>> find_sites_in_file(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return fail(Error::from_errno("open", path));
  struct stat status {};
  if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size <= 0 ||
      static_cast<std::size_t>(status.st_size) > kLibraryMaxBytes) {
    close(descriptor);
    return fail(Error{ErrorKind::invalid, "not a library: " + path, ""});
  }
  const auto bytes = static_cast<std::size_t>(status.st_size);
  void* memory = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, descriptor, 0);
  close(descriptor);
  if (memory == MAP_FAILED) return fail(Error::from_errno("map", path));
  auto sites = find_sites({static_cast<const std::uint8_t*>(memory), bytes});
  munmap(memory, bytes);
  return sites;
}

}  // namespace hallmark::observe
