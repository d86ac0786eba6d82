// What `verify` and `why ARTIFACT` say. docs/formats/json.md describes the objects.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "app/prove.h"
#include "app/which_tests.h"

namespace hallmark::cli {

enum class Shown : std::uint8_t { all, not_fresh };
/// Paths below `cwd` are shown from there. Of several artifacts the last line counts the verdicts.
std::string verdicts_text(const app::Proofs& found, const std::string& cwd, Shown which);
std::string verdicts_json(const app::Proofs& found);

struct TreeOptions {
  std::optional<std::string> to;  ///< absolute: only the paths to this file
  bool all = false;               ///< files outside of the tree, too
};
/// Of the first proof. nullopt: `to` is not among its files.
std::optional<std::string> tree_text(const app::Proofs& found, const std::string& cwd,
                                     const TreeOptions& options);
std::string differences_text(const app::Proofs& found, const std::string& cwd);
std::string steps_dot(const app::Proofs& found, const std::string& cwd, const TreeOptions& options);
std::string steps_json(const app::Proofs& found);

/// One program a line, with what it loads.
std::string which_tests_text(const std::vector<app::SeeingProgram>& programs, const std::string& cwd);
std::string which_tests_json(const std::vector<app::SeeingProgram>& programs);

}  // namespace hallmark::cli
