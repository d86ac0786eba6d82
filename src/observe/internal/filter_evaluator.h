// Runs a filter made by build_filter (filter.h) in user space: what would the kernel do with this call?
//
// For the ptrace tier where no filter can be installed, and for tests of the filter itself. Knows the
// instructions that build_filter uses.
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>

#include <cstdint>
#include <span>

namespace hallmark::observe {

/// The SECCOMP_RET_* value. A filter that is not well formed kills, as in the kernel.
std::uint32_t evaluate_filter(std::span<const sock_filter> filter, const seccomp_data& call);

}  // namespace hallmark::observe
