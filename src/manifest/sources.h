// The sources of a manifest as the room `source` takes them: paths absolute, patterns of patches resolved.
#pragma once

#include <vector>

#include "base/result.h"
#include "manifest/manifest.h"
#include "manifest/parse.h"
#include "model/pin.h"
#include "os/file_system.h"

namespace hallmark::manifest {

struct ResolvedSources {
  std::vector<model::Source> sources;  ///< in the order written
  std::vector<Problem> problems;       ///< patterns that match nothing, wrappers that are not there
};

/// Reads folders. Errors: io.
Result<ResolvedSources> resolve_sources(const Manifest& manifest, os::FileSystem& files);

}  // namespace hallmark::manifest
