#include "app/test.h"

#include <algorithm>

#include "app/builds.h"
#include "app/command.h"
#include "app/look_alikes.h"
#include "app/temporary_folder.h"
#include "app/test_reports.h"
#include "app/watched_run.h"
#include "app/which_tests.h"
#include "base/path.h"
#include "engine/engine.h"
#include "engine/outputs.h"
#include "prove/artifacts.h"

namespace hallmark::app {
namespace {

/// Programs and libraries: what was executed, and what has the name of a library and was opened.
std::vector<std::string> loaded_by(const model::Observation& observation) {
  std::vector<std::string> loaded;
  for (const auto& program : observation.programs) loaded.push_back(program.path);
  for (const auto& input : observation.inputs) {
    if (input.use == model::Use::content && input.stat && prove::has_artifact_name(input.path))
      loaded.push_back(input.path);
  }
  std::sort(loaded.begin(), loaded.end());
  loaded.erase(std::unique(loaded.begin(), loaded.end()), loaded.end());
  return loaded;
}

/// Finds what could have been loaded instead, and which of all these files were built.
Status find_look_alikes(const Session& session, const model::Command& command, TestResult& result) {
  auto& run = result.run;
  std::vector<std::string> built;
  for (const auto& folder : builds_below(session.files, session.settings.root.value)) {
    if (auto artifacts = prove::artifacts_of_build(session.files, folder); artifacts.has_value())
      built.insert(built.end(), artifacts->begin(), artifacts->end());
  }
  std::vector<std::string> ours;
  for (const auto& proof : run.proofs) ours.push_back(proof.artifact);
  run.look_alikes = look_alikes(session.files, command, run.loaded, ours, built);
  if (run.look_alikes.empty()) return {};

  const auto add_recorded = [&](const std::vector<prove::Proof>& proofs, const prove::Steps& steps) {
    for (const auto& proof : proofs) {
      if (proof.step && steps[*proof.step].is_recorded) built.push_back(proof.artifact);
    }
  };
  std::vector<std::string> others;
  for (const auto& pair : run.look_alikes) others.push_back(pair.other);
  HALLMARK_TRY(const auto proofs, prove_loaded(session, others));
  add_recorded(proofs.proofs, proofs.steps);
  add_recorded(run.proofs, result.steps);
  std::sort(built.begin(), built.end());
  run.built = std::move(built);
  return {};
}

Result<std::vector<std::string>> named_files(const Session& session, const std::vector<std::string>& spelled,
                                             std::string_view flag) {
  std::vector<std::string> files;
  for (const auto& name : spelled) {
    auto real = real_or_spelled(session, name);
    HALLMARK_TRY(const auto stat, session.files.stat(real));
    if (!stat)
      return fail({ErrorKind::invalid, std::string(flag) + " " + name + ": there is no such file",
                   "correct its name"});
    files.push_back(std::move(real));
  }
  return files;
}

}  // namespace

Result<TestResult> test(const Session& session, const TestRequest& request) {
  prove::TestDemands demands;
  HALLMARK_TRY(demands.covers, named_files(session, request.covers, "--covers"));
  HALLMARK_TRY(demands.must_load, named_files(session, request.must_load, "--must-load"));
  demands.min_tests = request.min_tests;

  HALLMARK_TRY(const auto folder, TemporaryFolder::make(session.files, session.environment, "test"));
  auto command = describe_command(request.argv, session.environment, session.cwd);
  const auto reports = ask_for_reports(command, folder.path());
  const auto observed = request_to_watch(session, command);
  HALLMARK_TRY(const auto observation, engine::watch(session.files, observed));

  TestResult result;
  result.exit_code = engine::exit_code_of(observation.wait_status);
  if (observation.undelivered) return fail(*observation.undelivered);
  read_reports(session.files, reports, observation, result.run);
  result.run.failed = result.exit_code != 0;
  result.run.observed = observation.tier != model::Tier::none;
  result.run.loaded = loaded_by(observation);
  HALLMARK_TRY(auto proofs, prove_loaded(session, result.run.loaded));
  result.run.proofs = std::move(proofs.proofs);
  result.steps = std::move(proofs.steps);
  HALLMARK_CHECK(find_look_alikes(session, command, result));
  if (!result.run.observed)
    result.warnings.emplace_back(
        "the tests were not observed: what they loaded is not known; see hallmark doctor");
  note_tests(session, request.argv, observation, result.run.loaded);
  demands.programs_for = [&](const std::string& file) {
    std::vector<std::string> names;
    const auto programs = which_tests(session, file, {});
    if (!programs.has_value()) return names;
    for (const auto& program : *programs) names.push_back(program.name);
    return names;
  };
  result.refusals = refusals(result.run, result.steps, demands);
  return result;
}

}  // namespace hallmark::app
