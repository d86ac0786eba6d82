// The words of a command line that a build tool hands to /bin/sh.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hallmark::prove {

/// The words of each simple command in order, as POSIX quotes them; `&&`, `||`, `;`, `|` and line breaks part
/// commands. Redirections stay words; variables and patterns stay as they are spelled: what only a shell can
/// tell is not told. Never fails.
std::vector<std::vector<std::string>> shell_commands(std::string_view line);

}  // namespace hallmark::prove
