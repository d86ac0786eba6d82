#include "cli/audit_verb.h"

#include <unistd.h>

#include <algorithm>
#include <set>

#include "app/audit.h"
#include "base/format.h"
#include "base/path.h"
#include "cli/exit_code.h"
#include "cli/json.h"
#include "cli/terminal.h"

namespace hallmark::cli {
namespace {

using prove::Gap;

/// Of one gap; --json names all.
constexpr std::size_t kShownReaders = 20;

std::string near(const std::string& path, const std::string& cwd) {
  return cwd == "/" ? path : path::relative_below(path, cwd);
}

std::string gap_text(const Gap& gap, const std::string& cwd) {
  std::set<std::string_view> ways;
  for (const auto& reader : gap.readers) ways.insert(name_of(reader.how));
  std::string how;
  for (const auto way : ways) how.append(how.empty() ? "" : ", ").append(way);
  const auto count = gap.readers.size();
  auto text = formatted("editing {} will not rebuild {} ({}):\n", near(gap.file, cwd),
                        count == 1 ? std::string("this file") : formatted("these {} files", count), how);
  for (std::size_t i = 0; i < std::min(count, kShownReaders); ++i)
    text += formatted("  {}\n", near(gap.readers[i].output, cwd));
  if (count > kShownReaders) text += formatted("  and {} more (--json names all)\n", count - kShownReaders);
  return text;
}

std::string summary(const prove::Audit& audit) {
  auto text =
      formatted("{} edges: {} judged by records, {} by observation, {} by #include lines, {} unknown\n",
                audit.edges, audit.recorded, audit.observed, audit.by_includes, audit.unknown);
  if (audit.by_includes > 0)
    text += "#include lines are the weaker evidence: --observe runs these compiles into a scratch folder\n";
  return text;
}

std::string text_of(const app::AuditResult& result, const std::string& cwd, bool all, bool fix) {
  std::string text;
  std::size_t system = 0;
  for (const auto& gap : result.audit.gaps) {
    if (gap.is_system && !all) {
      ++system;
    } else {
      text += gap_text(gap, cwd);
    }
  }
  for (const auto& finding : result.audit.findings)
    text += formatted("{}: {}: {} ({})\n", name_of(finding.kind), near(finding.subject, cwd), finding.what,
                      finding.remedy);
  if (system > 0)
    text += formatted("{} files of the compiler and the system are read and not compared (--all)\n", system);
  text += summary(result.audit);
  if (fix && result.repairs.empty()) text += "nothing to repair with a launcher\n";
  for (const auto& line : fix ? result.repairs : std::vector<std::string>()) text += line + "\n";
  return text;
}

std::string json_of(const app::AuditResult& result) {
  const auto& audit = result.audit;
  Json gaps = Json::array();
  for (const auto& gap : audit.gaps) {
    Json readers = Json::array();
    for (const auto& reader : gap.readers)
      readers.push_back({{"output", reader.output}, {"how", name_of(reader.how)}});
    gaps.push_back({{"file", gap.file}, {"system", gap.is_system}, {"readers", std::move(readers)}});
  }
  Json findings = Json::array();
  for (const auto& finding : audit.findings)
    findings.push_back({{"kind", name_of(finding.kind)},
                        {"subject", finding.subject},
                        {"what", finding.what},
                        {"remedy", finding.remedy}});
  return line_of(Json{{"folder", result.folder},
                      {"gaps", std::move(gaps)},
                      {"findings", std::move(findings)},
                      {"edges", audit.edges},
                      {"recorded", audit.recorded},
                      {"observed", audit.observed},
                      {"by_includes", audit.by_includes},
                      {"unknown", audit.unknown},
                      {"repairs", result.repairs},
                      {"complaints", audit.complaints}});
}

}  // namespace

int audit_verb(const Parsed& parsed, const app::Session& session) {
  app::AuditRequest request;
  request.folder = parsed.operands.front();
  request.observe = parsed.has("--observe");
  if (::isatty(STDERR_FILENO) == 1)
    request.progress = [&](std::size_t done, std::size_t all, const std::string& output) {
      complain(formatted("observing {}/{}: {}", done + 1, all, near(output, session.cwd)));
    };
  const auto result = app::audit(session, request);
  if (!result.has_value()) {
    complain(result.error().message());
    return exit_code_of(result.error().kind);
  }
  const auto& gaps = result->audit.gaps;
  const bool sound = !result->audit.compared_nothing() && result->audit.findings.empty() &&
                     std::all_of(gaps.begin(), gaps.end(), [](const Gap& gap) { return gap.is_system; });
  for (const auto& complaint : result->audit.complaints) complain(complaint);
  if (result->audit.compared_nothing())
    complain(result->audit.edges == 0
                 ? "this build has no edge that runs a command: there is nothing to compare"
                 : "nothing tells what any edge reads, so nothing was compared: build first, with hallmark "
                   "run in front of the compilers");
  const auto text = parsed.has("--json")
                        ? json_of(*result)
                        : text_of(*result, session.cwd, parsed.has("--all"), parsed.has("--fix"));
  if (!print(text)) {
    complain("cannot write to stdout; is the disk full?");
    return kEnvironment;
  }
  return sound ? kOk : kNegative;
}

}  // namespace hallmark::cli
