#include "inspect/test_report.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace hallmark::inspect {
namespace {

std::optional<TestCounts> summary(std::string_view output) {
  const auto found = read_summary(output);
  return found ? std::optional(found->counts) : std::nullopt;
}

TEST(TestReport, GoogleTest) {
  const auto counts = read_junit(R"(<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="4" failures="1" disabled="1" errors="0" name="AllTests">
  <testsuite name="Attn" tests="4">
    <testcase name="Fwd" status="run" result="completed" time="0.1" classname="Attn"/>
    <testcase name="Bwd" status="run" result="completed" classname="Attn">
      <failure message="x" type=""><![CDATA[no]]></failure>
      <failure message="y" type=""><![CDATA[<testcase/>]]></failure>
    </testcase>
    <testcase name="Gpu" status="run" result="skipped" classname="Attn"><skipped message="no GPU"/></testcase>
    <testcase name="DISABLED_Old" status="notrun" result="suppressed" classname="Attn"/>
  </testsuite>
</testsuites>)");
  ASSERT_TRUE(counts.has_value());
  EXPECT_EQ(*counts, (TestCounts{1, 1, 2}));
  EXPECT_EQ(counts->ran(), 2u);
}

TEST(TestReport, CTest) {
  const auto counts = read_junit(R"(<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="Linux-c++" tests="4" failures="1" disabled="1" skipped="1">
  <testcase name="a" classname="a" time="0.1" status="run"><system-out>says &lt;testcase&gt;</system-out></testcase>
  <testcase name="b" classname="b" time="0.1" status="fail"><failure message=""/></testcase>
  <testcase name="c" classname="c" time="0" status="disabled"><disabled/></testcase>
  <testcase name="d" classname="d" time="0" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/></testcase>
</testsuite>)");
  ASSERT_TRUE(counts.has_value());
  EXPECT_EQ(*counts, (TestCounts{1, 1, 2}));
}

TEST(TestReport, Pytest) {
  const auto counts = read_junit(
      R"(<testsuites><testsuite name="pytest" errors="1" failures="0" skipped="1" tests="3">)"
      R"(<testcase classname="t" name="test_a" time="0.001"/>)"
      R"(<testcase classname="t" name="test_b"><skipped type="pytest.skip" message="no">x</skipped></testcase>)"
      R"(<testcase classname="" name="t2"><error message="collection failure">x</error></testcase>)"
      R"(</testsuite></testsuites>)");
  ASSERT_TRUE(counts.has_value());
  EXPECT_EQ(*counts, (TestCounts{1, 1, 1}));
}

TEST(TestReport, NothingRan) {
  EXPECT_EQ(read_junit("<testsuites tests='0'/>").value(), TestCounts{});
  EXPECT_EQ(read_junit("<testsuite/>").value(), TestCounts{});
}

TEST(TestReport, OtherThingsAreNoReports) {
  EXPECT_EQ(read_junit("").error().kind, ErrorKind::invalid);
  EXPECT_EQ(read_junit("not xml").error().kind, ErrorKind::invalid);
  EXPECT_EQ(read_junit("<html><testcase/></html>").error().kind, ErrorKind::invalid);
  EXPECT_EQ(read_junit("<testsuite><testcase>").error().kind, ErrorKind::invalid) << "cut off";
}

RC_GTEST_PROP(TestReport, NoiseDoesNoHarm, (const std::string& noise)) {
  (void)read_junit(noise);
  (void)read_junit("<testsuite>" + noise);
  (void)read_summary(noise);
}

TEST(TestReport, SummariesForPeople) {
  EXPECT_EQ(summary("[==========] Running 3 tests from 1 test suite.\n"
                    "[==========] 3 tests from 1 test suite ran. (0 ms total)\n"
                    "[  PASSED  ] 1 test.\n"
                    "[  SKIPPED ] 1 test, listed below:\n"
                    "[  SKIPPED ] Attn.Skip\n"
                    "[  FAILED  ] 1 test, listed below:\n"
                    "[  FAILED  ] Attn.Fwd\n"),
            (TestCounts{1, 1, 1}));
  EXPECT_EQ(summary("[==========] 0 tests from 0 test suites ran. (0 ms total)\n[  PASSED  ] 0 tests.\n"),
            TestCounts{});
  EXPECT_EQ(summary("\n100% tests passed, 0 tests failed out of 12\n\nTotal Test time\n"),
            (TestCounts{12, 0, 0}));
  EXPECT_EQ(summary("67% tests passed, 1 tests failed out of 3\r\n"), (TestCounts{2, 1, 0}));
  EXPECT_EQ(summary("No tests were found!!!\n"), TestCounts{});
  EXPECT_EQ(summary("===== 1 failed, 2 passed, 3 skipped, 1 error in 0.12s =====\n"), (TestCounts{2, 2, 3}));
  EXPECT_EQ(summary("============ no tests ran in 0.01s ============\n"), TestCounts{});
  EXPECT_EQ(summary("...\nRan 7 tests in 0.001s\n\nFAILED (failures=1, errors=2, skipped=1)\n"),
            (TestCounts{3, 3, 1}));
  EXPECT_EQ(summary("Ran 1 test in 0.001s\n\nOK\n"), (TestCounts{1, 0, 0}));
  EXPECT_EQ(summary("Ran 2 tests in 0.001s\n\nOK (skipped=2)\n"), (TestCounts{0, 0, 2}));
  EXPECT_EQ(summary("Ran 0 tests in 0.000s\n\nNO TESTS RAN\n"), TestCounts{});
  EXPECT_EQ(summary("OK\n"), std::nullopt);
  EXPECT_TRUE(read_summary("100% tests passed, 0 tests failed out of 1\n")->is_of_ctest);
  EXPECT_FALSE(read_summary("Ran 1 test in 0.001s\n\nOK\n")->is_of_ctest);
  EXPECT_EQ(summary("all good\n"), std::nullopt);
  EXPECT_EQ(summary(""), std::nullopt);
}

TEST(TestReport, WhatNeverBeganDidNotRun) {
  EXPECT_EQ(
      read_junit(
          R"(<testsuites tests="1"><testsuite><testcase name="a" file="t.cpp" line="4"/></testsuite></testsuites>)")
          .value(),
      (TestCounts{0, 0, 1}))
      << "--gtest_list_tests";
  EXPECT_EQ(
      read_junit(R"(<testsuites><testsuite><testcase name="a" status="run" result="completed" time="0" )"
                 R"(timestamp="1970-01-01T00:00:00.000"/></testsuite></testsuites>)")
          .value(),
      (TestCounts{0, 0, 1}))
      << "GTEST_SKIP() in an Environment";
  EXPECT_EQ(
      read_junit(R"(<testsuites><testsuite><testcase name="a" time="0"/></testsuite></testsuites>)").value(),
      (TestCounts{1, 0, 0}));
}

TEST(TestReport, EachRunOfPytestTellsItsEnd) {
  EXPECT_TRUE(read_pytest_summaries("== 1 banana in 0.1s ==\n").empty());
  const auto found = read_pytest_summaries(
      "== test session starts ==\n== 1 passed, 2 skipped in 0.1s ==\n"
      "==== no tests ran in 0.01s ====\r\n== 1 failed in 1s ==");
  EXPECT_EQ(found, (std::vector<TestCounts>{{1, 0, 2}, {0, 0, 0}, {0, 1, 0}}));
}

}  // namespace
}  // namespace hallmark::inspect
