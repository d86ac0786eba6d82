#include "prove/proof.h"

#include <algorithm>

#include "base/path.h"

namespace hallmark::prove {
namespace {

/// Extends `chain`, whose last step is given, to the nearest step in depth of which `is_cause` holds. False,
/// and the chain as it was, if there is none.
template <class IsCause>
bool extend_to_cause(const Steps& steps, Verdict verdict, const IsCause& is_cause, std::vector<bool>& seen,
                     std::vector<std::size_t>& chain) {
  const auto& step = steps[chain.back()];
  if (is_cause(step)) return true;
  for (const auto& input : step.inputs) {
    if (!input.step || steps[*input.step].verdict != verdict || seen[*input.step]) continue;
    seen[*input.step] = true;
    chain.push_back(*input.step);
    if (extend_to_cause(steps, verdict, is_cause, seen, chain)) return true;
    chain.pop_back();
  }
  return false;
}

}  // namespace

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::fresh:
      return "FRESH";
    case Verdict::stale:
      return "STALE";
    case Verdict::unknown:
      return "UNKNOWN";
  }
  return "UNKNOWN";
}

std::string_view name_of(Basis basis) {
  switch (basis) {
    case Basis::record:
      return "record";
    case Basis::stamp:
      return "stamp";
    case Basis::attestation:
      return "attestation";
  }
  return "record";
}

std::vector<std::size_t> chain_to_cause(const Steps& steps, const Proof& proof) {
  std::vector<std::size_t> chain;
  if (!proof.step || proof.verdict == Verdict::fresh) return chain;
  chain.push_back(*proof.step);
  const auto extend = [&](const auto& is_cause) {
    std::vector<bool> seen(steps.size(), false);
    return extend_to_cause(steps, proof.verdict, is_cause, seen, chain);
  };
  if (proof.verdict == Verdict::stale) {
    extend([](const Step& step) { return !step.differences.empty(); });
  } else if (!extend([](const Step& step) { return !step.doubts.empty(); })) {
    extend([](const Step& step) { return !step.is_recorded; });
  }
  return chain;
}

std::string_view doubt_of(const Step& step) {
  if (!step.doubts.empty()) return step.doubts.front();
  return step.is_recorded ? std::string_view()
                          : "nobody recorded it; Ninja's graph and logs, #include lines and the times of "
                            "files show nothing "
                            "newer, which is weaker than a record (--weak accepts it; hallmark run records)";
}

bool would_run_again(const Steps& steps, std::size_t index) {
  const auto& step = steps[index];
  if (step.verdict != Verdict::stale) return false;
  return step.is_recorded || !step.differences.empty() ||
         std::any_of(step.inputs.begin(), step.inputs.end(), [&](const Input& input) {
           return input.step && steps[*input.step].verdict == Verdict::stale &&
                  !is_shared_library(input.path);
         });
}

bool derives_from(const Steps& steps, const Proof& proof, const std::string& file) {
  for (const auto index : steps_of(steps, proof)) {
    const auto& inputs = steps[index].inputs;
    if (std::any_of(inputs.begin(), inputs.end(), [&](const Input& input) { return input.path == file; }))
      return true;
  }
  return false;
}

bool is_shared_library(std::string_view path) {
  const auto name = path::base_name(path);
  return name.ends_with(".so") || name.find(".so.") != std::string_view::npos;
}

void append(Steps& all, Steps steps) {
  const auto offset = all.size();
  for (auto& step : steps) {
    for (auto& input : step.inputs) {
      if (input.step) *input.step += offset;
    }
    all.push_back(std::move(step));
  }
}

std::vector<std::size_t> steps_of(const Steps& steps, const Proof& proof) {
  std::vector<std::size_t> found;
  if (!proof.step) return found;
  std::vector<bool> seen(steps.size(), false);
  found.push_back(*proof.step);
  seen[*proof.step] = true;
  for (std::size_t at = 0; at < found.size(); ++at) {
    for (const auto& input : steps[found[at]].inputs) {
      if (!input.step || seen[*input.step]) continue;
      seen[*input.step] = true;
      found.push_back(*input.step);
    }
  }
  return found;
}

}  // namespace hallmark::prove
