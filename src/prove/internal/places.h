// Where a recorded command's folders are today.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/record.h"
#include "model/tokens.h"

namespace hallmark::prove {

/// `path` as it is called in the tree `root`, if it lies in `old_root`; else itself.
std::string in_other_tree(const std::string& path, const std::string& old_root, const std::string& root);

/// The places of a command as it would run in the tree `root` (nullopt: where it ran): what lay in the old
/// tree lies in the new one.
model::Places places_in(const model::Places& logged, const std::optional<std::string>& root);

/// All but PATH, which is no folder.
model::Tokens tokens_of(const model::Places& places);

/// Empty if there is no such place.
std::string place_named(const model::Places& places, std::string_view name);

/// Whether a folded path lies in a folder that goes when its user does: a temporary folder, or that of an
/// isolated build.
bool is_in_temporary_place(std::string_view folded);

}  // namespace hallmark::prove
