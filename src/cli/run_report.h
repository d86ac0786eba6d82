// What --explain and --json say of a run. docs/formats/json.md describes the objects.
#pragma once

#include <string>

#include "engine/engine.h"

namespace hallmark::cli {

/// A line on what happened and one for each reason, each with its newline.
std::string explain(const engine::RunResult& result);

/// One JSON object on one line.
std::string to_json(const engine::RunResult& result);

/// "12 ms", "3.2 s", "4 min 5 s".
std::string duration_text(std::int64_t duration_ns);

}  // namespace hallmark::cli
