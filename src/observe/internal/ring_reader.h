// RingReader: the supervisor's end of the ring (ring.h).
//
// Owns the shared memory and its descriptor. One thread only, except for the shared memory itself, which the
// agents of any number of processes write at the same time; nothing that they write is trusted: a record that
// is not well formed closes the ring. Never allocates after create().
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "base/file_stat.h"
#include "base/result.h"
#include "observe/internal/event.h"
#include "observe/internal/ring.h"

namespace hallmark::observe {

/// One access, as an agent described it. The views live until the consumer returns.
struct RingRecord {
  std::uint32_t image = 0;
  Access access{};
  bool follow = true;
  std::uint64_t flags = 0;
  int result = 0;
  std::optional<FileStat> stat;
  std::string_view path;   ///< absolute
  std::string_view bytes;  ///< all of the above, as it lies in memory behind its size word
};

class RingConsumer {
 public:
  virtual ~RingConsumer() = default;
  virtual void on_record(const RingRecord& record) = 0;
};

class RingReader {
 public:
  static Result<std::unique_ptr<RingReader>> create();
  ~RingReader();
  RingReader(const RingReader&) = delete;
  RingReader& operator=(const RingReader&) = delete;

  /// Of the memory, for agents to map. Stays ours.
  int descriptor() const { return descriptor_; }

  /// Gives a table of sites to the agents. nullopt: there are ring::kLibraries already, or too many sites.
  std::optional<std::uint32_t> add_library(std::span<const ring::SharedSite> sites);

  /// Hands out, oldest first, every record up to the newest of this moment. A record that its writer has not
  /// finished is waited for, for limits::kRingStuck_ms at most; then the ring is closed, for a later one
  /// could not be reported in order. Returns how many records there were.
  std::size_t drain(RingConsumer& consumer);

  /// From now on agents leave everything to the slow path.
  void close();
  /// From now on the agents of one image do.
  void confine(std::uint32_t image);
  bool closed() const;
  /// The ring was closed because what it holds cannot be read.
  bool broken() const { return broken_; }

  /// Accesses that were made and that no record tells of. Only meaningful when no agent runs any more and the
  /// ring is drained.
  std::uint64_t lost() const;
  std::uint64_t records() const { return records_; }

  ring::FirstPage& page() { return *page_; }

 private:
  RingReader(int descriptor, void* memory);
  bool wait_for(const ring::Record& record) const;
  void give_up();

  int descriptor_;
  ring::FirstPage* page_;
  unsigned char* ring_;
  std::uint64_t tail_ = 0;
  std::uint64_t records_ = 0;
  std::uint32_t libraries_ = 0;
  bool broken_ = false;
};

}  // namespace hallmark::observe
