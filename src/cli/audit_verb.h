// `hallmark audit`.
#pragma once

#include "app/session.h"
#include "cli/parser.h"

namespace hallmark::cli {

/// Carries it out; gives the exit code: 1 if the build misses something.
int audit_verb(const Parsed& parsed, const app::Session& session);

}  // namespace hallmark::cli
