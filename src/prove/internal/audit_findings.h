// What else makes a build go stale or run in vain.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "prove/audit.h"

namespace hallmark::prove {

/// `tree`: the folder of the sources. Sorted by kind, then subject.
std::vector<Finding> findings_in(os::FileSystem& files, const BuildGraph& graph,
                                 const std::vector<std::optional<StepReads>>& reads, const std::string& tree);

/// As CMake calls it: "C", "CXX", "CUDA", "HIP"; empty: the edge compiles none of them.
std::string language_of(const BuildEdge& edge);

}  // namespace hallmark::prove
