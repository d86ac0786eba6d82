#include "app/test_reports.h"

#include <algorithm>
#include <array>
#include <utility>

#include "app/command.h"
#include "base/limits.h"
#include "base/path.h"
#include "base/shell.h"

namespace hallmark::app {
namespace {

/// nullopt: it is not there, is no report, or an earlier run's.
std::optional<std::string> read_recent(os::FileSystem& files, const std::string& path,
                                       std::int64_t since_ns) {
  const auto stat = files.stat(path);
  if (!stat.has_value() || !*stat || (*stat)->kind != NodeKind::file) return std::nullopt;
  if ((*stat)->mtime_ns < since_ns - limits::kRacyWindow_ns) return std::nullopt;
  auto text = os::read_file(files, path, limits::kTestReportBytes);
  return text.has_value() ? std::optional(*std::move(text)) : std::nullopt;
}

std::optional<inspect::TestCounts> counts_of(const std::optional<std::string>& xml) {
  if (!xml) return std::nullopt;
  const auto counts = inspect::read_junit(*xml);
  return counts.has_value() ? std::optional(*counts) : std::nullopt;
}

std::string stem_of(std::string_view path) {
  const auto name = path::base_name(path);
  return std::string(name.substr(0, name.rfind('.')));
}

/// Reports that the command's own flags asked for. CTest's, which has no <testsuites>, tells of the same
/// tests as its programs do.
void read_own_reports(os::FileSystem& files, const Reports& reports, const model::Observation& observation,
                      prove::TestRun& run) {
  for (const auto& output : observation.outputs) {
    const bool is_read =
        output.path == reports.of_runner ||
        std::find(reports.files.begin(), reports.files.end(), output.path) != reports.files.end() ||
        std::any_of(reports.folders.begin(), reports.folders.end(), [&](const std::string& folder) {
          return path::is_within(output.path, path::without_trailing_slashes(folder));
        });
    if (is_read || !output.path.ends_with(".xml")) continue;
    const auto text = read_recent(files, output.path, observation.start_ns);
    const auto counts = counts_of(text);
    if (counts && text->find("<testsuites") != std::string::npos)
      run.reports.push_back({output.path, *counts});
  }
}

void read_runner(os::FileSystem& files, const Reports& reports, const model::Observation& observation,
                 prove::TestRun& run) {
  if (!reports.of_runner.empty())
    run.of_runner = counts_of(read_recent(files, reports.of_runner, observation.start_ns));
  run.runner_judges = run.of_runner.has_value();
  // CTest says on stderr that it found none; unittest says all there.
  for (const auto* stream : {&observation.out, &observation.err}) {
    if (run.of_runner) return;
    const auto summary = inspect::read_summary(stream->bytes);
    if (!summary) continue;
    run.of_runner = summary->counts;
    run.runner_judges = summary->is_of_ctest;
  }
}

/// Whether a program has GoogleTest in it, linked in either way.
bool has_gtest(os::FileSystem& files, const std::string& program) {
  constexpr std::array<std::string_view, 2> kMarks = {"MakeAndRegisterTestInfo", "--gtest_list_tests"};
  const auto bytes = os::read_file(files, program, limits::kTestProgramBytes);
  return bytes.has_value() && std::any_of(kMarks.begin(), kMarks.end(), [&](std::string_view mark) {
           return bytes->find(mark) != std::string::npos;
         });
}

/// "t.xml", and "t_1.xml" of a second run of it.
bool is_report_of(std::string_view report, std::string_view program) {
  if (!report.starts_with(program)) return false;
  const auto rest = report.substr(program.size());
  return rest.empty() || (rest.starts_with('_') && rest.find_first_not_of("0123456789", 1) == rest.npos);
}

/// Programs of GoogleTest that wrote no report where they were asked to, nor another one somewhere else.
void find_broken_off(os::FileSystem& files, const model::Observation& observation, prove::TestRun& run) {
  if (run.reports.empty() && !run.runner_judges) return;  // then there is no report at all, or its summary
  for (const auto& program : observation.programs) {
    const auto name = stem_of(program.path);
    const bool reported =
        std::any_of(run.reports.begin(), run.reports.end(),
                    [&](const prove::ProgramReport& report) { return is_report_of(report.name, name); });
    if (!reported && has_gtest(files, program.path)) run.broken_off.push_back(program.path);
  }
  // A report in a place of its own does not tell whose it is; nor is one in JSON read.
  const auto own = static_cast<std::size_t>(
      std::count_if(observation.outputs.begin(), observation.outputs.end(),
                    [](const auto& output) { return output.path.ends_with(".json"); }) +
      std::count_if(run.reports.begin(), run.reports.end(),
                    [](const auto& report) { return report.name.starts_with('/'); }));
  if (own >= run.broken_off.size()) run.broken_off.clear();
}

}  // namespace

Reports ask_for_reports(model::Command& command, const std::string& folder) {
  Reports reports;
  auto& gtest = command.environment["GTEST_OUTPUT"];
  constexpr std::string_view kXml = "xml:";
  if (gtest.empty()) {
    reports.folders.push_back(path::join(folder, "gtest"));
    gtest = std::string(kXml) + reports.folders.front() + "/";
    reports.asked_gtest = true;
  } else if (gtest.starts_with(kXml)) {
    const auto named = path::join(command.cwd, gtest.substr(kXml.size()));
    (named.ends_with('/') ? reports.folders : reports.files).push_back(named);
  }
  auto& pytest = command.environment["PYTEST_ADDOPTS"];
  if (pytest.find("--junit") == std::string::npos) {
    reports.of_pytest = path::join(folder, "pytest.xml");
    reports.files.push_back(reports.of_pytest);
    pytest += (pytest.empty() ? "" : " ") + ("--junit-xml=" + shell_quoted(reports.of_pytest));
  }
  const auto is_ctest = path::base_name(command.argv.front()) == "ctest";
  const auto has_own = std::find(command.argv.begin(), command.argv.end(), "--output-junit");
  if (is_ctest && has_own == command.argv.end()) {
    reports.of_runner = path::join(folder, "ctest.xml");
    command.argv.insert(command.argv.end(), {"--output-junit", reports.of_runner});
  } else if (is_ctest && std::next(has_own) != command.argv.end()) {
    reports.of_runner = path::join(command.cwd, *std::next(has_own));
  }
  return reports;
}

void read_reports(os::FileSystem& files, const Reports& reports, const model::Observation& observation,
                  prove::TestRun& run) {
  const auto take = [&](const std::string& path) {
    if (const auto counts = counts_of(read_recent(files, path, observation.start_ns)))
      run.reports.push_back({stem_of(path), *counts});
  };
  const auto of_pytest = inspect::read_pytest_summaries(observation.out.bytes);
  for (const auto& path : reports.files) {
    if (path != reports.of_pytest || of_pytest.size() < 2) take(path);
  }
  if (of_pytest.size() > 1) {
    for (const auto& counts : of_pytest) run.reports.push_back({"pytest", counts});
  }
  for (const auto& folder : reports.folders) {
    const auto names = files.list(folder);
    if (!names.has_value()) continue;
    for (const auto& name : *names) take(path::join(folder, name));
  }
  read_own_reports(files, reports, observation, run);
  read_runner(files, reports, observation, run);
  if (reports.asked_gtest) find_broken_off(files, observation, run);
}

}  // namespace hallmark::app
