// The one table of verbs and flags. The parser, --help, the manual page and the shell completions are made
// from it: what is not in the table does not exist, and what is in it is documented.
#pragma once

#include <span>
#include <string_view>

namespace hallmark::cli {

struct Flag {
  std::string_view name;   ///< with its dashes
  std::string_view value;  ///< what stands for its value in texts; empty: a switch
  std::string_view help;   ///< one line, no full stop
  bool repeatable = false;
};

enum class Operands {
  none,
  one,      ///< exactly one word
  any,      ///< any number of words, none too
  verb,     ///< nothing, or the words of a verb
  command,  ///< all that follows the flags, or `--`, word for word
};

struct Verb {
  std::string_view name;  ///< one or two words
  Operands operands = Operands::none;
  std::string_view operand;                   ///< what stands for the operands in texts
  std::span<const std::string_view> choices;  ///< the words that the operand may be; empty: any
  std::string_view summary;                   ///< one line, no full stop
  std::string_view detail;                    ///< paragraphs for --help and the manual
  std::span<const Flag> flags;
  bool hidden = false;  ///< of the program's own inner life
};

/// All verbs, in the order in which they are shown.
std::span<const Verb> verbs();
/// Flags that every verb knows.
std::span<const Flag> common_flags();
/// nullptr if there is none.
const Verb* find_verb(std::string_view name);

/// What the environment and exit codes mean, for help and manual.
struct Described {
  std::string_view name;
  std::string_view meaning;
};
std::span<const Described> described_variables();
std::span<const Described> described_exit_codes();

inline constexpr std::string_view kProgram = "hallmark";
inline constexpr std::string_view kPurpose =
    "runs a command under observation, replays it when nothing that it used changed, says why else";

}  // namespace hallmark::cli
