#include "prove/proof.h"

#include <algorithm>

namespace hallmark::prove {
namespace {

bool is_cause(const Step& step, Verdict verdict) {
  return verdict == Verdict::stale ? !step.differences.empty() : !step.doubts.empty();
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

std::vector<std::size_t> chain_to_cause(const Steps& steps, const Proof& proof) {
  std::vector<std::size_t> chain;
  if (!proof.step || proof.verdict == Verdict::fresh) return chain;
  chain.push_back(*proof.step);
  while (!is_cause(steps[chain.back()], proof.verdict)) {
    const auto& inputs = steps[chain.back()].inputs;
    const auto next = std::find_if(inputs.begin(), inputs.end(), [&](const Input& input) {
      return input.step && steps[*input.step].verdict == proof.verdict;
    });
    if (next == inputs.end()) break;
    chain.push_back(*next->step);
  }
  return chain;
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
