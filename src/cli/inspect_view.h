// What `inspect` says. docs/formats/json.md describes the object.
#pragma once

#include <string>

#include "app/inspect.h"

namespace hallmark::cli {

/// `all`: long lists are not cut, harmless collisions are named.
std::string inspection_text(const app::Inspection& found, bool all);
std::string inspection_json(const app::Inspection& found);

}  // namespace hallmark::cli
