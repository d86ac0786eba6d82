// Where a recorded command's folders are today.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/command.h"
#include "model/record.h"

namespace hallmark::prove {

/// The places of a command as it would run in the tree `root` (nullopt: where it ran): what lay in the old
/// tree lies in the new one. HOME is today's: a look into somebody else's home would prove nothing.
model::Places places_in(const model::Places& recorded, const std::optional<std::string>& root,
                        const model::Environment& environment);

/// Empty if there is no such place.
std::string place(const model::Places& places, std::string_view name);

/// Whether a folded path lies in a folder that goes when its user does: a temporary folder, or that of an
/// isolated build.
bool is_in_temporary_place(std::string_view folded);

}  // namespace hallmark::prove
