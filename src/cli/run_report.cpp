#include "cli/run_report.h"

#include "base/format.h"
#include "cli/json.h"

namespace hallmark::cli {
namespace {

std::string headline(const engine::RunResult& result) {
  const std::string wall = duration_text(result.wall_ns);
  const std::string used = formatted("{} inputs, {} outputs", result.inputs, result.outputs);
  switch (result.outcome) {
    case engine::Outcome::replayed:
      return formatted("replayed in {} ({})", wall, used);
    case engine::Outcome::published:
      return formatted("executed in {} and recorded ({}; observed by {})", wall, used,
                       model::name_of(result.tier));
    case engine::Outcome::unproven:
      return formatted("executed in {}, not recorded ({}; observed by {})", wall, used,
                       model::name_of(result.tier));
    case engine::Outcome::failed:
      return formatted("failed in {} with exit code {}, not recorded", wall, result.exit_code);
    case engine::Outcome::uncacheable:
      return formatted("executed in {}, never looked up", wall);
  }
  return {};
}

}  // namespace

std::string explain(const engine::RunResult& result) {
  std::string text = "hallmark: " + headline(result) + "\n";
  for (const model::Reason& reason : result.reasons) text += "hallmark:   " + model::sentence(reason) + "\n";
  return text;
}

std::string to_json(const engine::RunResult& result) {
  Json reasons = Json::array();
  for (const model::Reason& reason : result.reasons) reasons.push_back(to_json(reason));
  return line_of({{"outcome", engine::name_of(result.outcome)},
                  {"exit_code", result.exit_code},
                  {"reasons", std::move(reasons)},
                  {"warnings", result.warnings},
                  {"weak_key", result.weak_key.hex()},
                  {"strong_key", result.strong_key ? Json(result.strong_key->hex()) : Json()},
                  {"inputs", result.inputs},
                  {"outputs", result.outputs},
                  {"wall_ns", result.wall_ns},
                  {"tier", model::name_of(result.tier)}});
}

std::string duration_text(std::int64_t duration_ns) {
  const double seconds = static_cast<double>(duration_ns) / 1e9;
  if (seconds < 0.0995) return formatted("{:.1f} ms", seconds * 1e3);
  if (seconds < 0.9995) return formatted("{:.0f} ms", seconds * 1e3);
  if (seconds < 99.5) return formatted("{:.1f} s", seconds);
  const auto whole = static_cast<std::int64_t>(seconds + 0.5);
  return formatted("{} min {} s", whole / 60, whole % 60);
}

}  // namespace hallmark::cli
