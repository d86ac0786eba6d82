// Every kernel of the library for which there is a device, against float64. Exit code 0: all that ran was right.
// What did not run, and why, is listed at the end.
//
// usage: attention_test [WORD...]     only configurations whose line holds all words: cuda bf16 128
#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <string>

#include "attention/attention.h"
#include "memory.h"
#include "numbers.h"
#include "reference.h"

namespace attention_test {
namespace {

struct Shape {
  int batch, heads, heads_kv, seqlen_q, seqlen_k;
  bool causal;
  float scale;
};

// Lengths around the tiles of the kernels (16, 32, 64, 128) and far from them; MHA, GQA, MQA; queries that see no
// key (seqlen_q > seqlen_k, causal); scores large enough that a softmax without its maximum would overflow.
constexpr Shape kShapes[] = {
    {1, 1, 1, 1, 1, false, 0},     {2, 2, 2, 64, 64, true, 0},    {1, 4, 2, 128, 192, false, 0},
    {2, 2, 1, 113, 203, true, 0},  {1, 4, 1, 203, 113, true, 0},  {1, 3, 3, 129, 257, false, 0},
    {2, 2, 2, 1, 300, true, 0},    {1, 6, 2, 300, 65, true, 0},   {1, 2, 1, 65, 1, false, 0},
    {1, 2, 2, 200, 200, true, 4},  {1, 2, 2, 127, 130, false, 1},
};

struct Target {
  attention_backend backend;
  std::string arch;
  bool deterministic;
};

struct Tally {
  int ran = 0;
  int failures = 0;
  std::map<std::string, int> skipped;
  std::map<std::string, double> worst;  ///< dtype and tensor: largest error as a part of its bound

  void fail(const std::string& line, const std::string& what) {
    ++failures;
    std::printf("FAILED %s: %s\n", line.c_str(), what.c_str());
  }
};

const char* const kBackends[] = {"cpu", "cuda", "hip"};
const char* const kDtypes[] = {"f32", "f16", "bf16"};

std::string line_of(const Target& target, const attention_problem& p) {
  std::ostringstream line;
  line << kBackends[target.backend] << " " << target.arch << " " << kDtypes[p.dtype] << " " << p.head_dim
       << (p.causal != 0 ? " causal" : "") << (target.deterministic ? " deterministic" : "") << " batch " << p.batch
       << " heads " << p.heads << "/" << p.heads_kv << " lengths " << p.seqlen_q << "/" << p.seqlen_k << " scale "
       << p.scale;
  return line.str();
}

Inputs inputs_of(const attention_problem& p, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  const auto fill = [&](std::size_t count) {
    std::vector<double> values(count);
    for (double& value : values) value = rounded(p.dtype, normal(random));
    return values;
  };
  const std::size_t queries = std::size_t(p.batch) * p.seqlen_q * p.heads * p.head_dim;
  const std::size_t keys = std::size_t(p.batch) * p.seqlen_k * p.heads_kv * p.head_dim;
  Inputs inputs;
  inputs.q = fill(queries);
  inputs.k = fill(keys);
  inputs.v = fill(keys);
  inputs.d_o = fill(queries);
  return inputs;
}

/// Of one run: bytes of each output.
using Outputs = std::map<std::string, std::vector<std::uint8_t>>;

class Runner {
 public:
  Runner(const attention_problem& problem, const Target& target, const Inputs& inputs, const Reference& reference)
      : p_(problem), target_(target), inputs_(inputs), reference_(reference) {
    execution_.backend = target.backend;
    execution_.arch = target.arch.c_str();
    execution_.deterministic = target.deterministic ? 1 : 0;
  }

  Outputs run(int threads) {
    execution_.threads = threads;
    Buffer q = holding(inputs_.q);
    Buffer k = holding(inputs_.k);
    Buffer v = holding(inputs_.v);
    Buffer o(target_.backend, q.bytes());
    Buffer lse(target_.backend, reference_.lse.value.size() * sizeof(float));
    check(attention_forward(&p_, q.data(), k.data(), v.data(), o.data(), lse.floats(), &execution_));
    Outputs outputs = {{"o", o.read()}, {"lse", lse.read()}};

    // Backward gets the right O and LSE, rounded once, so that what is measured is its own error.
    std::vector<double> o_rounded = reference_.o.value;
    for (double& value : o_rounded) value = rounded(p_.dtype, value);
    o.write(encoded(p_.dtype, o_rounded));
    lse.write(encoded(ATTENTION_F32, reference_.lse.value));
    Buffer d_o = holding(inputs_.d_o);
    Buffer dq(target_.backend, q.bytes());
    Buffer dk(target_.backend, k.bytes());
    Buffer dv(target_.backend, v.bytes());
    std::size_t bytes = 0;
    check(attention_workspace_bytes(&p_, &execution_, ATTENTION_BACKWARD, &bytes));
    Buffer workspace(target_.backend, bytes);
    execution_.workspace = workspace.data();
    execution_.workspace_bytes = bytes;
    check(attention_backward(&p_, q.data(), k.data(), v.data(), o.data(), lse.floats(), d_o.data(), dq.data(),
                             dk.data(), dv.data(), &execution_));
    outputs["dq"] = dq.read();
    outputs["dk"] = dk.read();
    outputs["dv"] = dv.read();
    workspace.read();  // its guard
    return outputs;
  }

 private:
  Buffer holding(const std::vector<double>& values) const {
    const auto bytes = encoded(p_.dtype, values);
    return Buffer(target_.backend, bytes);
  }
  static void check(attention_status status) {
    if (status != ATTENTION_OK) throw std::runtime_error(attention_last_error());
  }

  attention_problem p_;
  Target target_;
  const Inputs& inputs_;
  const Reference& reference_;
  attention_execution execution_{};
};

/// Says where `got` is farther from `expected` than it may be, "" if nowhere.
std::string difference(const std::vector<double>& got, const Expected& expected, double& worst) {
  for (std::size_t i = 0; i < expected.value.size(); ++i) {
    const double wanted = expected.value[i];
    if (got[i] == wanted) continue;  // infinities among them
    const double error = std::abs(got[i] - wanted);
    if (!(error <= expected.bound[i])) {
      std::ostringstream text;
      text << "[" << i << "] is " << got[i] << ", right is " << wanted << " within " << expected.bound[i];
      return text.str();
    }
    worst = std::max(worst, error / expected.bound[i]);
  }
  return "";
}

void test_numbers(Tally& tally, const attention_problem& p, const Target& target, const Inputs& inputs,
                  const Reference& reference) {
  const auto line = line_of(target, p);
  try {
    Runner runner(p, target, inputs, reference);
    const auto outputs = runner.run(2);
    const std::map<std::string, const Expected*> expected = {{"o", &reference.o},
                                                             {"lse", &reference.lse},
                                                             {"dq", &reference.dq},
                                                             {"dk", &reference.dk},
                                                             {"dv", &reference.dv}};
    for (const auto& [name, wanted] : expected) {
      const auto got = decoded(name == "lse" ? ATTENTION_F32 : p.dtype, outputs.at(name));
      double& worst = tally.worst[std::string(kBackends[target.backend]) + " " + kDtypes[p.dtype] + " " + name];
      const auto wrong = difference(got, *wanted, worst);
      if (!wrong.empty()) tally.fail(line, name + wrong);
    }
    // The same bits again: also with another number of threads.
    if (target.deterministic || target.backend == ATTENTION_CPU) {
      const auto again = runner.run(target.backend == ATTENTION_CPU ? 1 : 0);
      for (const auto& [name, bytes] : outputs)
        if (again.at(name) != bytes) tally.fail(line, name + " has other bits the second time");
    }
    ++tally.ran;
  } catch (const std::exception& problem) {
    tally.fail(line, problem.what());
  }
}

/// Why a target cannot run a problem; "" if it can.
std::string reason_to_skip(const attention_problem& p, const Target& target) {
  attention_execution execution{};
  execution.backend = target.backend;
  execution.arch = target.arch.c_str();
  execution.deterministic = target.deterministic ? 1 : 0;
  for (const auto direction : {ATTENTION_FORWARD, ATTENTION_BACKWARD}) {
    const auto status = attention_supports(&p, &execution, direction);
    if (status == ATTENTION_OK) continue;
    const std::string where = std::string(kBackends[target.backend]) + " " + target.arch + ": ";
    if (status == ATTENTION_NO_DEVICE) return where + "no device for it";
    if (status == ATTENTION_NOT_BUILT)
      return where + kDtypes[p.dtype] + " " + std::to_string(p.head_dim) + (p.causal != 0 ? " causal" : " not causal") +
             " is not built";
    return where + attention_last_error();
  }
  return has_memory_of(target.backend) ? "" : std::string(kBackends[target.backend]) + ": this test was built without it";
}

std::vector<Target> built_targets() {
  std::set<std::pair<std::string, std::string>> seen;
  std::vector<Target> targets;
  std::istringstream lines(attention_variants());
  std::string line;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string kernel, toolchain, arch;
    words >> kernel >> toolchain >> arch;
    if (kernel.rfind("device_", 0) == 0 || !seen.emplace(toolchain, arch).second) continue;
    const auto backend = toolchain == "cpu" ? ATTENTION_CPU : toolchain == "cuda" ? ATTENTION_CUDA : ATTENTION_HIP;
    targets.push_back({backend, arch, false});
    if (backend != ATTENTION_CPU) targets.push_back({backend, arch, true});
  }
  return targets;
}

void test_all_numbers(Tally& tally, const std::vector<std::string>& words) {
  const auto targets = built_targets();
  const bool truncates = std::string(attention_bf16_rounding()) == "truncate";
  unsigned seed = 0;
  for (const auto& shape : kShapes) {
    for (const auto dtype : {ATTENTION_F32, ATTENTION_F16, ATTENTION_BF16}) {
      for (const int head_dim : {64, 128}) {
        const attention_problem p = {dtype,          shape.batch,    shape.heads, shape.heads_kv,       shape.seqlen_q,
                                     shape.seqlen_k, head_dim,       shape.causal ? 1 : 0, shape.scale};
        const auto inputs = inputs_of(p, ++seed);
        std::map<bool, Reference> references;  // with and without tensor cores
        for (const auto& target : targets) {
          const auto line = line_of(target, p) + " ";
          const bool is_wanted = std::all_of(words.begin(), words.end(), [&](const std::string& word) {
            return (" " + line).find(" " + word + " ") != std::string::npos;
          });
          if (!is_wanted) continue;
          if (const auto why = reason_to_skip(p, target); !why.empty()) {
            ++tally.skipped[why];
            continue;
          }
          const bool tensor_cores = target.backend == ATTENTION_CUDA && dtype != ATTENTION_F32;
          auto& reference = references[tensor_cores];
          if (reference.o.value.empty())
            reference = reference_of(p, inputs, precision_of(dtype, tensor_cores, truncates));
          test_numbers(tally, p, target, inputs, reference);
        }
      }
    }
  }
}

void expect(Tally& tally, const char* name, attention_status got, attention_status wanted, const char* word) {
  const std::string message = attention_last_error();
  ++tally.ran;
  if (got != wanted) tally.fail(name, "status " + std::to_string(got) + ", not " + std::to_string(wanted));
  if (message.find(word) == std::string::npos) tally.fail(name, "\"" + message + "\" does not name " + word);
}

void test_errors(Tally& tally) {
  const attention_problem right = {ATTENTION_F32, 1, 2, 1, 8, 8, 64, 0, 0};
  const attention_execution on_cpu{};
  alignas(256) static float memory[2 * 8 * 64];
  const auto forward_to = [](const attention_problem& p, const attention_execution& e, float* o) {
    return attention_forward(&p, memory, memory, memory, o, memory, &e);
  };
  const auto forward = [&](const attention_problem& p, const attention_execution& e) {
    return forward_to(p, e, memory);
  };
  auto p = right;
  p.heads_kv = 3;
  expect(tally, "heads", forward(p, on_cpu), ATTENTION_INVALID_ARGUMENT, "heads_kv, 3");
  p = right;
  p.head_dim = 80;
  expect(tally, "head_dim", forward(p, on_cpu), ATTENTION_INVALID_ARGUMENT, "64 or 128");
  p = right;
  p.seqlen_k = 0;
  expect(tally, "seqlen_k", forward(p, on_cpu), ATTENTION_INVALID_ARGUMENT, "seqlen_k is 0");
  p = right;
  p.scale = NAN;
  expect(tally, "scale", forward(p, on_cpu), ATTENTION_INVALID_ARGUMENT, "scale");
  auto e = on_cpu;
  e.backend = static_cast<attention_backend>(7);
  expect(tally, "backend", forward(right, e), ATTENTION_INVALID_ARGUMENT, "backend is 7");
  e = on_cpu;
  e.arch = "vax";
  expect(tally, "arch", forward(right, e), ATTENTION_NOT_BUILT, "there is forward_cpu cpu");
  expect(tally, "null", forward_to(right, on_cpu, nullptr), ATTENTION_INVALID_ARGUMENT, "o is null");
  expect(tally, "aligned", forward_to(right, on_cpu, memory + 1), ATTENTION_INVALID_ARGUMENT, "o is not aligned");
  expect(tally, "workspace",
         attention_backward(&right, memory, memory, memory, memory, memory, memory, memory, memory, memory, &on_cpu),
         ATTENTION_WORKSPACE_TOO_SMALL, "attention_workspace_bytes");
  expect(tally, "problem", attention_supports(nullptr, &on_cpu, ATTENTION_FORWARD), ATTENTION_INVALID_ARGUMENT,
         "null");
  e = on_cpu;
  e.backend = ATTENTION_HIP;
  if (std::string(attention_variants()).find(" hip ") == std::string::npos)
    expect(tally, "toolchain", forward(right, e), ATTENTION_NOT_BUILT, "without hip");
}

int run(const std::vector<std::string>& words) {
  Tally tally;
  if (words.empty()) test_errors(tally);
  test_all_numbers(tally, words);
  std::printf("largest error as a part of its bound:\n");
  for (const auto& [name, part] : tally.worst) std::printf("  %-16s %.3f\n", name.c_str(), part);
  for (const auto& [why, count] : tally.skipped) std::printf("skipped %4d: %s\n", count, why.c_str());
  std::printf("%d ran, %d failures\n", tally.ran, tally.failures);
  return tally.failures == 0 && tally.ran > 0 ? 0 : 1;
}

}  // namespace
}  // namespace attention_test

int main(int argc, char** argv) { return attention_test::run({argv + 1, argv + argc}); }
