// Reports of tests: the programs of a command are asked for them, and what came to be is read.
//
// Asked are GoogleTest and pytest, through their environment variables, and CTest, by a flag at its end. A
// report that was asked for in another way (--gtest_output, --junit-xml) is read where it was seen to be
// written.
#pragma once

#include <string>
#include <vector>

#include "model/command.h"
#include "model/observation.h"
#include "os/file_system.h"
#include "prove/test_guard.h"

namespace hallmark::app {

struct Reports {
  std::vector<std::string> files;    ///< of test programs, if they come to be
  std::vector<std::string> folders;  ///< whose files are reports of test programs
  std::string of_pytest;             ///< the one of `files` that each run of pytest writes anew
  std::string of_runner;             ///< empty: there is none to ask
  bool asked_gtest = false;          ///< each program of GoogleTest leaves a report, unless it breaks off
};

/// Changes the command so that its programs write to `folder`. What the caller asked for in the same way
/// stays, and is read where it is.
Reports ask_for_reports(model::Command& command, const std::string& folder);

/// Fills what the run says of its tests.
void read_reports(os::FileSystem& files, const Reports& reports, const model::Observation& observation,
                  prove::TestRun& run);

}  // namespace hallmark::app
