// `hallmark test`.
#pragma once

#include "app/session.h"
#include "cli/parser.h"

namespace hallmark::cli {

/// Carries it out; gives the exit code: the command's own, or 1 if that is 0 and means nothing.
int test_verb(const Parsed& parsed, const app::Session& session);

}  // namespace hallmark::cli
