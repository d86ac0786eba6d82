// The hot program: `run` from the first instruction to the last, everything else, and `run --stamp`, by
// becoming hallmark-full. Nothing here may be slow to start: no TOML, no locale, no iostreams, statically
// linked (docs/adr/0004-two-programs-one-table.md).
#include <malloc.h>

#include <string_view>
#include <vector>

#include "cli/exit_code.h"
#include "cli/full_program.h"
#include "cli/parser.h"
#include "cli/run_verb.h"
#include "cli/terminal.h"

namespace {

/// Most runs live for some milliseconds: memory that is given back and asked for again costs system calls and
/// page faults, and an arena for the watcher thread more of both. Large pieces still go back at once.
void keep_memory() {
  constexpr int kPad_bytes = 256 << 10;
  constexpr int kLarge_bytes = 1 << 20;
  constexpr int kTrim_bytes = 16 << 20;
  ::mallopt(M_ARENA_MAX, 1);
  ::mallopt(M_TOP_PAD, kPad_bytes);
  ::mallopt(M_MMAP_THRESHOLD, kLarge_bytes);
  ::mallopt(M_TRIM_THRESHOLD, kTrim_bytes);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace hallmark::cli;
  keep_memory();
  const std::vector<std::string_view> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  if (words.empty() || words.front() != "run") return hand_over(argv);
  const auto parsed = parse(words);
  if (!parsed.has_value()) {
    complain(parsed.error().message());
    return kUsage;
  }
  if (parsed->has("--help") || parsed->has("--stamp")) return hand_over(argv);
  return run_verb(*parsed, compile_config_elsewhere);
}
