// Words of a POSIX shell.
#pragma once

#include <string>
#include <string_view>

namespace hallmark {

/// As one word of a shell, whatever bytes it holds.
std::string shell_quoted(std::string_view word);

/// The same, without quotes where no character needs them: for commands that people read.
std::string shell_word(std::string_view word);

}  // namespace hallmark
