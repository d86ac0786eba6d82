#include "prove/test_guard.h"

#include <algorithm>
#include <set>

#include "base/path.h"

namespace hallmark::prove {
namespace {

using inspect::TestCounts;

std::string tests(std::uint64_t number) {
  return std::to_string(number) + (number == 1 ? " test" : " tests");
}

void check_counts(const TestRun& run, const TestDemands& demands, std::vector<Refusal>& found) {
  if (demands.min_tests == 0 || run.failed) return;
  const auto counts = counted(run);
  if (!counts) {
    found.push_back(
        {Refusal::Kind::no_report, "no report of tests was seen, so nobody knows whether one ran",
         "run a test program of GoogleTest or pytest, or ctest; or accept that with --min-tests 0"});
    return;
  }
  // A filter that matches nothing in one of many programs is as empty as one that matches nothing at all.
  bool named = false;
  for (const auto& report : run.reports) {
    if (report.counts.all() > 0) continue;
    named = true;
    found.push_back(
        {Refusal::Kind::nothing_ran,
         report.name + " ran no test: its filter matches none, its shard is empty, or it has none",
         "list its tests and correct the filter"});
  }
  if (counts->ran() == 0 && counts->skipped > 0) {
    found.push_back({Refusal::Kind::all_skipped, tests(counts->skipped) + " selected, and all skipped",
                     "see why: the device, a dependency or the backend is missing here"});
  } else if (counts->ran() == 0 && !named) {
    found.push_back(
        {Refusal::Kind::nothing_ran, "no test ran: the filter matches none, or the build folder has none",
         "list the tests (ctest -N, --gtest_list_tests, pytest --collect-only) and correct the filter"});
  } else if (counts->ran() > 0 && counts->ran() < demands.min_tests) {
    found.push_back({Refusal::Kind::too_few,
                     "only " + tests(counts->ran()) + " ran, not " + std::to_string(demands.min_tests),
                     "correct the filter or --min-tests"});
  }
}

/// A shell, or a main that drops the result of RUN_ALL_TESTS, can end with 0 whatever its tests say.
void check_ends(const TestRun& run, std::vector<Refusal>& found) {
  if (run.failed) return;
  const auto counts = counted(run);
  if (counts && counts->failed > 0 && !(run.runner_judges && run.of_runner->failed == 0))
    found.push_back({Refusal::Kind::hidden_failure,
                     tests(counts->failed) + " failed, and the command ends with 0 all the same",
                     "see its exit code: `|| true`, `;`, or a main that drops that of RUN_ALL_TESTS"});
  for (const auto& program : run.broken_off)
    found.push_back({Refusal::Kind::broke_off,
                     program + " left no report: it ended before its last test, or listed its tests only",
                     "run it by itself and see where it stops: exit() in a test, or in what it tests"});
}

/// Whether the step would be stale if it had been linked with those libraries that were loaded and are fresh:
/// a program need not be linked again when a shared library changes, it loads the new one.
bool is_stale_by_itself(const Steps& steps, std::size_t index, const std::set<std::string>& fresh,
                        std::set<std::size_t>& seen) {
  if (!seen.insert(index).second) return false;
  const auto& step = steps[index];
  if (std::any_of(step.differences.begin(), step.differences.end(),
                  [&](const model::Reason& reason) { return !fresh.contains(reason.subject); }))
    return true;
  return std::any_of(step.inputs.begin(), step.inputs.end(), [&](const Input& input) {
    return input.step && !fresh.contains(input.path) && is_stale_by_itself(steps, *input.step, fresh, seen);
  });
}

std::string remedy_of(const Step& cause, const std::string& artifact) {
  const auto& reason = cause.differences.front();
  // A build that does not compare the file has no work to do.
  const bool is_unknown_to_build =
      reason.code == model::ReasonCode::newer_than_output && reason.after.find(':') != std::string::npos;
  if (is_unknown_to_build)
    return "the build does not know that it reads this file: remove " + cause.output +
           " and build again; hallmark audit " + cause.cwd + " names all such files";
  return "build it again, then test; hallmark why --stale " + artifact;
}

void check_proofs(const TestRun& run, const Steps& steps, std::vector<Refusal>& found) {
  std::set<std::string> fresh;
  for (const auto& proof : run.proofs) {
    if (proof.verdict == Verdict::fresh) fresh.insert(proof.artifact);
  }
  for (const auto& proof : run.proofs) {
    if (proof.verdict == Verdict::stale && !proof.step)  // by its stamp
      found.push_back(
          {Refusal::Kind::stale, proof.artifact + " is stale: " + proof.doubt, "build and install it again"});
    std::set<std::size_t> seen;
    if (proof.verdict != Verdict::stale || !proof.step ||
        !is_stale_by_itself(steps, *proof.step, fresh, seen))
      continue;
    const auto chain = chain_to_cause(steps, proof);
    found.push_back(
        {Refusal::Kind::stale,
         proof.artifact + " is stale: " + model::sentence(steps[chain.back()].differences.front()),
         remedy_of(steps[chain.back()], proof.artifact)});
  }
}

/// "libattn.so" of "libattn.so.2.1" and "_C.so" of "_C.cpython-311-x86_64-linux-gnu.so": what another copy of
/// a library shares with it.
std::string stem_of(std::string_view path) {
  const auto name = path::base_name(path);
  const auto first_dot = name.find('.');
  return std::string(name.substr(0, first_dot));
}

void check_loads(const TestRun& run, const TestDemands& demands, std::vector<Refusal>& found) {
  for (const auto& library : demands.must_load) {
    if (std::find(run.loaded.begin(), run.loaded.end(), library) != run.loaded.end()) continue;
    const auto other = std::find_if(run.loaded.begin(), run.loaded.end(), [&](const std::string& loaded) {
      return stem_of(loaded) == stem_of(library);
    });
    if (other == run.loaded.end()) {
      found.push_back({Refusal::Kind::not_loaded, library + " was not loaded",
                       "the test does not reach it: see its links (ldd) and the backend that it selects"});
    } else {
      found.push_back({Refusal::Kind::shadowed, *other + " was loaded, not " + library,
                       "remove the other copy, or see LD_LIBRARY_PATH, RPATH and PYTHONPATH"});
    }
  }
}

/// A copy from somewhere else in place of what was built, or an older build of it in place of the newer.
bool is_shadow(const TestRun& run, const LookAlike& pair) {
  const auto is_built = [&](const std::string& file) {
    return std::binary_search(run.built.begin(), run.built.end(), file);
  };
  if (is_built(pair.loaded) != is_built(pair.other)) return is_built(pair.other);
  switch (pair.place) {
    case LookAlike::Place::beside:
      return pair.is_newer;
    case LookAlike::Place::searched:
      return pair.is_newer && is_built(pair.other);
    case LookAlike::Place::elsewhere:  // another configuration of the same tree
      return false;
  }
  return false;
}

void check_look_alikes(const TestRun& run, std::vector<Refusal>& found) {
  for (const auto& pair : run.look_alikes) {
    if (!is_shadow(run, pair)) continue;
    const bool is_known = std::any_of(found.begin(), found.end(), [&](const Refusal& refusal) {
      return refusal.kind == Refusal::Kind::shadowed && refusal.what.starts_with(pair.loaded + " was loaded");
    });
    if (is_known) continue;
    found.push_back(
        {Refusal::Kind::shadowed,
         pair.loaded + " was loaded, not " + pair.other +
             (pair.is_newer ? ", which is newer" : ", which was built"),
         "remove the other copy or build or install it again; see LD_LIBRARY_PATH, RPATH and PYTHONPATH"});
  }
}

void check_cover(const TestRun& run, const Steps& steps, const TestDemands& demands,
                 std::vector<Refusal>& found) {
  for (const auto& file : demands.covers) {
    const bool covered = std::any_of(run.proofs.begin(), run.proofs.end(),
                                     [&](const Proof& proof) { return derives_from(steps, proof, file); });
    if (covered) continue;
    const auto known = std::count_if(run.proofs.begin(), run.proofs.end(),
                                     [](const Proof& proof) { return proof.step.has_value(); });
    std::string programs;
    if (demands.programs_for) {
      for (const auto& program : demands.programs_for(file))
        programs += (programs.empty() ? "" : ", ") + program;
    }
    found.push_back({Refusal::Kind::not_covered,
                     "this test cannot see " + file + ": none of the " + std::to_string(known) +
                         " loaded files whose making is known is made of it",
                     !programs.empty() ? "these programs can: " + programs
                     : known == 0 ? "build with hallmark run in front of each command, so that it is known"
                                  : "choose a test program that loads what is made of it; none is known"});
  }
}

}  // namespace

std::string_view name_of(Refusal::Kind kind) {
  switch (kind) {
    case Refusal::Kind::no_report:
      return "no_report";
    case Refusal::Kind::nothing_ran:
      return "nothing_ran";
    case Refusal::Kind::all_skipped:
      return "all_skipped";
    case Refusal::Kind::too_few:
      return "too_few";
    case Refusal::Kind::hidden_failure:
      return "hidden_failure";
    case Refusal::Kind::broke_off:
      return "broke_off";
    case Refusal::Kind::stale:
      return "stale";
    case Refusal::Kind::not_loaded:
      return "not_loaded";
    case Refusal::Kind::shadowed:
      return "shadowed";
    case Refusal::Kind::not_covered:
      return "not_covered";
    case Refusal::Kind::not_observed:
      return "not_observed";
  }
  return "unknown";
}

std::optional<TestCounts> counted(const TestRun& run) {
  if (run.reports.empty()) return run.of_runner;
  TestCounts sum;
  for (const auto& report : run.reports) sum += report.counts;
  // CTest counts programs, and those that wrote no report are tests of their own.
  if (run.runner_judges && run.of_runner && run.of_runner->ran() > run.reports.size())
    sum.passed += run.of_runner->ran() - run.reports.size();
  return sum;
}

std::vector<Refusal> refusals(const TestRun& run, const Steps& steps, const TestDemands& demands) {
  std::vector<Refusal> found;
  check_counts(run, demands, found);
  check_ends(run, found);
  check_proofs(run, steps, found);
  if (run.observed) {
    check_loads(run, demands, found);
    check_look_alikes(run, found);
    check_cover(run, steps, demands, found);
  } else if (!demands.must_load.empty() || !demands.covers.empty()) {
    found.push_back({Refusal::Kind::not_observed,
                     "the tests were not observed, so nobody knows what they loaded",
                     "see hallmark doctor for what observation needs here"});
  }
  return found;
}

}  // namespace hallmark::prove
