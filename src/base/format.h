// Formatting as fmt does it, with its format strings checked at compile time; fmt's implementation is
// compiled once.
//
// <fmt/format.h> would bring that implementation into every file that says one sentence, and 5 to 10 seconds
// of compilation with it. (Debian's libfmt is shared only; the programs are static.)
#pragma once

#include <fmt/core.h>

#include <string>

namespace hallmark {

std::string format_arguments(fmt::string_view text, fmt::format_args arguments);

/// As fmt::format. (Not of that name, which an argument's namespace would make mean std::format as well.)
/// Takes numbers, bool, char and whatever reads as a string.
template <typename... Arguments>
std::string formatted(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
  return format_arguments(text, fmt::make_format_args(arguments...));
}

}  // namespace hallmark
