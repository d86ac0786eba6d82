// Census: walks a whole store, to count it or to check it.
//
// Contract: runs beside readers and writers: what appears or goes while it walks is no defect. Reads only,
// unless `repair`: then damaged files are removed, and what they were needed for is made again by a later
// run.
#pragma once

#include <functional>
#include <vector>

#include "store/internal/layout.h"
#include "store/local_store.h"

namespace hallmark::store {

class Census {
 public:
  Census(os::FileSystem& files, const Layout& layout) : files_(files), layout_(layout) {}

  Result<StoreUsage> count();

  using Progress = std::function<void(std::uint64_t done)>;
  /// Blobs, records, weak entries and the rest; not the digest table.
  Result<std::vector<StoreDefect>> check(bool repair, const Progress& progress);

 private:
  using Visit = std::function<Status(const std::string& path, const std::string& name)>;
  /// Calls `visit` for every file of an area.
  Status walk(std::string_view area, const Visit& visit);
  /// Why the file is not a whole blob; nullopt if it is, or is gone.
  Result<std::optional<std::string>> check_blob(const std::string& path, const digest::Sha256& hash);
  Result<std::optional<std::string>> check_frame(const std::string& path, std::string_view area,
                                                 const digest::Key& key);
  Result<std::optional<std::string>> check_record(std::string_view payload);

  os::FileSystem& files_;
  const Layout& layout_;
};

}  // namespace hallmark::store
