// Turns the words of a command line into a verb, its flags and its operands, by the table (cli/table.h).
//
// Flags may be written `--flag value` or `--flag=value`, in any order, before or behind an operand; `--` ends
// them. Of a verb that takes a command, the first word that is no flag begins the command: hallmark never
// looks at the command's own flags.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cli/table.h"

namespace hallmark::cli {

/// The words point into what was parsed.
struct Parsed {
  const Verb* verb = nullptr;
  std::vector<std::pair<const Flag*, std::string_view>> flags;  ///< in order, with their values
  std::vector<std::string_view> operands;
  const Verb* topic = nullptr;  ///< the verb that the operands name, of a verb that takes one

  bool has(std::string_view flag) const;
  /// Of a flag that was given several times, the last; empty if it was not given.
  std::string_view value(std::string_view flag) const;
  std::vector<std::string> values(std::string_view flag) const;
};

/// `words` without the program's name. Errors (kind invalid) name the word and what to do. With --help the
/// operands are not checked.
Result<Parsed> parse(std::span<const std::string_view> words);

}  // namespace hallmark::cli
