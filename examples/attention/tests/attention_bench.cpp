// How fast it is: TFLOP/s of forward and backward for a few shapes, the median of several runs each.
//
// Counted are the products that the algorithm must do: 4 B H Sq Sk D forward, 10 backward (5 products; a kernel that
// computes scores twice does more and is credited with these), half of them if causal. Random data.
//
// usage: attention_bench cpu|cuda|hip [DTYPE [RUNS [THREADS]]]
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <random>
#include <string>

#include "attention/attention.h"
#include "memory.h"
#include "numbers.h"

namespace attention_test {
namespace {

struct Shape {
  int batch, heads, heads_kv, seqlen, head_dim;
  bool causal;
};

constexpr Shape kDeviceShapes[] = {
    {8, 16, 16, 2048, 128, false}, {8, 16, 16, 2048, 128, true},   {2, 16, 16, 8192, 128, false},
    {2, 16, 16, 8192, 128, true},  {2, 32, 8, 8192, 128, true},    {8, 32, 32, 2048, 64, false},
    {8, 32, 32, 2048, 64, true},   {1, 32, 32, 16384, 64, true},
};
constexpr Shape kHostShapes[] = {{1, 8, 8, 1024, 64, false}, {1, 8, 8, 1024, 128, false}, {1, 8, 2, 1024, 128, true}};

/// Calls `work` between two moments of the device's (or this machine's) clock; milliseconds.
template <class Work>
double milliseconds_of(attention_backend backend, const Work& work) {
#ifdef ATTENTION_RUNTIME
  if (backend != ATTENTION_CPU) {
    ATTENTION_RUNTIME(Event_t) begin, end;
    static_cast<void>(ATTENTION_RUNTIME(EventCreate)(&begin));
    static_cast<void>(ATTENTION_RUNTIME(EventCreate)(&end));
    static_cast<void>(ATTENTION_RUNTIME(EventRecord)(begin, nullptr));
    work();
    static_cast<void>(ATTENTION_RUNTIME(EventRecord)(end, nullptr));
    float milliseconds = 0;
    static_cast<void>(ATTENTION_RUNTIME(EventSynchronize)(end));
    if (ATTENTION_RUNTIME(EventElapsedTime)(&milliseconds, begin, end) != ATTENTION_RUNTIME(Success))
      throw std::runtime_error("the device failed while it was timed");
    static_cast<void>(ATTENTION_RUNTIME(EventDestroy)(begin));
    static_cast<void>(ATTENTION_RUNTIME(EventDestroy)(end));
    return milliseconds;
  }
#endif
  static_cast<void>(backend);
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

template <class Work>
double median_of(attention_backend backend, int runs, const Work& work) {
  for (int i = 0; i < std::max(1, runs / 5); ++i) work();
  std::vector<double> times;
  for (int i = 0; i < runs; ++i) times.push_back(milliseconds_of(backend, work));
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  return times[times.size() / 2];
}

void check(attention_status status) {
  if (status != ATTENTION_OK) throw std::runtime_error(attention_last_error());
}

std::vector<std::uint8_t> random_bytes(attention_dtype dtype, std::size_t count) {
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  std::vector<double> period(std::min<std::size_t>(count, 65521));  // a prime: no two rows are alike
  for (double& value : period) value = rounded(dtype, normal(random));
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = period[i % period.size()];
  return encoded(dtype, values);
}

void bench(attention_backend backend, attention_dtype dtype, const Shape& shape, int runs, int threads) {
  const attention_problem p = {dtype,        shape.batch,    shape.heads,          shape.heads_kv, shape.seqlen,
                               shape.seqlen, shape.head_dim, shape.causal ? 1 : 0, 0};
  const std::size_t queries = std::size_t(p.batch) * p.seqlen_q * p.heads * p.head_dim;
  const std::size_t keys = std::size_t(p.batch) * p.seqlen_k * p.heads_kv * p.head_dim;
  const Buffer q(backend, random_bytes(dtype, queries));
  const Buffer k(backend, random_bytes(dtype, keys));
  const Buffer v(backend, random_bytes(dtype, keys));
  const Buffer d_o(backend, random_bytes(dtype, queries));
  const Buffer o(backend, q.bytes());
  const Buffer lse(backend, queries / p.head_dim * sizeof(float));
  const Buffer dq(backend, q.bytes());
  const Buffer dk(backend, k.bytes());
  const Buffer dv(backend, k.bytes());

  attention_execution e{};
  e.backend = backend;
  e.threads = threads;
  const double work = 4.0 * p.batch * p.heads * p.seqlen_q * double(p.seqlen_k) * p.head_dim / (shape.causal ? 2 : 1);
  const double forward = median_of(backend, runs, [&] {
    check(attention_forward(&p, q.data(), k.data(), v.data(), o.data(), lse.floats(), &e));
  });
  std::printf("B %d H %d/%d S %5d D %3d %-8s forward %8.3f ms %7.2f TFLOP/s", p.batch, p.heads, p.heads_kv,
              p.seqlen_q, p.head_dim, shape.causal ? "causal" : "", forward, work / forward * 1e-9);
  for (const int deterministic : {0, 1}) {
    e.deterministic = deterministic;
    std::size_t bytes = 0;
    check(attention_workspace_bytes(&p, &e, ATTENTION_BACKWARD, &bytes));
    const Buffer workspace(backend, bytes);
    e.workspace = workspace.data();
    e.workspace_bytes = bytes;
    const double backward = median_of(backend, runs, [&] {
      check(attention_backward(&p, q.data(), k.data(), v.data(), o.data(), lse.floats(), d_o.data(), dq.data(),
                               dk.data(), dv.data(), &e));
    });
    std::printf("; backward %s%8.3f ms %7.2f", deterministic != 0 ? "deterministic " : "", backward,
                2.5 * work / backward * 1e-9);
    if (backend == ATTENTION_CPU) break;  // always deterministic
  }
  std::printf("\n");
  std::fflush(stdout);
}

int run(const std::vector<std::string>& words) {
  const std::string name = words.empty() ? "cpu" : words[0];
  const auto backend = name == "cuda" ? ATTENTION_CUDA : name == "hip" ? ATTENTION_HIP : ATTENTION_CPU;
  if (!has_memory_of(backend)) {
    std::printf("this program was built without %s\n", name.c_str());
    return 1;
  }
  const std::string number = words.size() > 1 ? words[1] : "bf16";
  const auto dtype = number == "f32" ? ATTENTION_F32 : number == "f16" ? ATTENTION_F16 : ATTENTION_BF16;
  const int runs = words.size() > 2 ? std::atoi(words[2].c_str()) : 20;
  const int threads = words.size() > 3 ? std::atoi(words[3].c_str()) : 0;
  std::printf("%s %s, median of %d\n", name.c_str(), number.c_str(), runs);
  if (backend == ATTENTION_CPU) {
    for (const auto& shape : kHostShapes) bench(backend, dtype, shape, runs, threads);
  } else {
    for (const auto& shape : kDeviceShapes) bench(backend, dtype, shape, runs, threads);
  }
  return 0;
}

}  // namespace
}  // namespace attention_test

int main(int argc, char** argv) {
  try {
    return attention_test::run({argv + 1, argv + argc});
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "attention_bench: %s\n", problem.what());
    return 1;
  }
}
