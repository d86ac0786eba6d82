// What the agent keeps in a process: written once, before the program's first instruction, then only read. A
// fork or vfork child shares or inherits it and stays right: nothing in it depends on the process id, the
// working folder or the thread.
#pragma once

#include "observe/internal/ring.h"

namespace hallmark::observe::agent {

struct State {
  ring::Header* header = nullptr;  ///< null: nothing was patched
  unsigned char* records = nullptr;
  std::uint32_t image = 0;
  std::uint32_t used_trampolines = 0;
  std::uint8_t rules[ring::kSitesPerLibrary] = {};  ///< of each trampoline: place in kFastRules
  bool sets_folder[ring::kSitesPerLibrary] = {};    ///< of each: SharedSite::kSetsFolder
};

extern State state __attribute__((visibility("hidden")));

}  // namespace hallmark::observe::agent

extern "C" {
/// Where each trampoline goes back to: behind the `syscall` of its site. Read by the entry code.
extern std::uint64_t hallmark_agent_back[hallmark::observe::ring::kSitesPerLibrary]
    __attribute__((visibility("hidden")));
/// The trampolines, kTrampolineBytes each.
extern const unsigned char hallmark_agent_trampolines[] __attribute__((visibility("hidden")));
}

namespace hallmark::observe::agent {
inline constexpr std::size_t kTrampolineBytes = 16;
}
