// `hallmark manifest check`, `show` and `expand`.
#pragma once

#include "app/session.h"
#include "cli/parser.h"

namespace hallmark::cli {

/// Carry them out; give the exit code: 2 if the manifest is wrong.
int manifest_check_verb(const Parsed& parsed, const app::Session& session);
int manifest_show_verb(const Parsed& parsed, const app::Session& session);
int manifest_expand_verb(const Parsed& parsed, const app::Session& session);

}  // namespace hallmark::cli
