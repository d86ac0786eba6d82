// Use case: run tests, and refuse a false green.
#pragma once

#include <string>
#include <vector>

#include "app/prove.h"
#include "app/session.h"
#include "base/result.h"
#include "prove/test_guard.h"

namespace hallmark::app {

struct TestRequest {
  std::vector<std::string> argv;
  std::vector<std::string> covers;     ///< as spelled
  std::vector<std::string> must_load;  ///< as spelled
  std::uint64_t min_tests = 1;
};

struct TestResult {
  int exit_code = 0;  ///< of the command, as a shell gives it
  prove::TestRun run;
  prove::Steps steps;
  std::vector<prove::Refusal> refusals;
  std::vector<std::string> warnings;
};

/// Runs the command, observed and never replayed, with its streams passed through, and judges what it ran and
/// loaded. GoogleTest and pytest are asked for a report through their environment variables, CTest by a flag
/// at its end. Errors: as those of an observed run (no_command, bad_command, ...), and invalid (a file of the
/// request that is not there).
Result<TestResult> test(const Session& session, const TestRequest& request);

}  // namespace hallmark::app
