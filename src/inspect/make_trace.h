// MakeTrace: the graph of a Make build, as `make -nB --trace --print-directory` of GNU Make 4 tells it. Pure.
//
// For each target that is there Make says, in the language of LC_ALL=C, "FILE:LINE: update target 'T' due to:
// PREREQUISITES", and then the lines of its recipe, expanded. With -B every prerequisite counts as newer, so
// that all are listed that it compares; order-only ones are not. Sub-makes say the same, in their folders.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hallmark::inspect {

struct MakeTarget {
  std::string folder;  ///< absolute: where its recipe runs
  std::string name;
  std::vector<std::string> prerequisites;
  std::string recipe;  ///< lines as they would run
};

/// Targets with a recipe that are there; in the order of the build.
std::vector<MakeTarget> parse_make_trace(std::string_view text);

}  // namespace hallmark::inspect
