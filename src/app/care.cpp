#include "app/care.h"

namespace hallmark::app {

Result<std::optional<store::LocalStore::LastMiss>> last_miss(const Session& session) {
  HALLMARK_TRY(const auto store, open_store(session));
  return store->last_miss(session.settings.root.value);
}

Result<CacheStats> cache_stats(const Session& session) {
  HALLMARK_TRY(const auto store, open_store(session));
  CacheStats stats;
  stats.folder = store->folder();
  HALLMARK_TRY(stats.counters, store->counters());
  HALLMARK_TRY(stats.usage, store->usage());
  return stats;
}

Result<std::vector<store::StoreDefect>> verify_cache(
    const Session& session, bool repair, const std::function<void(std::uint64_t done)>& progress) {
  HALLMARK_TRY(const auto store, open_store(session));
  return store->verify(repair, progress);
}

}  // namespace hallmark::app
