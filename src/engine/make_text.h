// MakeText: dependency files in the syntax that gcc writes and Make, Ninja and CMake read. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hallmark::engine {

struct MakeRule {
  std::vector<std::string> targets;
  std::vector<std::string> prerequisites;
};

struct MakeText {
  std::vector<MakeRule> rules;
  std::size_t last_word_end = 0;  ///< of the first rule: where its last word ends, in bytes of the text
  std::size_t rule_end = 0;       ///< of the first rule: where its line does
  /// Some rule names a target and nothing else, as -MP writes them.
  bool has_phony_targets() const;
};

/// nullopt if `text` is no such file: anything but rules, blank lines and comments.
std::optional<MakeText> parse_make_text(std::string_view text);

/// A path as these tools read it back: blanks, `#` and `$` protected. nullopt for a name that the syntax
/// cannot carry (line breaks, a colon or a backslash at the end, a backslash before a colon).
std::optional<std::string> escape_for_make(std::string_view path);

/// One rule, a prerequisite a line.
std::string make_rule(const std::string& target, const std::vector<std::string>& prerequisites);

/// `text` with more prerequisites at the end of its first rule; everything else stays as it is. `parsed`: of
/// the same text.
std::string with_prerequisites(std::string_view text, const MakeText& parsed,
                               const std::vector<std::string>& more);

/// For each path a rule without prerequisites, so that Make goes on when the file is gone.
std::string phony_targets(const std::vector<std::string>& paths);

}  // namespace hallmark::engine
