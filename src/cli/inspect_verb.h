// `hallmark inspect`.
#pragma once

#include "app/session.h"
#include "cli/parser.h"

namespace hallmark::cli {

/// Carries it out; gives the exit code.
int inspect_verb(const Parsed& parsed, const app::Session& session);

}  // namespace hallmark::cli
