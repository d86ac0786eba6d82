// The program of all verbs, which the hot program becomes for every verb but `run`.
#include <string_view>
#include <vector>

#include "cli/exit_code.h"
#include "cli/full_verbs.h"
#include "cli/help.h"
#include "cli/parser.h"
#include "cli/terminal.h"

int main(int argc, char** argv) {
  using namespace hallmark::cli;
  const std::vector<std::string_view> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  if (words.empty()) {
    write_to_stderr(overview());
    return kUsage;
  }
  if (words.front() == "--help" || words.front() == "-h") return print(overview()) ? kOk : kEnvironment;
  if (words.front() == "--version") return print("hallmark " HALLMARK_VERSION "\n") ? kOk : kEnvironment;
  const auto parsed = parse(words);
  if (!parsed.has_value()) {
    complain(parsed.error().message());
    return kUsage;
  }
  return full_verb(*parsed);
}
