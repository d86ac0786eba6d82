// Variants: the points of a kernel's axes that are built.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "manifest/manifest.h"

namespace hallmark::manifest {

/// A value for each axis that the kernel has, in the library's order.
using Variant = std::vector<std::pair<std::string, Value>>;

/// The product of the kernel's axes, without what `skip` and `filter` leave out, aliases applied, each once,
/// in the order of the domain. Stops when there are more than limits::kVariants.
std::vector<Variant> variants_of(const Library& library, const Kernel& kernel, const AxisChoice& filter);

/// KERNEL_VALUE_VALUE, with what no identifier may hold replaced.
std::string variant_name(const Kernel& kernel, const Variant& variant);

}  // namespace hallmark::manifest
