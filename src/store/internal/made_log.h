// MadeLog: which run made which bytes, as a log of additions (docs/formats/store.md).
//
// A run or replay appends one fixed line a file with one write and O_APPEND, which needs no lock and no
// reading. When the log is longer than limits::kMadeLogBytes, the run that sees it replaces it by its latest
// lines, each once, up to half of that; lines that are added in those milliseconds may be lost. A lost line
// makes an answer "unknown", never wrong.
//
// Contract: thread-safe; any number of processes; damaged lines count as nothing. The log is read once, at
// the first question.
#pragma once

#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "store/internal/scratch.h"
#include "store/store.h"

namespace hallmark::store {

class MadeLog {
 public:
  MadeLog(os::FileSystem& files, Scratch& scratch, std::string path, std::string lock_path)
      : files_(files), scratch_(scratch), path_(std::move(path)), lock_path_(std::move(lock_path)) {}

  Status add(const digest::Key& strong, const std::vector<DerivationStore::Made>& made);
  /// The latest first, each run and place once, at most limits::kMakersPerContent.
  Result<std::vector<DerivationStore::Maker>> makers_of(const digest::Digest& content,
                                                        std::optional<std::uint64_t> place);
  /// How many bytes are no part of a line; `repair`: they are cut out.
  Result<std::uint64_t> count_damaged(bool repair);

 private:
  /// As it stands in the file.
  struct Line {
    digest::Sha256 content{};
    digest::Sha256 strong{};
    std::uint64_t place = 0;
    std::uint64_t check = 0;
  };
  /// All lines, found by content. A chain leads from the latest line of a bucket to its earlier ones.
  struct Index {
    std::vector<Line> lines;
    std::vector<std::uint32_t> earlier;  ///< per line: number + 1 of the one before it in its bucket
    std::vector<std::uint32_t> latest;   ///< per bucket; 0: none
    std::size_t bucket_of(const digest::Sha256& content) const;
  };

  struct Content {
    std::vector<Line> lines;
    std::uint64_t damaged_bytes = 0;
  };
  Result<Content> read() const;
  Status load();
  Status shorten();
  Status replace(std::span<const Line> lines);

  os::FileSystem& files_;
  Scratch& scratch_;
  std::string path_;
  std::string lock_path_;
  std::mutex mutex_;
  std::optional<Index> index_;
};

}  // namespace hallmark::store
