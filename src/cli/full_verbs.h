// The verbs of hallmark-full.
#pragma once

#include "cli/parser.h"

namespace hallmark::cli {

/// Carries out the verb; gives the exit code.
int full_verb(const Parsed& parsed);

}  // namespace hallmark::cli
