// The sources of a manifest, for a build: each at its pin before the first command starts.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "app/session.h"
#include "base/result.h"
#include "kernels/description.h"

namespace hallmark::app {

struct PinnedSources {
  std::vector<kernels::DescribedSource> described;
  /// For every command of the build: what `safe_directory = "process"` needs.
  std::map<std::string, std::string> environment;
};

/// Checks out what is missing and what is clean at another pin. Quick and offline if all is there. Errors:
/// what `hallmark sync` says.
Result<PinnedSources> ensure_sources(const Session& session, const std::string& where,
                                     const std::function<void(std::string_view)>& say);

}  // namespace hallmark::app
