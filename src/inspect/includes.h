// Includes: the #include lines of a source text, with the conditions under which a compiler reads them. Pure.
//
// A weaker witness than observation: it evaluates no expression but whether a macro is defined. Comments,
// line continuations and raw strings are understood; trigraphs are not.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace hallmark::inspect {

/// That a macro must be defined, or must not be.
struct MacroCondition {
  std::string macro;
  bool defined = true;
  bool operator==(const MacroCondition&) const = default;
};

struct Include {
  enum class Form : std::uint8_t {
    quoted,    ///< "x": the includer's own folder comes first
    angled,    ///< <x>
    computed,  ///< a macro names it: `spelled` is the macro
  };
  std::string spelled;
  Form form{};
  bool next = false;  ///< #include_next: from behind the folder where the includer was found
  std::size_t line = 0;
  std::vector<MacroCondition> conditions;  ///< all must hold
  bool undecided = false;                  ///< some condition around it is more than that
};

struct Includes {
  std::vector<Include> lines;       ///< in the order of the text
  std::vector<std::string> macros;  ///< that it defines or undefines itself; sorted
};

/// At most so many conditions stand around one line; more are undecided.
inline constexpr std::size_t kIncludeConditions = 64;

/// What stands under `#if 0` is left out; the guard around a whole header is no condition.
Includes includes_in(std::string_view text);

}  // namespace hallmark::inspect
