// TestReport: how many tests really ran, from the reports that test programs write. Pure.
//
// JUnit XML has no standard. Read here is what GoogleTest, CTest, pytest and the many that follow them write:
// a <testcase> is a test; <failure> or <error> in it, or status="fail": it failed; <skipped> in it,
// status="notrun" or "disabled", or result="skipped" or "suppressed": it did not run; nor did one that has no
// time (GoogleTest lists its tests so), or that began in 1970 (GoogleTest, when its environment skips all
// tests and says "completed" of each); else it passed.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hallmark::inspect {

struct TestCounts {
  std::uint64_t passed = 0;
  std::uint64_t failed = 0;
  std::uint64_t skipped = 0;  ///< selected, or listed, and not run

  std::uint64_t ran() const { return passed + failed; }
  std::uint64_t all() const { return ran() + skipped; }
  TestCounts& operator+=(const TestCounts& other) {
    passed += other.passed;
    failed += other.failed;
    skipped += other.skipped;
    return *this;
  }
  bool operator==(const TestCounts&) const = default;
};

/// Errors: invalid (no XML, or no report of tests).
Result<TestCounts> read_junit(std::string_view xml);

struct Summary {
  TestCounts counts;
  bool is_of_ctest = false;  ///< which decides by its own properties what a failure is (WILL_FAIL)
};

/// The last summary of GoogleTest, CTest, pytest or unittest in what a command said; nullopt: there is none.
/// For runs that cannot be asked for a report, such as `make check`.
std::optional<Summary> read_summary(std::string_view output);

/// Of each run of pytest that told its end there, in order. Several runs write their reports to one place, so
/// that only the last is left.
std::vector<TestCounts> read_pytest_summaries(std::string_view output);

}  // namespace hallmark::inspect
