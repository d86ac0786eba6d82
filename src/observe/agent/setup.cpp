// Puts the agent in place, before the first instruction of the program and of any other library
// (DF_1_INITFIRST): asks the supervisor for the ring, maps the stub page, patches libc. Whatever does not
// work leaves the process as it was: the program then runs on the slow path, seen by the supervisor call by
// call.
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "observe/agent/kernel.h"
#include "observe/agent/rules.h"
#include "observe/agent/state.h"

namespace hallmark::observe::agent {
namespace {

constexpr std::uintptr_t kPage = 4096;
constexpr std::size_t kLibraryPathBytes = 256;
constexpr unsigned kMaxObjects = 4096;  ///< link map entries looked at
constexpr unsigned kMaxAuxiliary = 64;

bool equal(const char* a, const char* b) {
  while (*a != 0 && *a == *b) ++a, ++b;
  return *a == *b;
}

const char* last_component(const char* path) {
  const char* last = path;
  for (; *path != 0; ++path) {
    if (*path == '/') last = path + 1;
  }
  return last;
}

/// ld.so's list of what is loaded. The kernel tells where the program's headers are, these tell where its
/// dynamic section is, and ld.so has put the list there for debuggers.
const link_map* loaded_objects(char** environment) {
  while (*environment != nullptr) ++environment;
  const auto* auxiliary = reinterpret_cast<const ElfW(auxv_t)*>(environment + 1);
  const ElfW(Phdr)* headers = nullptr;
  std::size_t count = 0;
  for (unsigned i = 0; i < kMaxAuxiliary && auxiliary[i].a_type != AT_NULL; ++i) {
    if (auxiliary[i].a_type == AT_PHDR)
      headers = reinterpret_cast<const ElfW(Phdr)*>(auxiliary[i].a_un.a_val);
    if (auxiliary[i].a_type == AT_PHNUM) count = auxiliary[i].a_un.a_val;
    if (auxiliary[i].a_type == AT_SECURE && auxiliary[i].a_un.a_val != 0) return nullptr;
  }
  if (headers == nullptr) return nullptr;
  const ElfW(Phdr)* dynamic = nullptr;
  std::uintptr_t base = 0;
  bool has_base = false;
  for (std::size_t i = 0; i < count; ++i) {
    if (headers[i].p_type == PT_PHDR) {
      base = reinterpret_cast<std::uintptr_t>(headers) - headers[i].p_vaddr;
      has_base = true;
    }
    if (headers[i].p_type == PT_DYNAMIC) dynamic = &headers[i];
  }
  if (dynamic == nullptr || !has_base) return nullptr;
  const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(base + dynamic->p_vaddr);
  for (; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag != DT_DEBUG || entry->d_un.d_ptr == 0) continue;
    const auto* debug = reinterpret_cast<const r_debug*>(entry->d_un.d_ptr);
    return debug->r_version >= 1 ? debug->r_map : nullptr;
  }
  return nullptr;
}

const link_map* find_libc(char** environment) {
  const link_map* object = loaded_objects(environment);
  for (unsigned i = 0; object != nullptr && i < kMaxObjects; object = object->l_next, ++i) {
    if (object->l_name != nullptr && object->l_name[0] == '/' &&
        equal(last_component(object->l_name), "libc.so.6")) {
      return object;
    }
  }
  return nullptr;
}

/// The supervisor's answer: descriptor, table of sites, name of this image.
long ask_for_ring(const char* libc_path) {
  char request[sizeof(ring::kRingPrefix) + kLibraryPathBytes];
  std::size_t at = 0;
  for (const char* from = ring::kRingPrefix; *from != 0; ++from) request[at++] = *from;
  for (const char* from = libc_path; *from != 0; ++from) {
    if (at + 1 == sizeof(request)) return -1;
    request[at++] = *from;
  }
  request[at] = 0;
  return call_seen(
      SYS_openat, {.rdi = AT_FDCWD, .rsi = reinterpret_cast<long>(&request[0]), .rdx = O_RDONLY | O_CLOEXEC});
}

bool map_stub(int ring_descriptor) {
  constexpr long kWhere = static_cast<long>(ring::kStubAddress);
  const long mapped = call_seen(SYS_mmap, {.rdi = kWhere,
                                           .rsi = ring::kStubBytes,
                                           .rdx = PROT_READ | PROT_EXEC,
                                           .r10 = MAP_PRIVATE | MAP_FIXED_NOREPLACE,
                                           .r8 = ring_descriptor,
                                           .r9 = ring::kStubOffset});
  if (mapped == kWhere) {
    const auto* code = reinterpret_cast<const unsigned char*>(ring::kStubAddress);
    bool right = true;
    for (std::size_t i = 0; i < sizeof(ring::kStubCode); ++i) right = right && code[i] == ring::kStubCode[i];
    if (right) return true;
  }
  // Kernels before 4.17 take the address as a hint.
  if (!failed(mapped)) call_seen(SYS_munmap, {.rdi = mapped, .rsi = ring::kStubBytes});
  return false;
}

bool is_site(const unsigned char* code, const ring::SharedSite& site) {
  const bool sets_folder = site.form == ring::SharedSite::kSetsFolder;
  const std::uint32_t constant = sets_folder ? static_cast<std::uint32_t>(AT_FDCWD) : site.number;
  return code[0] == (sets_folder ? 0xbf : 0xb8) && code[1] == (constant & 0xff) &&
         code[2] == (constant >> 8 & 0xff) && code[3] == (constant >> 16 & 0xff) &&
         code[4] == constant >> 24 && code[5] == 0x0f && code[6] == 0x05;
}

int place_of_rule(std::uint32_t number) {
  for (std::size_t i = 0; i < kFastRules.size(); ++i) {
    if (kFastRules[i].number == number) return static_cast<int>(i);
  }
  return -1;
}

struct Patch {
  unsigned char* site;
  std::int32_t distance;  ///< from behind the jump to the trampoline
};

/// Redirects the sites. All of them must be exactly what the table says, or none is touched: then this is
/// another libc.
bool patch(std::uintptr_t base, const ring::Library& library) {
  Patch patches[ring::kSitesPerLibrary];
  const std::uint32_t count = library.count;
  if (count == 0 || count > ring::kSitesPerLibrary) return false;
  std::uintptr_t low = ~std::uintptr_t{0};
  std::uintptr_t high = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uintptr_t at = base + library.sites[i].offset;
    const int rule = place_of_rule(library.sites[i].number);
    auto* site = reinterpret_cast<unsigned char*>(at);
    if (rule < 0 || !is_site(site, library.sites[i])) return false;
    const auto trampoline =
        reinterpret_cast<std::uintptr_t>(hallmark_agent_trampolines) + i * kTrampolineBytes;
    const auto distance = static_cast<std::int64_t>(trampoline) - static_cast<std::int64_t>(at + 5);
    if (distance != static_cast<std::int32_t>(distance)) return false;
    patches[i] = {site, static_cast<std::int32_t>(distance)};
    state.rules[i] = static_cast<std::uint8_t>(rule);
    state.sets_folder[i] = library.sites[i].form == ring::SharedSite::kSetsFolder;
    hallmark_agent_back[i] = at + 7;
    if (at < low) low = at;
    if (at + 5 > high) high = at + 5;
  }
  low &= ~(kPage - 1);
  high = (high + kPage - 1) & ~(kPage - 1);
  // Executable all the while: code of libc that is being run must not vanish.
  if (call_seen(SYS_mprotect, {.rdi = static_cast<long>(low),
                               .rsi = static_cast<long>(high - low),
                               .rdx = PROT_READ | PROT_WRITE | PROT_EXEC}) != 0) {
    return false;
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    const Patch& now = patches[i];
    copy(now.site + 1, &now.distance, sizeof(now.distance));
    now.site[0] = 0xe9;
  }
  call_seen(
      SYS_mprotect,
      {.rdi = static_cast<long>(low), .rsi = static_cast<long>(high - low), .rdx = PROT_READ | PROT_EXEC});
  return true;
}

void set_up(char** environment) {
  const link_map* libc = find_libc(environment);
  if (libc == nullptr) return;
  const long reply = ask_for_ring(libc->l_name);
  if (reply < 0) return;
  const auto bits = static_cast<std::uint64_t>(reply);
  const long descriptor = static_cast<long>(bits & ring::kReplyDescriptorMask);
  const std::size_t which = bits >> ring::kReplyLibraryShift & ring::kReplyLibraryMask;
  const long mapped = call_seen(SYS_mmap, {.rsi = static_cast<long>(ring::kMappedBytes),
                                           .rdx = PROT_READ | PROT_WRITE,
                                           .r10 = MAP_SHARED,
                                           .r8 = descriptor});
  if (!failed(mapped)) {
    auto* page = reinterpret_cast<ring::FirstPage*>(mapped);
    state.header = &page->header;
    state.records = reinterpret_cast<unsigned char*>(mapped) + ring::kRecordsOffset;
    state.image = static_cast<std::uint32_t>(bits >> ring::kReplyImageShift);
    const bool right = page->header.version == ring::kVersion && which < ring::kLibraries;
    if (!right || !map_stub(static_cast<int>(descriptor)) || !patch(libc->l_addr, page->libraries[which])) {
      call_seen(SYS_munmap, {.rdi = mapped, .rsi = static_cast<long>(ring::kMappedBytes)});
      state.header = nullptr;
    }
  }
  call_seen(SYS_close, {.rdi = descriptor});
}

}  // namespace
}  // namespace hallmark::observe::agent

extern "C" {

__attribute__((visibility("hidden"), used)) void hallmark_agent_init(int, char**, char** environment) {
  hallmark::observe::agent::set_up(environment);
}

// What a compiler may call of its own accord.
__attribute__((visibility("hidden"), used)) void* memcpy(void* to, const void* from, std::size_t bytes) {
  hallmark::observe::agent::copy(to, from, bytes);
  return to;
}

__attribute__((visibility("hidden"), used)) void* memset(void* to, int value, std::size_t bytes) {
  void* next = to;
  __asm__ volatile("rep stosb" : "+D"(next), "+c"(bytes) : "a"(value) : "memory");
  return to;
}
}
