// CounterLog: the store's counters, as a log of additions.
//
// A run appends one fixed line of numbers with O_APPEND, which needs no lock and no reading. When the log is
// longer than limits::kCounterLogBytes, the run that sees it replaces it by its sum; an addition made in
// those microseconds may be lost.
//
// Contract: thread-safe; any number of processes; damaged lines count as nothing.
#pragma once

#include <string>

#include "store/internal/scratch.h"
#include "store/local_store.h"

namespace hallmark::store {

class CounterLog {
 public:
  CounterLog(os::FileSystem& files, Scratch& scratch, std::string path, std::string lock_path)
      : files_(files), scratch_(scratch), path_(std::move(path)), lock_path_(std::move(lock_path)) {}

  Status add(const StoreCounters& delta);
  Result<StoreCounters> sum();

 private:
  Status shorten();

  os::FileSystem& files_;
  Scratch& scratch_;
  std::string path_;
  std::string lock_path_;
};

}  // namespace hallmark::store
