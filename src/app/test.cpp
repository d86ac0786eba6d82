#include "app/test.h"

#include <stdlib.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "app/command.h"
#include "app/which_tests.h"
#include "base/limits.h"
#include "base/path.h"
#include "engine/engine.h"
#include "engine/outputs.h"
#include "observe/observer.h"
#include "prove/artifacts.h"

namespace hallmark::app {
namespace {

/// A folder of our own for reports; it goes with this.
class ReportFolder {
 public:
  static Result<ReportFolder> make(os::FileSystem& files, const model::Environment& environment) {
    const auto found = environment.find("TMPDIR");
    const bool named = found != environment.end() && found->second.starts_with('/');
    std::string pattern = path::join(named ? found->second : "/tmp", "hallmark-test-XXXXXX");
    if (::mkdtemp(pattern.data()) == nullptr) return fail(Error::from_errno("make the folder", pattern));
    return ReportFolder(files, pattern);
  }
  ReportFolder(ReportFolder&& other) noexcept
      : files_(other.files_), path_(std::exchange(other.path_, std::string())) {}
  ReportFolder(const ReportFolder&) = delete;
  ReportFolder& operator=(const ReportFolder&) = delete;
  ReportFolder& operator=(ReportFolder&&) = delete;
  ~ReportFolder() {
    if (path_.empty()) return;
    for (const auto& folder : {gtest(), path_}) {
      if (const auto names = files_.get().list(folder); names.has_value()) {
        for (const auto& name : *names) static_cast<void>(files_.get().remove(path::join(folder, name)));
      }
      static_cast<void>(files_.get().remove_folder(folder));
    }
  }

  const std::string& path() const { return path_; }
  std::string gtest() const { return path_ + "/gtest"; }
  std::string pytest() const { return path_ + "/pytest.xml"; }
  std::string ctest() const { return path_ + "/ctest.xml"; }

 private:
  ReportFolder(os::FileSystem& files, std::string path) : files_(files), path_(std::move(path)) {}

  std::reference_wrapper<os::FileSystem> files_;
  std::string path_;
};

/// What the programs are asked to write their reports to. A report that the caller asked for himself stays,
/// and is read where it is.
struct Reports {
  std::vector<std::string> files;    ///< of test programs, if they come to be
  std::vector<std::string> folders;  ///< whose files are reports of test programs
  std::string of_runner;
};

/// As one word of a shell: pytest splits its options so.
std::string quoted(std::string_view word) {
  std::string text = "'";
  for (const char c : word) c == '\'' ? text.append("'\\''") : text.append(1, c);
  return text + "'";
}

Reports ask_for_reports(model::Command& command, const ReportFolder& folder) {
  Reports reports;
  auto& gtest = command.environment["GTEST_OUTPUT"];
  constexpr std::string_view kXml = "xml:";
  if (gtest.empty()) {
    gtest = std::string(kXml) + folder.gtest() + "/";
    reports.folders.push_back(folder.gtest());
  } else if (gtest.starts_with(kXml)) {
    const auto named = path::join(command.cwd, gtest.substr(kXml.size()));
    (named.ends_with('/') ? reports.folders : reports.files).push_back(named);
  }
  auto& pytest = command.environment["PYTEST_ADDOPTS"];
  if (pytest.find("--junit") == std::string::npos) {
    pytest += (pytest.empty() ? "" : " ") + ("--junit-xml=" + quoted(folder.pytest()));
    reports.files.push_back(folder.pytest());
  }
  const auto is_ctest = path::base_name(command.argv.front()) == "ctest";
  const auto has_own = std::find(command.argv.begin(), command.argv.end(), "--output-junit");
  if (is_ctest && has_own == command.argv.end()) {
    reports.of_runner = folder.ctest();
    command.argv.insert(command.argv.end(), {"--output-junit", reports.of_runner});
  } else if (is_ctest && std::next(has_own) != command.argv.end()) {
    reports.of_runner = path::join(command.cwd, *std::next(has_own));
  }
  return reports;
}

std::optional<inspect::TestCounts> read_report(os::FileSystem& files, const std::string& path,
                                               std::int64_t since_ns) {
  const auto stat = files.stat(path);
  if (!stat.has_value() || !*stat || (*stat)->kind != NodeKind::file) return std::nullopt;
  if ((*stat)->mtime_ns < since_ns - limits::kRacyWindow_ns) return std::nullopt;  // an earlier run's
  const auto text = os::read_file(files, path, limits::kTestReportBytes);
  if (!text.has_value()) return std::nullopt;
  const auto counts = inspect::read_junit(*text);
  return counts.has_value() ? std::optional(*counts) : std::nullopt;
}

void read_reports(os::FileSystem& files, const Reports& reports, const model::Observation& observation,
                  prove::TestRun& run) {
  const auto take = [&](const std::string& path) {
    if (const auto counts = read_report(files, path, observation.start_ns)) {
      std::string name(path::base_name(path));
      run.reports.push_back({name.substr(0, name.rfind(".xml")), *counts});
    }
  };
  for (const auto& path : reports.files) take(path);
  for (const auto& folder : reports.folders) {
    const auto names = files.list(folder);
    if (!names.has_value()) continue;
    for (const auto& name : *names) take(path::join(folder, name));
  }
  if (!reports.of_runner.empty()) run.of_runner = read_report(files, reports.of_runner, observation.start_ns);
  // CTest says on stderr that it found none.
  if (!run.of_runner) run.of_runner = inspect::read_summary(observation.out.bytes);
  if (!run.of_runner) run.of_runner = inspect::read_summary(observation.err.bytes);
}

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

  HALLMARK_TRY(const auto folder, ReportFolder::make(session.files, session.environment));
  observe::Request observed;
  observed.command = describe_command(request.argv, session.environment, session.cwd);
  const auto reports = ask_for_reports(observed.command, folder);
  observed.hallmark_program = session.installation.program;
  observed.agent_library = session.installation.agent;
  observed.best = session.settings.disable.value ? model::Tier::none : session.settings.observe.value;
  if (!session.settings.store.value.empty()) observed.invisible.push_back(session.settings.store.value);
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
