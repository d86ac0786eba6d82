// TestGuard: whether a test run that says "passed" means anything. Pure.
//
// A test run is a false green if no test ran, if one failed or broke off and the command does not say so, if
// what it loaded is older than the sources, if it loaded another copy than the one that was built, or if
// nothing that it loaded is made of the file that was edited. Each refusal says what, why, and what to do.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "inspect/test_report.h"
#include "prove/proof.h"

namespace hallmark::prove {

/// What one test program reported.
struct ProgramReport {
  std::string name;
  inspect::TestCounts counts;
};

/// A file that could have been loaded in place of one that was: it has the same name, or is the same module
/// of Python, and other contents.
struct LookAlike {
  enum class Place : std::uint8_t {
    beside,    ///< in the folder of the loaded file, under another name of the same module
    searched,  ///< in a folder in which the program looks for such files
    elsewhere  ///< among what a build of the tree makes
  };
  std::string loaded;
  std::string other;
  Place place{};
  bool is_newer = false;  ///< than what was loaded, by mtime
};

/// What a test run was seen to do.
struct TestRun {
  std::vector<ProgramReport> reports;            ///< of test programs themselves: GoogleTest, pytest
  std::optional<inspect::TestCounts> of_runner;  ///< of what started them: CTest, or its summary for people
  bool runner_judges = false;           ///< of_runner is CTest's: that a program fails may be what it wants
  std::vector<std::string> broken_off;  ///< programs of GoogleTest that left no report
  bool failed = false;                  ///< it says so itself: then how many ran needs no guard
  bool observed = true;                 ///< false: what was loaded is not known
  std::vector<std::string> loaded;      ///< absolute: programs and libraries that were opened
  std::vector<Proof> proofs;            ///< of those that are to be judged
  std::vector<LookAlike> look_alikes;   ///< of what was loaded
  /// Absolute, sorted: which of the loaded and of their look-alikes a command that hallmark recorded made, or
  /// a build of the tree makes.
  std::vector<std::string> built;
};

struct TestDemands {
  std::vector<std::string> covers;     ///< absolute: sources that something loaded must be made of
  std::vector<std::string> must_load;  ///< absolute: libraries that must have been loaded, from there
  std::uint64_t min_tests = 1;         ///< 0: no report is needed
  /// Of a file to be covered: test programs that are known to load something that is made of it; may be
  /// empty.
  std::function<std::vector<std::string>(const std::string& file)> programs_for{};
};

struct Refusal {
  enum class Kind : std::uint8_t {
    no_report,
    nothing_ran,
    all_skipped,
    too_few,
    hidden_failure,
    broke_off,
    stale,
    not_loaded,
    shadowed,
    not_covered,
    not_observed
  };
  Kind kind{};
  std::string what;
  std::string remedy;
};

/// "nothing_ran", stable.
std::string_view name_of(Refusal::Kind kind);

/// How many tests ran, by the programs' own reports; by the runner's for those that wrote none.
std::optional<inspect::TestCounts> counted(const TestRun& run);

/// All refusals; empty: the run means what it says.
std::vector<Refusal> refusals(const TestRun& run, const Steps& steps, const TestDemands& demands);

}  // namespace hallmark::prove
