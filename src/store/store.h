// Store: blobs by content, weak entries and records by key. The interfaces, which local and remote stores
// share.
//
// Contract: a reader never sees a part of anything: what is found is whole and verified, or it is absent, or
// it is an Error of kind corrupt (the caller treats it as absent and says so). Writers may be killed at any
// step. Any number of processes may use a store at once. Thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "digest/digest.h"
#include "model/record.h"
#include "os/file_system.h"

namespace hallmark::store {

class BlobStore {
 public:
  virtual ~BlobStore() = default;
  virtual Result<bool> contains(const digest::Digest& digest) = 0;
  /// Verified bytes; nullopt if absent; ErrorKind::limit if longer than `max_bytes`.
  virtual Result<std::optional<std::string>> read(const digest::Digest& digest, std::size_t max_bytes) = 0;
  virtual Result<digest::Digest> put(std::string_view bytes) = 0;
  /// Takes a copy of a file's content; the digest is of the bytes that were taken.
  virtual Result<digest::Digest> put_file(const std::string& path) = 0;
  /// Fills and finishes a new file with these bytes, verified, by reflink or copy; false if absent. After a
  /// failure the file is of no use.
  virtual Result<bool> restore(const digest::Digest& digest, os::UnseenFile& into, std::uint32_t mode) = 0;
};

class RecordStore {
 public:
  virtual ~RecordStore() = default;
  virtual Result<std::optional<model::WeakEntry>> weak_entry(const digest::Key& weak) = 0;
  /// Replaces it; the caller holds the action's lock, so that no set of a peer is lost.
  virtual Status put_weak_entry(const digest::Key& weak, const model::WeakEntry& entry) = 0;
  virtual Result<std::optional<model::Record>> record(const digest::Key& strong) = 0;
  /// First published wins: if a record is there, it stays, and is returned.
  virtual Result<std::optional<model::Record>> put_record(const digest::Key& strong,
                                                          const model::Record& record) = 0;
  /// Replaces a record whose blobs are lost or corrupt, or whose notes grew.
  virtual Status replace_record(const digest::Key& strong, const model::Record& record) = 0;
};

/// Where bytes come from: to prove, never to replay.
class DerivationStore {
 public:
  virtual ~DerivationStore() = default;
  virtual Result<std::optional<model::Derivation>> derivation(const digest::Key& strong) = 0;
  /// Written before its record. What is there stays: it says the same.
  virtual Status put_derivation(const digest::Key& strong, const model::Derivation& derivation) = 0;

  /// One file that a run or replay put in its place.
  struct Made {
    digest::Digest content;
    std::string path;  ///< absolute
  };
  /// Notes who put these files there, and where his folders were. `strong`: nullopt for a run that could not
  /// be recorded; the contents are then not kept.
  virtual Status note_made(const std::optional<digest::Key>& strong, const model::Places& places,
                           const std::vector<Made>& made) = 0;

  /// A note. What another process notes after the first question of this one is not seen.
  struct Maker {
    std::optional<digest::Key> strong;  ///< nullopt: a run that could not be recorded
    digest::Key places;                 ///< names what places() gives
    std::uint64_t place = 0;            ///< place_of() the path
  };
  /// Who made these bytes (`place`: there), the one noted last first; at most limits::kMakersPerContent.
  virtual Result<std::vector<Maker>> makers_of(const digest::Digest& content,
                                               std::optional<std::uint64_t> place = std::nullopt) = 0;
  /// The last note of a place, whatever the bytes.
  virtual Result<std::optional<Maker>> last_maker_at(std::uint64_t place) = 0;
  /// False if notes were lost: by damage, or because there were too many.
  virtual Result<bool> has_all_notes() = 0;
  virtual Result<std::optional<model::Places>> places(const digest::Key& key) = 0;
};

/// A number for an absolute path.
std::uint64_t place_of(std::string_view path);

/// The weak keys of earlier commands at one site (same folder, same output): to explain a miss, never to
/// decide.
class SiteHistory {
 public:
  virtual ~SiteHistory() = default;
  virtual Result<std::vector<digest::Key>> recent(const digest::Key& site) = 0;  ///< most recent first
  virtual Status remember(const digest::Key& site, const digest::Key& weak) = 0;
};

/// What test runs loaded: to name those that can see a file, never to decide.
class TestHistory {
 public:
  virtual ~TestHistory() = default;
  struct TestRun {
    std::string name;  ///< a test program (absolute), or a command line that ran several
    std::int64_t at_ns = 0;
    std::vector<std::string> loaded;  ///< absolute: programs and libraries
    bool operator==(const TestRun&) const = default;
  };
  /// The latest run of each name below a root, the latest first; at most limits::kTestRuns.
  virtual Result<std::vector<TestRun>> test_runs(const std::string& root) = 0;
  /// Takes the place of an earlier run of this name.
  virtual Status note_test(const std::string& root, const TestRun& run) = 0;
};

}  // namespace hallmark::store
