// A program that hallmark starts and waits for, with the terminal that hallmark has.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "model/command.h"

namespace hallmark::app {

/// Runs a program of PATH to its end and gives its exit code as a shell does. Its stdout is the caller's
/// stderr: what it says is for people. While it runs, SIGINT and SIGQUIT of the terminal are its own affair,
/// and the caller lives to say what happened. Errors: no_command, io.
Result<int> run_for_people(const std::vector<std::string>& argv, const model::Environment& environment,
                           const std::string& cwd);

}  // namespace hallmark::app
