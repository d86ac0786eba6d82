// Placeholders in texts, `{root}` and `{source.NAME}`, and where paths may lead.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hallmark::manifest {

/// What a placeholder stands for; nullopt: there is no such placeholder.
using ValueOf = std::function<std::optional<std::string>(const std::string& name)>;

/// `text` with each placeholder replaced; `{{` and `}}` are braces. Error: invalid. `sources` and `more` are
/// named in its hint.
Result<std::string> with_values(std::string_view text, const ValueOf& value_of,
                                const std::vector<std::string>& sources,
                                const std::vector<std::string>& more);

/// Whether a path or pattern leads out of the manifest's folder by `..`, without a placeholder before.
bool leaves_root(std::string_view path);

}  // namespace hallmark::manifest
