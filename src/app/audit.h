// Use case: what a build does not know of itself.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/session.h"
#include "base/result.h"
#include "prove/audit.h"

namespace hallmark::app {

struct AuditRequest {
  std::string folder;    ///< of the build, as spelled
  bool observe = false;  ///< run compiles whose runs are not recorded, into a scratch folder
  /// Called before each compile that is run; may be empty.
  std::function<void(std::size_t done, std::size_t all, const std::string& output)> progress;
};

struct AuditResult {
  prove::Audit audit;
  std::vector<std::string> repairs;
  std::string folder;  ///< absolute
};

/// Each edge is judged by the record of its run; without one by observing its compile, if that is asked for;
/// else by its #include lines. Executes nothing without `observe`; with it the compiles write into a scratch
/// folder. Errors: invalid (no build folder), and those of an observed run.
Result<AuditResult> audit(const Session& session, const AuditRequest& request);

}  // namespace hallmark::app
