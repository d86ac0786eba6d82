// The verb `run`: from parsed words to an exit code.
#pragma once

#include "app/run.h"
#include "app/session.h"
#include "cli/parser.h"

namespace hallmark::cli {

/// app::run, or one that does more: the hot program knows only the first.
using RunUseCase = Result<engine::RunResult> (*)(const app::Session&, const app::RunRequest&);

/// Runs the command. Silent unless something is wrong or was asked for.
int run_verb(const Parsed& parsed, const app::ConfigCompiler& compile, RunUseCase run = app::run);

}  // namespace hallmark::cli
