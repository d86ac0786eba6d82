#include "prove/test_guard.h"

#include <gmock/gmock.h>

namespace hallmark::prove {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Kind = Refusal::Kind;
using Kinds = std::vector<Kind>;
using inspect::TestCounts;

class TestGuard : public ::testing::Test {
 protected:
  TestGuard() {
    steps_.resize(2);
    steps_[0].output = "/r/libk.so";
    steps_[0].inputs = {{"/r/k.o", 1}, {"/usr/lib/libc.so.6", std::nullopt}};
    steps_[0].verdict = steps_[1].verdict = Verdict::fresh;
    steps_[1].output = "/r/k.o";
    steps_[1].inputs = {{"/r/k.cu", std::nullopt}, {"/r/k.h", std::nullopt}};
    run_.loaded = {"/r/libk.so", "/r/t", "/usr/lib/libc.so.6"};
    run_.proofs = {{"/r/libk.so", Verdict::fresh, 0, ""}, {"/r/t", Verdict::unknown, std::nullopt, "why"}};
    run_.reports = {{"t", {3, 0, 0}}};
  }

  Kinds kinds() const {
    Kinds found;
    for (const auto& refusal : refusals(run_, steps_, demands_)) found.push_back(refusal.kind);
    return found;
  }
  std::string what() const {
    const auto found = refusals(run_, steps_, demands_);
    return found.empty() ? std::string() : found.front().what;
  }

  Steps steps_;
  TestRun run_;
  TestDemands demands_;
};

TEST_F(TestGuard, ARunThatRanIsLetThrough) {
  EXPECT_THAT(kinds(), IsEmpty());
  run_.reports.clear();
  run_.of_runner = TestCounts{1, 0, 0};
  EXPECT_THAT(kinds(), IsEmpty());
}

TEST_F(TestGuard, NoReportIsNoTest) {
  run_.reports.clear();
  EXPECT_THAT(kinds(), ElementsAre(Kind::no_report));
  demands_.min_tests = 0;
  EXPECT_THAT(kinds(), IsEmpty());
}

TEST_F(TestGuard, AFailureThatTheCommandHides) {
  run_.reports = {{"t", {3, 1, 0}}};
  EXPECT_THAT(kinds(), ElementsAre(Kind::hidden_failure));
  run_.failed = true;
  EXPECT_THAT(kinds(), IsEmpty()) << "it says so itself";
  run_.failed = false;
  run_.of_runner = TestCounts{1, 0, 0};
  EXPECT_THAT(kinds(), ElementsAre(Kind::hidden_failure)) << "the summary of a second program";
  run_.runner_judges = true;
  EXPECT_THAT(kinds(), IsEmpty()) << "CTest wants it to fail, or it passed in a second try";
  run_.of_runner = TestCounts{0, 1, 0};
  EXPECT_THAT(kinds(), ElementsAre(Kind::hidden_failure)) << "ctest || true";
}

TEST_F(TestGuard, ASummaryOfTheSameTestsIsNotAddedToTheirReport) {
  run_.reports = {{"t", {2, 0, 1}}};
  run_.of_runner = TestCounts{5, 0, 0};
  EXPECT_EQ(counted(run_), (TestCounts{2, 0, 1})) << "GoogleTest's own";
  run_.runner_judges = true;
  EXPECT_EQ(counted(run_), (TestCounts{6, 0, 1})) << "CTest counts programs: four without a report";
}

TEST_F(TestGuard, AProgramThatBrokeOff) {
  run_.broken_off = {"/r/t2"};
  EXPECT_THAT(kinds(), ElementsAre(Kind::broke_off));
  EXPECT_THAT(what(), HasSubstr("/r/t2"));
  run_.failed = true;
  EXPECT_THAT(kinds(), IsEmpty());
}

TEST_F(TestGuard, NothingMatched) {
  run_.reports = {{"t", {}}};
  EXPECT_THAT(kinds(), ElementsAre(Kind::nothing_ran)) << "said once, with the name";
  EXPECT_THAT(what(), HasSubstr("t ran no test"));
  run_.of_runner = TestCounts{1, 0, 0};
  EXPECT_THAT(kinds(), ElementsAre(Kind::nothing_ran)) << "though ctest saw a test pass";
  run_.reports.push_back({"u", {5, 0, 0}});
  EXPECT_THAT(kinds(), ElementsAre(Kind::nothing_ran)) << "though another program ran some";
  run_.reports.clear();
  run_.of_runner = TestCounts{};
  EXPECT_THAT(kinds(), ElementsAre(Kind::nothing_ran));
}

TEST_F(TestGuard, AllSkipped) {
  run_.reports = {{"t", {0, 0, 4}}};
  EXPECT_THAT(kinds(), ElementsAre(Kind::all_skipped));
  run_.runner_judges = true;
  run_.of_runner = TestCounts{1, 0, 0};
  EXPECT_THAT(kinds(), ElementsAre(Kind::all_skipped)) << "ctest counts the program as passed";
  run_.of_runner = TestCounts{2, 0, 0};
  EXPECT_THAT(kinds(), IsEmpty()) << "a second program, without a report, ran";
}

TEST_F(TestGuard, TooFew) {
  demands_.min_tests = 4;
  EXPECT_THAT(kinds(), ElementsAre(Kind::too_few));
  run_.reports.push_back({"u", {1, 0, 0}});
  EXPECT_THAT(kinds(), IsEmpty());
  run_.reports.pop_back();
  run_.runner_judges = true;
  run_.of_runner = TestCounts{2, 0, 0};
  EXPECT_THAT(kinds(), IsEmpty()) << "three in t and a program without a report";
}

TEST_F(TestGuard, ARedRunNeedsNoCount) {
  run_.failed = true;
  run_.reports.clear();
  EXPECT_THAT(kinds(), IsEmpty());
  steps_[1].verdict = run_.proofs[0].verdict = Verdict::stale;
  steps_[1].differences = {{model::ReasonCode::content_changed, "/r/k.h", "a", "b"}};
  EXPECT_THAT(kinds(), ElementsAre(Kind::stale)) << "that explains it";
}

TEST_F(TestGuard, OtherCodeUnderAStampIsRefused) {
  run_.proofs[1] = {"/r/t", Verdict::stale, std::nullopt, "its code is not what was stamped", Basis::stamp};
  EXPECT_THAT(kinds(), ElementsAre(Kind::stale));
  EXPECT_EQ(what(), "/r/t is stale: its code is not what was stamped");
}

TEST_F(TestGuard, StaleFilesAreNamedWithTheCause) {
  steps_[0].verdict = steps_[1].verdict = run_.proofs[0].verdict = Verdict::stale;
  steps_[1].differences = {{model::ReasonCode::content_changed, "/r/k.h", "a", "b"}};
  EXPECT_THAT(kinds(), ElementsAre(Kind::stale));
  EXPECT_THAT(what(), HasSubstr("/r/libk.so is stale: /r/k.h changed"));
}

TEST_F(TestGuard, AProgramNeedNotBeLinkedAgainWithALibraryThatItLoads) {
  steps_.resize(4);
  steps_[2].output = "/r/t";  // linked with the library of an earlier run, which has changed since
  steps_[2].inputs = {{"/r/libk.so", 3}, {"/r/t.o", std::nullopt}};
  steps_[2].verdict = Verdict::stale;
  steps_[3].output = "/r/libk.so";
  steps_[3].differences = {{model::ReasonCode::content_changed, "/r/k.h", "a", "b"}};
  steps_[3].verdict = Verdict::stale;
  run_.proofs[1] = {"/r/t", Verdict::stale, 2, ""};
  EXPECT_THAT(kinds(), IsEmpty());
  steps_[2].differences = {{model::ReasonCode::content_changed, "/r/libk.so", "a", "b"}};
  EXPECT_THAT(kinds(), IsEmpty());
  steps_[2].differences.push_back({model::ReasonCode::content_changed, "/r/t.o", "a", "b"});
  EXPECT_THAT(kinds(), ElementsAre(Kind::stale));
  steps_[2].differences.clear();
  run_.proofs[0].verdict = Verdict::unknown;
  EXPECT_THAT(kinds(), ElementsAre(Kind::stale)) << "the library that it loads is not fresh";
}

TEST_F(TestGuard, WhatMustBeLoaded) {
  demands_.must_load = {"/r/libk.so"};
  EXPECT_THAT(kinds(), IsEmpty());
  run_.loaded = {"/opt/old/libk.so.2", "/r/t"};
  EXPECT_THAT(kinds(), ElementsAre(Kind::shadowed));
  EXPECT_THAT(what(), HasSubstr("/opt/old/libk.so.2 was loaded, not /r/libk.so"));
  run_.loaded = {"/r/libkernels.so", "/r/t"};
  EXPECT_THAT(kinds(), ElementsAre(Kind::not_loaded));
  demands_.must_load = {"/r/_C.cpython-311-x86_64-linux-gnu.so"};
  run_.loaded = {"/r/_C.cpython-310-x86_64-linux-gnu.so"};
  EXPECT_THAT(kinds(), ElementsAre(Kind::shadowed)) << "an older Python's name";
}

TEST_F(TestGuard, AnotherCopyThatShadowsWhatWasBuilt) {
  using Place = LookAlike::Place;
  run_.look_alikes = {{"/opt/libk.so", "/r/libk.so", Place::elsewhere, false}};
  EXPECT_THAT(kinds(), IsEmpty()) << "nobody is known to have built it";
  run_.built = {"/r/libk.so"};
  EXPECT_THAT(kinds(), ElementsAre(Kind::shadowed));
  EXPECT_THAT(what(), HasSubstr("/opt/libk.so was loaded, not /r/libk.so, which was built"));
  run_.built = {"/opt/libk.so"};
  EXPECT_THAT(kinds(), IsEmpty()) << "the built one was loaded";

  run_.built = {"/opt/libk.so", "/r/libk.so"};
  EXPECT_THAT(kinds(), IsEmpty()) << "another build";
  run_.look_alikes[0].is_newer = true;
  EXPECT_THAT(kinds(), IsEmpty());
  run_.look_alikes[0].place = Place::searched;
  EXPECT_THAT(kinds(), ElementsAre(Kind::shadowed));
  run_.look_alikes[0].is_newer = false;
  EXPECT_THAT(kinds(), IsEmpty());

  run_.built.clear();
  run_.look_alikes[0].place = Place::beside;
  EXPECT_THAT(kinds(), IsEmpty());
  run_.look_alikes[0].is_newer = true;
  EXPECT_THAT(kinds(), ElementsAre(Kind::shadowed));
  run_.look_alikes.push_back({"/opt/libk.so", "/r/other/libk.so", Place::beside, true});
  EXPECT_THAT(kinds(), ElementsAre(Kind::shadowed)) << "said once";
}

TEST_F(TestGuard, WhatWasNotObservedMeetsNoDemand) {
  run_.observed = false;
  run_.loaded.clear();
  run_.proofs.clear();
  EXPECT_THAT(kinds(), IsEmpty());
  demands_.must_load = {"/r/libk.so"};
  demands_.covers = {"/r/k.h"};
  EXPECT_THAT(kinds(), ElementsAre(Kind::not_observed)) << "said once, and not as if it had not been loaded";
}

TEST_F(TestGuard, WhatMustBeCovered) {
  demands_.covers = {"/r/k.h"};
  EXPECT_THAT(kinds(), IsEmpty());
  demands_.covers = {"/r/k.h", "/r/other.h"};
  EXPECT_THAT(kinds(), ElementsAre(Kind::not_covered));
  EXPECT_THAT(what(), HasSubstr("none of the 1 loaded files"));
  run_.proofs.erase(run_.proofs.begin());
  EXPECT_THAT(kinds(), ElementsAre(Kind::not_covered, Kind::not_covered));
}

}  // namespace
}  // namespace hallmark::prove
