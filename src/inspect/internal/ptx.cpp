#include "inspect/internal/ptx.h"

namespace hallmark::inspect {
namespace {

constexpr std::string_view kWordEnds = " \t\r\n(){}[];,\"";

/// Takes what precedes and is the next word: blanks, comments, strings and punctuation are passed over.
std::string_view next_word(std::string_view& rest) {
  const auto skip_to = [&](std::string_view end, std::size_t from) {
    const auto at = rest.find(end, from);
    rest.remove_prefix(at == std::string_view::npos ? rest.size() : at + end.size());
  };
  while (!rest.empty()) {
    if (rest.starts_with("//")) {
      skip_to("\n", 2);
    } else if (rest.starts_with("/*")) {
      skip_to("*/", 2);
    } else if (rest.front() == '"') {
      skip_to("\"", 1);
    } else if (kWordEnds.find(rest.front()) != std::string_view::npos || rest.front() == '\0') {
      rest.remove_prefix(1);
    } else {
      const auto word = rest.substr(0, rest.find_first_of(kWordEnds));
      rest.remove_prefix(word.size());
      return word;
    }
  }
  return {};
}

}  // namespace

PtxFacts read_ptx(std::string_view text) {
  PtxFacts facts;
  while (!text.empty()) {
    const auto word = next_word(text);
    if (word == ".entry") {
      if (const auto name = next_word(text); !name.empty()) facts.kernels.emplace_back(name);
    } else if (word == ".target" && facts.arch.empty()) {
      const auto target = next_word(text);
      if (target.starts_with("sm_")) facts.arch = target.substr(3);
    }
  }
  return facts;
}

}  // namespace hallmark::inspect
