// The commands in a text that a build tool hands to /bin/sh.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hallmark::prove {

struct ShellCommand {
  std::vector<std::string> words;  ///< as POSIX quotes them
  std::size_t line = 0;            ///< which line of the text: Make starts a shell for each
  /// Its words are all of it: no redirection, variable or pattern, and it stands alone or is parted from
  /// others by `&&` and line breaks only.
  bool is_plain = true;
};

/// In order. Empty for a text with groups, subshells or command substitutions: what these run, and where,
/// only a shell can tell. Never fails.
std::vector<ShellCommand> shell_commands(std::string_view text);

}  // namespace hallmark::prove
