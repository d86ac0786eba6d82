// What is written for people and for programs. stdout is data, stderr is people.
#pragma once

#include <string_view>

namespace hallmark::cli {

/// One line on stderr, "hallmark: ..."; written whole, so that the lines of parallel commands do not mix.
void complain(std::string_view line);

/// All of `text` to stderr as it is.
void write_to_stderr(std::string_view text);

/// All of `text` to stdout. False if it cannot be written (a full disk); a reader that went away is no
/// failure.
bool print(std::string_view text);

}  // namespace hallmark::cli
