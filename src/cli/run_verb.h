// The verb `run`: from parsed words to an exit code.
#pragma once

#include "app/session.h"
#include "cli/parser.h"

namespace hallmark::cli {

/// Runs the command. Silent unless something is wrong or was asked for.
int run_verb(const Parsed& parsed, const app::ConfigCompiler& compile);

}  // namespace hallmark::cli
