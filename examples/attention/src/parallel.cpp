#include "parallel.h"

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>
#include <vector>

namespace attention_library {

void parallel_for(std::int64_t count, int threads, void (*body)(void*, std::int64_t), void* context) {
  std::atomic<std::int64_t> next{0};
  const auto work = [&] {
    for (auto index = next.fetch_add(1); index < count; index = next.fetch_add(1)) body(context, index);
  };
  const std::int64_t wanted = threads > 0 ? threads : std::max(1U, std::thread::hardware_concurrency());
  std::vector<std::thread> helpers;
  try {
    for (std::int64_t i = 1; i < std::min(wanted, count); ++i) helpers.emplace_back(work);
  } catch (const std::exception&) {
    // Fewer threads than wanted: the work is the same.
  }
  work();
  for (auto& helper : helpers) helper.join();
}

}  // namespace attention_library
