// The hot program: `run` from the first instruction to the last, everything else by becoming hallmark-full.
// Nothing here may be slow to start: no TOML, no locale, no iostreams, statically linked
// (docs/adr/0004-two-programs-one-table.md).
#include <string_view>
#include <vector>

#include "cli/exit_code.h"
#include "cli/full_program.h"
#include "cli/parser.h"
#include "cli/run_verb.h"
#include "cli/terminal.h"

int main(int argc, char** argv) {
  using namespace hallmark::cli;
  const std::vector<std::string_view> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  if (words.empty() || words.front() != "run") return hand_over(argv);
  const auto parsed = parse(words);
  if (!parsed.has_value()) {
    complain(parsed.error().message());
    return kUsage;
  }
  if (parsed->has("--help")) return hand_over(argv);
  return run_verb(*parsed, compile_config_elsewhere);
}
