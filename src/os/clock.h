// Clock: the time of day and a steady time, so that a test can tick.
#pragma once

#include <cstdint>

namespace hallmark::os {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual std::int64_t now_ns() = 0;     ///< since the epoch, on the clock that stamps files
  virtual std::int64_t steady_ns() = 0;  ///< for durations
};

Clock& system_clock();

}  // namespace hallmark::os
