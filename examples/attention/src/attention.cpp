// The public functions: check the problem, choose a kernel among those that were built, run it, say what failed.
#include "hallmark/attention_namespace.h"
#define ATTENTION_NAMESPACE HALLMARK_NAMESPACE
#include "attention/attention.h"

#include <climits>
#include <cmath>
#include <string>
#include <string_view>

#include "../kernels/arguments.h"
#include "archs.h"
#include "parallel.h"
#include "variants.h"

namespace {

using attention_kernels::Arguments;
using attention_kernels::DeviceFacts;
using attention_kernels::Failure;
using attention_library::built_variants;
using attention_library::Variant;

constexpr std::string_view kToolchains[] = {"cpu", "cuda", "hip"};  // by attention_backend
constexpr std::string_view kDtypes[] = {"f32", "f16", "bf16"};      // by attention_dtype
constexpr int kMostBlocks = 65535;                                  // of a grid, in y and z

thread_local std::string last_error;

attention_status failed(attention_status status, std::string message) {
  last_error = std::move(message);
  return status;
}

std::string words_of(const Variant& variant) {
  std::string text(variant.kernel);
  for (const auto& word : {variant.toolchain, variant.arch, variant.dtype, variant.head_dim,
                           std::string_view(variant.causal == "true" ? "causal" : "_"),
                           std::string_view(variant.deterministic == "true" ? "deterministic" : "_")}) {
    if (word != "_") text.append(" ").append(word);
  }
  return text;
}

std::string number(long long value) { return std::to_string(value); }

/// What is wrong with a problem, "" if nothing is.
std::string wrong_with(const attention_problem& p, const attention_execution& e) {
  if (p.dtype < ATTENTION_F32 || p.dtype > ATTENTION_BF16) return "dtype is " + number(p.dtype) + ", no attention_dtype";
  if (e.backend < ATTENTION_CPU || e.backend > ATTENTION_HIP)
    return "backend is " + number(e.backend) + ", no attention_backend";
  struct Size {
    const char* name;
    int value;
  };
  for (const auto& [name, value] : {Size{"batch", p.batch}, Size{"heads", p.heads}, Size{"heads_kv", p.heads_kv},
                                    Size{"seqlen_q", p.seqlen_q}, Size{"seqlen_k", p.seqlen_k}})
    if (value < 1) return std::string(name) + " is " + number(value) + "; it is at least 1";
  if (p.head_dim != 64 && p.head_dim != 128) return "head_dim is " + number(p.head_dim) + "; it is 64 or 128";
  if (p.heads % p.heads_kv != 0)
    return "heads is " + number(p.heads) + ", no multiple of heads_kv, " + number(p.heads_kv);
  if (!(p.scale >= 0) || std::isinf(p.scale)) return "scale is not finite and >= 0; 0 means 1 / sqrt(head_dim)";
  // The kernels count queries and keys, a tile beyond the end included, in int.
  if (p.seqlen_q > INT_MAX / 2 || p.seqlen_k > INT_MAX / 2) return "a sequence is longer than 2^30 - 1";
  if (e.backend != ATTENTION_CPU && (p.batch > kMostBlocks || p.heads > kMostBlocks))
    return "batch is " + number(p.batch) + " and heads " + number(p.heads) + "; on a GPU each is at most " +
           number(kMostBlocks);
  if (e.threads < 0) return "threads is " + number(e.threads) + "; 0 means one for each core";
  return "";
}

Arguments arguments_of(const attention_problem& p, const attention_execution& e) {
  Arguments a{};
  a.batch = p.batch;
  a.heads = p.heads;
  a.heads_kv = p.heads_kv;
  a.seqlen_q = p.seqlen_q;
  a.seqlen_k = p.seqlen_k;
  a.head_dim = p.head_dim;
  a.causal = p.causal != 0;
  a.scale = p.scale > 0 ? p.scale : 1 / std::sqrt(static_cast<float>(p.head_dim));
  a.workspace = e.workspace;
  a.stream = e.stream;
  a.threads = e.threads;
  a.parallel_for = attention_library::parallel_for;
  return a;
}

/// As attention_workspace_bytes(), of a problem that is right.
std::size_t workspace_of(const attention_problem& p, const attention_execution& e, attention_direction direction) {
  if (direction == ATTENTION_FORWARD) return 0;
  const auto a = arguments_of(p, e);
  const bool sums_by_atomics = e.backend != ATTENTION_CPU && e.deterministic == 0;
  return a.delta_bytes() + (sums_by_atomics ? a.dq_sum_bytes() : 0);
}

/// An axis that a kernel does not have restricts nothing.
bool matches(std::string_view has, std::string_view wanted) { return has == "_" || has == wanted; }

std::string text_of(const attention_problem& p, const attention_execution& e, attention_direction direction) {
  std::string text = direction == ATTENTION_FORWARD ? "forward " : "backward ";
  text.append(kToolchains[e.backend]).append(" ").append(kDtypes[p.dtype]).append(" ").append(number(p.head_dim));
  if (p.causal != 0) text += " causal";
  if (direction == ATTENTION_BACKWARD && e.deterministic != 0) text += " deterministic";
  if (e.arch != nullptr) text.append(" of arch ").append(e.arch);
  return text;
}

/// The device that calls of this thread go to.
attention_status find_device(attention_backend backend, DeviceFacts& facts) {
  if (backend == ATTENTION_CPU) return ATTENTION_OK;
  const std::string wanted = "device_" + std::string(kToolchains[backend]);
  for (const auto& variant : built_variants()) {
    if (variant.kernel != wanted) continue;
    Arguments a{};
    a.device = &facts;
    const auto outcome = variant.run(a);
    if (outcome.failure == Failure::none) return ATTENTION_OK;
    return failed(ATTENTION_NO_DEVICE, "no device of " + std::string(kToolchains[backend]) + ": " + outcome.detail +
                                           "; use another backend");
  }
  return failed(ATTENTION_NOT_BUILT, "this library was built without " + std::string(kToolchains[backend]) +
                                         "; build it with a profile that has this toolchain");
}

int fitness(attention_backend backend, std::string_view arch, const DeviceFacts& device) {
  if (backend == ATTENTION_CPU) return attention_library::cpu_fitness(arch);
  return backend == ATTENTION_CUDA ? attention_library::cuda_fitness(arch, device)
                                   : attention_library::hip_fitness(arch, device);
}

attention_status choose(const attention_problem& p, const attention_execution& e, attention_direction direction,
                        const Variant*& chosen) {
  DeviceFacts device;
  if (const auto status = find_device(e.backend, device); status != ATTENTION_OK) return status;
  const std::string_view prefix = direction == ATTENTION_FORWARD ? "forward_" : "backward_";
  const std::string head_dim = number(p.head_dim);
  int best = -1;
  std::string others;  // that fit in all but the machine
  std::string there;   // of this direction and backend
  for (const auto& variant : built_variants()) {
    if (variant.kernel.substr(0, prefix.size()) != prefix || variant.toolchain != kToolchains[e.backend]) continue;
    there += (there.empty() ? "" : ", ") + words_of(variant);
    const bool fits = matches(variant.dtype, kDtypes[p.dtype]) && matches(variant.head_dim, head_dim) &&
                      matches(variant.causal, p.causal != 0 ? "true" : "false") &&
                      matches(variant.deterministic, e.deterministic != 0 ? "true" : "false") &&
                      (e.arch == nullptr || variant.arch == e.arch);
    if (!fits) continue;
    others += (others.empty() ? "" : ", ") + std::string(variant.arch);
    const int fit = fitness(e.backend, variant.arch, device);
    if (fit > best) best = fit, chosen = &variant;
  }
  if (best >= 0) return ATTENTION_OK;
  const auto wanted = text_of(p, e, direction);
  if (!others.empty())
    return failed(ATTENTION_NO_DEVICE, wanted + " is built for " + others + ", which do not run on this " +
                                           (e.backend == ATTENTION_CPU ? "processor" : device.arch) +
                                           "; build it for this machine's arch");
  return failed(ATTENTION_NOT_BUILT, wanted + " is not built; there is " + (there.empty() ? "none" : there) +
                                         "; add its values to the axes or archs of the build");
}

attention_status run(const Variant& variant, const Arguments& a) {
  const auto outcome = variant.run(a);
  const auto detail = std::string(outcome.detail == nullptr ? "" : outcome.detail);
  switch (outcome.failure) {
    case Failure::none: return ATTENTION_OK;
    case Failure::no_device: return failed(ATTENTION_NO_DEVICE, words_of(variant) + ": " + detail);
    case Failure::shared_memory:
      return failed(ATTENTION_SHARED_MEMORY, words_of(variant) + " wants " + number(outcome.needed) +
                                                 " bytes of shared memory in a block; this device allows " +
                                                 number(outcome.available) + "; use f32 or another head_dim");
    case Failure::device: break;
  }
  return failed(ATTENTION_DEVICE_ERROR, words_of(variant) + ": " + detail);
}

attention_status check(const attention_problem* p, const attention_execution* e, attention_direction direction) {
  if (p == nullptr || e == nullptr) return failed(ATTENTION_INVALID_ARGUMENT, "problem or execution is null");
  if (direction != ATTENTION_FORWARD && direction != ATTENTION_BACKWARD)
    return failed(ATTENTION_INVALID_ARGUMENT, "direction is " + number(direction) + ", no attention_direction");
  const auto wrong = wrong_with(*p, *e);
  return wrong.empty() ? ATTENTION_OK : failed(ATTENTION_INVALID_ARGUMENT, wrong);
}

struct NamedPointer {
  const char* name;
  const void* pointer;
};

attention_status check_pointers(std::initializer_list<NamedPointer> pointers) {
  for (const auto& [name, pointer] : pointers) {
    if (pointer == nullptr) return failed(ATTENTION_INVALID_ARGUMENT, std::string(name) + " is null");
    if (reinterpret_cast<std::uintptr_t>(pointer) % 16 != 0)
      return failed(ATTENTION_INVALID_ARGUMENT, std::string(name) + " is not aligned to 16 bytes");
  }
  return ATTENTION_OK;
}

attention_status check_workspace(const attention_problem& p, const attention_execution& e,
                                 attention_direction direction) {
  const auto needed = workspace_of(p, e, direction);
  if (needed == 0) return ATTENTION_OK;
  if (e.workspace == nullptr || e.workspace_bytes < needed)
    return failed(ATTENTION_WORKSPACE_TOO_SMALL,
                  "workspace has " + number(static_cast<long long>(e.workspace == nullptr ? 0 : e.workspace_bytes)) +
                      " bytes; " + number(static_cast<long long>(needed)) +
                      " are needed (attention_workspace_bytes)");
  if (reinterpret_cast<std::uintptr_t>(e.workspace) % Arguments::kAlignment != 0)
    return failed(ATTENTION_INVALID_ARGUMENT, "workspace is not aligned to 256 bytes");
  return ATTENTION_OK;
}

/// Everything but the pointers, checked, and the kernel chosen.
attention_status prepare(const attention_problem* p, const attention_execution* e, attention_direction direction,
                         const Variant*& variant) {
  if (const auto status = check(p, e, direction); status != ATTENTION_OK) return status;
  if (const auto status = check_workspace(*p, *e, direction); status != ATTENTION_OK) return status;
  return choose(*p, *e, direction, variant);
}

}  // namespace

extern "C" {

attention_status attention_workspace_bytes(const attention_problem* problem, const attention_execution* execution,
                                           attention_direction direction, size_t* bytes) {
  if (const auto status = check(problem, execution, direction); status != ATTENTION_OK) return status;
  if (bytes == nullptr) return failed(ATTENTION_INVALID_ARGUMENT, "bytes is null");
  *bytes = workspace_of(*problem, *execution, direction);
  return ATTENTION_OK;
}

attention_status attention_supports(const attention_problem* problem, const attention_execution* execution,
                                    attention_direction direction) {
  if (const auto status = check(problem, execution, direction); status != ATTENTION_OK) return status;
  const Variant* variant = nullptr;
  return choose(*problem, *execution, direction, variant);
}

attention_status attention_forward(const attention_problem* problem, const void* q, const void* k, const void* v,
                                   void* o, float* lse, const attention_execution* execution) {
  const Variant* variant = nullptr;
  if (const auto status = prepare(problem, execution, ATTENTION_FORWARD, variant); status != ATTENTION_OK)
    return status;
  if (const auto status = check_pointers({{"q", q}, {"k", k}, {"v", v}, {"o", o}, {"lse", lse}});
      status != ATTENTION_OK)
    return status;
  auto a = arguments_of(*problem, *execution);
  a.q = q;
  a.k = k;
  a.v = v;
  a.o = o;
  a.lse = lse;
  return run(*variant, a);
}

attention_status attention_backward(const attention_problem* problem, const void* q, const void* k, const void* v,
                                    const void* o, const float* lse, const void* d_o, void* dq, void* dk, void* dv,
                                    const attention_execution* execution) {
  const Variant* variant = nullptr;
  if (const auto status = prepare(problem, execution, ATTENTION_BACKWARD, variant); status != ATTENTION_OK)
    return status;
  if (const auto status = check_pointers({{"q", q},
                                          {"k", k},
                                          {"v", v},
                                          {"o", o},
                                          {"lse", lse},
                                          {"d_o", d_o},
                                          {"dq", dq},
                                          {"dk", dk},
                                          {"dv", dv}});
      status != ATTENTION_OK)
    return status;
  auto a = arguments_of(*problem, *execution);
  a.q = q;
  a.k = k;
  a.v = v;
  a.o = const_cast<void*>(o);
  a.lse = const_cast<float*>(lse);
  a.d_o = d_o;
  a.dq = dq;
  a.dk = dk;
  a.dv = dv;
  return run(*variant, a);
}

const char* attention_last_error(void) { return last_error.c_str(); }

const char* attention_variants(void) {
  static const std::string text = [] {
    std::string lines;
    for (const auto& variant : built_variants()) lines += words_of(variant) + "\n";
    return lines;
  }();
  return text.c_str();
}

const char* attention_bf16_rounding(void) {
  return attention_kernels::kBf16Rounding == attention_kernels::Bf16Rounding::rne ? "rne" : "truncate";
}

}  // extern "C"

namespace HALLMARK_NAMESPACE {

Status workspace_bytes(const Problem& problem, const Execution& execution, Direction direction, size_t& bytes) {
  return attention_workspace_bytes(&problem, &execution, direction, &bytes);
}

Status supports(const Problem& problem, const Execution& execution, Direction direction) {
  return attention_supports(&problem, &execution, direction);
}

Status forward(const Problem& problem, const void* q, const void* k, const void* v, void* o, float* lse,
               const Execution& execution) {
  return attention_forward(&problem, q, k, v, o, lse, &execution);
}

Status backward(const Problem& problem, const void* q, const void* k, const void* v, const void* o,
                const float* lse, const void* d_o, void* dq, void* dk, void* dv, const Execution& execution) {
  return attention_backward(&problem, q, k, v, o, lse, d_o, dq, dk, dv, &execution);
}

}  // namespace HALLMARK_NAMESPACE
