// Use case: which test programs can see an edit.
#pragma once

#include <string>
#include <vector>

#include "app/session.h"
#include "base/result.h"
#include "model/observation.h"

namespace hallmark::app {

struct SeeingProgram {
  std::string name;              ///< absolute; or a command line that ran several programs
  std::vector<std::string> via;  ///< what it loads that is made of the file; absolute, sorted
  bool was_run = false;          ///< under `hallmark test`; else it is known from its link
};

/// Test programs that load something made of `file` (as spelled): those that ran below the root, and the
/// programs of the builds there (`build_folder`, as spelled, if it is not empty; else those at most two
/// folders below the root). Sorted by name. Executes nothing. Errors: invalid (no such file, or no build).
Result<std::vector<SeeingProgram>> which_tests(const Session& session, const std::string& file,
                                               const std::string& build_folder);

/// Remembers what a test run loaded. A failure is not worth a warning.
void note_tests(const Session& session, const std::vector<std::string>& argv,
                const model::Observation& observation, const std::vector<std::string>& loaded);

}  // namespace hallmark::app
