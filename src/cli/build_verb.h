// `hallmark build`.
#pragma once

#include "app/session.h"
#include "cli/parser.h"

namespace hallmark::cli {

int build_verb(const Parsed& parsed, const app::Session& session);

/// What build.ninja calls.
int plan_build_verb(const Parsed& parsed, const app::Session& session);
int run_codegen_verb(const Parsed& parsed, const app::Session& session);
int write_files_verb(const Parsed& parsed, const app::Session& session);
int copy_files_verb(const Parsed& parsed, const app::Session& session);

}  // namespace hallmark::cli
