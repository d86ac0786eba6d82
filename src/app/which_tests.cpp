#include "app/which_tests.h"

#include <algorithm>
#include <map>
#include <set>

#include "app/builds.h"
#include "app/prove.h"
#include "base/path.h"
#include "prove/artifacts.h"

namespace hallmark::app {
namespace {

/// Executables that are no libraries.
Result<std::vector<std::string>> programs_of(const Session& session, const std::string& folder) {
  HALLMARK_TRY(auto artifacts, prove::artifacts_of_build(session.files, folder));
  std::erase_if(artifacts, [&](const std::string& path) {
    const auto stat = session.files.stat(path);
    return prove::has_artifact_name(path) || !stat.has_value() || !*stat || !(*stat)->executable() ||
           !prove::has_artifact_bytes(session.files, path);
  });
  return artifacts;
}

bool lies_below_root(const Session& session, const std::string& path) {
  const auto& root = session.settings.root.value;
  return root != "/" && path::is_within(path, root);
}

}  // namespace

Result<std::vector<SeeingProgram>> which_tests(const Session& session, const std::string& file,
                                               const std::string& build_folder) {
  const auto real = real_or_spelled(session, file);
  HALLMARK_TRY(const auto stat, session.files.stat(real));
  if (!stat) return fail({ErrorKind::invalid, file + ": there is no such file", "correct its name"});
  HALLMARK_TRY(const auto store, open_store(session));

  std::map<std::string, std::set<std::string>> loads;  // program -> what it loads
  std::set<std::string> ran;
  if (const auto runs = store->test_runs(session.settings.root.value); runs.has_value()) {
    for (const auto& run : *runs) {
      loads[run.name].insert(run.loaded.begin(), run.loaded.end());
      ran.insert(run.name);
    }
  }
  std::vector<std::string> builds;
  if (!build_folder.empty()) {
    builds.push_back(real_or_spelled(session, build_folder));
  } else {
    builds = builds_below(session.files, session.settings.root.value);
  }
  for (const auto& folder : builds) {
    auto programs = programs_of(session, folder);
    if (!programs.has_value() && !build_folder.empty()) return fail(std::move(programs).error());
    for (const auto& program : programs.has_value() ? *programs : std::vector<std::string>())
      loads[program].insert(program);
  }

  std::set<std::string> artifacts;
  for (const auto& [program, loaded] : loads) artifacts.insert(loaded.begin(), loaded.end());
  HALLMARK_TRY(const auto proofs, prove(session, {artifacts.begin(), artifacts.end()}));
  std::set<std::string> made_of_it;
  for (const auto& proof : proofs.proofs) {
    if (proof.artifact == real || derives_from(proofs.steps, proof, real)) made_of_it.insert(proof.artifact);
  }
  std::vector<SeeingProgram> seeing;
  for (const auto& [program, loaded] : loads) {
    SeeingProgram one{program, {}, ran.contains(program)};
    std::set_intersection(loaded.begin(), loaded.end(), made_of_it.begin(), made_of_it.end(),
                          std::back_inserter(one.via));
    if (!one.via.empty()) seeing.push_back(std::move(one));
  }
  return seeing;
}

void note_tests(const Session& session, const std::vector<std::string>& argv,
                const model::Observation& observation, const std::vector<std::string>& loaded) {
  store::TestHistory::TestRun run;
  run.at_ns = observation.start_ns;
  std::set<std::string> programs;
  for (const auto& program : observation.programs) {
    if (lies_below_root(session, program.path) && prove::has_artifact_bytes(session.files, program.path))
      programs.insert(program.path);
  }
  for (const auto& path : loaded) {
    if (lies_below_root(session, path)) run.loaded.push_back(path);
  }
  if (run.loaded.empty()) return;
  if (programs.size() == 1) {
    run.name = *programs.begin();
  } else {
    // Which of them loaded what is not told apart.
    for (const auto& word : argv) run.name += (run.name.empty() ? "" : " ") + word;
  }
  if (const auto store = open_store(session); store.has_value())
    static_cast<void>((*store)->note_test(session.settings.root.value, run));
}

}  // namespace hallmark::app
