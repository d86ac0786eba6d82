// Variants: the points of a kernel's axes that are built.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "manifest/manifest.h"

namespace hallmark::manifest {

/// A value for each axis that the kernel has, in the library's order.
using Variant = std::vector<std::pair<std::string, Value>>;

/// How many points the product of the kernel's axes has within `filter`; at most limits::kVariants + 1.
std::uint64_t points_of(const Library& library, const Kernel& kernel, const AxisChoice& filter);

/// The product of the kernel's axes, without what `skip` and `filter` leave out, aliases applied, each once,
/// in the order of the domain. For no more than limits::kVariants points.
std::vector<Variant> variants_of(const Library& library, const Kernel& kernel, const AxisChoice& filter);

/// KERNEL_VALUE_VALUE, with what no identifier may hold replaced.
std::string variant_name(const Kernel& kernel, const Variant& variant);

}  // namespace hallmark::manifest
