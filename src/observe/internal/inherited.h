// Descriptors beyond the standard streams that the command inherits from hallmark's caller.
#pragma once

#include <string>
#include <vector>

#include "model/command.h"

namespace hallmark::observe {

/// "number -> target" for each that stays open in the command, less those of make's jobserver and the null
/// device.
std::vector<std::string> inherited_descriptors(const model::Environment& environment);

}  // namespace hallmark::observe
