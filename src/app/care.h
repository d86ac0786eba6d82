// Use cases that look at what past runs left: the last miss, the store's counts, the store's health.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/session.h"
#include "base/result.h"
#include "store/local_store.h"

namespace hallmark::app {

/// The reasons of the last miss below the session's root; nullopt: none is known.
Result<std::optional<store::LocalStore::LastMiss>> last_miss(const Session& session);

struct CacheStats {
  std::string folder;
  store::StoreCounters counters;
  store::StoreUsage usage;
};
Result<CacheStats> cache_stats(const Session& session);

/// Reads and checks everything in the store; with `repair`, what is corrupt is removed.
Result<std::vector<store::StoreDefect>> verify_cache(const Session& session, bool repair,
                                                     const std::function<void(std::uint64_t done)>& progress);

}  // namespace hallmark::app
