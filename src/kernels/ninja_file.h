// NinjaFile: a build.ninja as values, and its text. What Ninja takes for syntax in names and values is
// escaped here and nowhere else.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hallmark::kernels {

using NinjaVariables = std::vector<std::pair<std::string, std::string>>;

/// The value of a variable that is text, not syntax: `$` is a dollar sign.
std::string ninja_value(std::string_view text);

struct NinjaRule {
  std::string name;
  /// Values in Ninja's own syntax: `$in` means the inputs. ninja_value() makes one of text.
  NinjaVariables variables;
};

struct NinjaEdge {
  std::vector<std::string> outputs;
  std::string rule;
  std::vector<std::string> inputs = {};
  std::vector<std::string> implicit = {};
  std::vector<std::string> order_only = {};
  NinjaVariables variables = {};  ///< as those of a rule
};

struct NinjaPool {
  std::string name;
  std::uint64_t depth = 1;
};

struct NinjaFile {
  NinjaVariables variables;
  std::vector<NinjaPool> pools;
  std::vector<NinjaRule> rules;
  std::vector<NinjaEdge> edges;
  std::vector<std::string> defaults;
};

std::string text_of(const NinjaFile& file);

}  // namespace hallmark::kernels
