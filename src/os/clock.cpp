#include "os/clock.h"

#include <ctime>

namespace hallmark::os {
namespace {

std::int64_t read_clock(clockid_t id) {
  timespec t{};
  clock_gettime(id, &t);
  return static_cast<std::int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

class SystemClock final : public Clock {
 public:
  std::int64_t now_ns() override { return read_clock(CLOCK_REALTIME); }
  std::int64_t steady_ns() override { return read_clock(CLOCK_MONOTONIC); }
};

}  // namespace

Clock& system_clock() {
  static SystemClock clock;
  return clock;
}

}  // namespace hallmark::os
