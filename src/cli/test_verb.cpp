#include "cli/test_verb.h"

#include <algorithm>
#include <charconv>

#include "app/test.h"
#include "base/format.h"
#include "base/path.h"
#include "cli/exit_code.h"
#include "cli/json.h"
#include "cli/terminal.h"

namespace hallmark::cli {
namespace {

using prove::Verdict;

std::size_t count(const app::TestResult& result, Verdict verdict) {
  return static_cast<std::size_t>(
      std::count_if(result.run.proofs.begin(), result.run.proofs.end(),
                    [&](const prove::Proof& proof) { return proof.verdict == verdict; }));
}

/// What was seen, in one line.
std::string summary(const app::TestResult& result) {
  std::string line;
  if (const auto counts = prove::counted(result.run)) {
    line = formatted("{} of {} tests ran", counts->ran(), counts->all());
  } else {
    line = "no report of tests was seen";
  }
  return line + formatted("; of {} loaded artifacts {} are fresh, {} stale, {} unknown",
                          result.run.proofs.size(), count(result, Verdict::fresh),
                          count(result, Verdict::stale), count(result, Verdict::unknown));
}

std::string json_of(const app::TestResult& result) {
  Json refusals = Json::array();
  for (const auto& refusal : result.refusals)
    refusals.push_back({{"kind", name_of(refusal.kind)}, {"what", refusal.what}, {"remedy", refusal.remedy}});
  Json loaded = Json::array();
  for (const auto& proof : result.run.proofs) {
    Json doubts = Json::array();
    if (!proof.doubt.empty()) doubts.push_back(proof.doubt);
    for (const auto index : chain_to_cause(result.steps, proof)) {
      const auto& step = result.steps[index];
      for (const auto& doubt : step.doubts) doubts.push_back(doubt);
      if (step.doubts.empty() && proof.verdict == Verdict::unknown && !step.is_recorded)
        doubts.push_back(std::string(doubt_of(step)));
    }
    loaded.push_back(
        {{"artifact", proof.artifact}, {"verdict", name_of(proof.verdict)}, {"doubts", std::move(doubts)}});
  }
  Json tests = nullptr;
  if (const auto counts = prove::counted(result.run))
    tests = {{"passed", counts->passed}, {"failed", counts->failed}, {"skipped", counts->skipped}};
  return line_of(Json{{"exit_code", result.exit_code},
                      {"tests", std::move(tests)},
                      {"loaded", std::move(loaded)},
                      {"refusals", std::move(refusals)},
                      {"warnings", result.warnings}});
}

}  // namespace

int test_verb(const Parsed& parsed, const app::Session& session) {
  app::TestRequest request;
  request.argv.assign(parsed.operands.begin(), parsed.operands.end());
  request.covers = parsed.values("--covers");
  request.must_load = parsed.values("--must-load");
  if (parsed.has("--min-tests")) {
    const auto text = parsed.value("--min-tests");
    const auto* end = text.data() + text.size();
    const auto number = std::from_chars(text.data(), end, request.min_tests);
    if (number.ec != std::errc() || number.ptr != end) {
      complain(formatted("--min-tests wants a number, not `{}`", text));
      return kUsage;
    }
  }
  const auto result = app::test(session, request);
  if (!result.has_value()) {
    complain(result.error().message());
    return run_exit_code_of(result.error().kind);
  }
  const int exit_code = result->exit_code != 0     ? result->exit_code
                        : result->refusals.empty() ? kOk
                                                   : kNegative;
  if (parsed.has("--json")) {
    write_to_stderr(json_of(*result));
    return exit_code;
  }
  for (const auto& warning : result->warnings) complain(warning);
  for (const auto& proof : result->run.proofs) {
    if (proof.verdict != Verdict::unknown) continue;
    const auto chain = chain_to_cause(result->steps, proof);
    complain(
        formatted("{} is unknown: {}", path::relative_below(proof.artifact, session.cwd),
                  chain.empty() ? std::string_view(proof.doubt) : doubt_of(result->steps[chain.back()])));
  }
  complain(summary(*result));
  for (const auto& refusal : result->refusals)
    complain(formatted("REFUSED: {} ({})", refusal.what, refusal.remedy));
  return exit_code;
}

}  // namespace hallmark::cli
