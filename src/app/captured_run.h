// A command whose output is wanted, not its effects.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/command.h"

namespace hallmark::app {

struct CapturedRun {
  int exit_code = 0;  ///< as a shell gives it
  std::string out;    ///< stdout; stderr is the caller's, or dropped
};

enum class Complaints : std::uint8_t { shown, dropped };

/// Runs a program of PATH to its end, with stdin empty. Errors: no_command, limit (it said more than
/// `max_bytes`), io.
Result<CapturedRun> run_captured(const std::vector<std::string>& argv, const model::Environment& environment,
                                 const std::string& cwd, std::size_t max_bytes,
                                 Complaints complaints = Complaints::shown);

}  // namespace hallmark::app
