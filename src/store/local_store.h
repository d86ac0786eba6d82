// LocalStore: a store in a folder. docs/formats/store.md describes the layout; docs/adr/ the choices.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "digest/content_hasher.h"
#include "model/reason.h"
#include "os/clock.h"
#include "store/store.h"

namespace hallmark::store {

/// Counts since the store was made, summed over all its users.
struct StoreCounters {
  std::uint64_t replayed = 0;
  std::uint64_t executed = 0;     ///< and published
  std::uint64_t unproven = 0;     ///< executed, not published
  std::uint64_t failed = 0;       ///< executed, exit status not 0
  std::uint64_t uncacheable = 0;  ///< not looked up at all
  std::int64_t saved_ns = 0;      ///< wall time of the executions that replays spared
};

struct StoreUsage {
  std::uint64_t blobs = 0;
  std::uint64_t blob_bytes = 0;
  std::uint64_t records = 0;
  std::uint64_t weak_entries = 0;
  std::uint64_t derivations = 0;
};

/// One thing found wrong by verify().
struct StoreDefect {
  std::string path;
  std::string what;
};

class LocalStore : public BlobStore,
                   public RecordStore,
                   public DerivationStore,
                   public SiteHistory,
                   public TestHistory {
 public:
  /// Opens the store in `folder`, makes it if absent. Errors: newer_format (another version's store: nothing
  /// is touched), invalid (a folder that holds something else), corrupt (a damaged FORMAT), permission (it
  /// cannot be made or read), no_space, io. A store that can be read but not written opens, and is
  /// read_only().
  static Result<std::unique_ptr<LocalStore>> open(os::FileSystem& files, os::Clock& clock,
                                                  const std::string& folder);

  /// True if the folder cannot be written: replay works, publishing fails with ErrorKind::permission.
  virtual bool read_only() const = 0;
  virtual const std::string& folder() const = 0;

  /// The lock of an action. Blocks while another process runs the equal action; `on_wait` is called once
  /// before blocking, with the holder's process number (0 if unknown); if it returns false nothing is waited
  /// for, and the result is null. Dies with its holder.
  virtual Result<std::unique_ptr<os::FileLock>> lock_action(const digest::Key& weak,
                                                            const std::function<bool(int)>& on_wait) = 0;

  /// Digests of files by stat signature, persistent (docs/formats/digest-table.md).
  virtual digest::ContentHasher& hasher() = 0;

  /// The reasons of the last miss below `root`, for `why --last-miss`.
  virtual Status put_last_miss(const std::string& root, const std::string& command,
                               const std::vector<model::Reason>&) = 0;
  struct LastMiss {
    std::string command;
    std::int64_t at_ns = 0;
    std::vector<model::Reason> reasons;
  };
  virtual Result<std::optional<LastMiss>> last_miss(const std::string& root) = 0;

  /// Adds to the shared counters. Best effort: a failure is not worth a warning.
  virtual void count(const StoreCounters& delta) = 0;
  virtual Result<StoreCounters> counters() = 0;
  virtual Result<StoreUsage> usage() = 0;
  /// Reads everything and checks it; with `repair`, corrupt entries are removed. Runs beside writers.
  virtual Result<std::vector<StoreDefect>> verify(
      bool repair, const std::function<void(std::uint64_t done)>& progress) = 0;

  /// Ends a run: writes out what was kept in memory (new digests of files), and once a day removes what
  /// killed writers left behind. Not a disk sync: what a power loss tears is found by its checksum
  /// (docs/adr/0003-durability.md).
  virtual Status flush() = 0;
};

}  // namespace hallmark::store
