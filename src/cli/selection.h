// What a person asks of a manifest, as flags say it: `hallmark build` and `hallmark manifest` take the same
// ones.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/parser.h"
#include "manifest/expand.h"
#include "model/command.h"

namespace hallmark::cli {

/// --profile, --arch, --library, --option, --build-dir, and HALLMARK_ARCHS. Error: invalid (an --option
/// without `=`).
Result<manifest::Selection> selection_of(const Parsed& parsed, const model::Environment& environment);

/// The one operand [DIR|FILE]; empty if there is none. Error: invalid (there are several).
Result<std::string> manifest_operand(const Parsed& parsed);

/// The same selection as words for another hallmark, which may run in any folder: paths are absolute.
std::vector<std::string> selection_words(const Parsed& parsed, const std::string& cwd);

}  // namespace hallmark::cli
