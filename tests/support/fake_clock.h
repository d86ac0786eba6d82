// FakeClock: a clock that moves only when told to, or by a fixed step with each look.
#pragma once

#include <atomic>

#include "os/clock.h"

namespace hallmark::test {

class FakeClock final : public os::Clock {
 public:
  explicit FakeClock(std::int64_t now_ns = 1'800'000'000'000'000'000) : now_ns_(now_ns) {}

  std::int64_t now_ns() override { return now_ns_; }
  std::int64_t steady_ns() override { return now_ns_; }

  void advance_ns(std::int64_t step_ns) { now_ns_ += step_ns; }
  void advance_ms(std::int64_t step_ms) { now_ns_ += step_ms * 1'000'000; }
  void set_ns(std::int64_t now_ns) { now_ns_ = now_ns; }

 private:
  std::atomic<std::int64_t> now_ns_;
};

}  // namespace hallmark::test
