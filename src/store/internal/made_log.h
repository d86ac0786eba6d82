// MadeLog: which run put which bytes where, as a log of additions (docs/formats/store.md).
//
// A run or replay appends one fixed line a file with one write and O_APPEND, which needs no lock and no
// reading. When the log is longer than limits::kMadeLogBytes, the run that sees it replaces it by its latest
// lines, each once, up to half of that; lines that are added in those milliseconds may be lost. Wherever
// lines were lost, has_all_notes() is false from then on: without a note a made file looks like a source.
//
// Contract: thread-safe; any number of processes. The log is read once, at the first question.
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
  using Maker = DerivationStore::Maker;

  MadeLog(os::FileSystem& files, Scratch& scratch, std::string path, std::string lock_path)
      : files_(files), scratch_(scratch), path_(std::move(path)), lock_path_(std::move(lock_path)) {}

  Status add(const std::optional<digest::Key>& strong, const digest::Key& places,
             const std::vector<DerivationStore::Made>& made);
  /// The latest first, each run and place once, at most limits::kMakersPerContent.
  Result<std::vector<Maker>> makers_of(const digest::Digest& content, std::optional<std::uint64_t> place);
  Result<std::optional<Maker>> last_maker_at(std::uint64_t place);
  Result<bool> has_all_notes();
  /// How many bytes are no part of a line; `repair`: they are cut out, and a mark of the loss is left.
  Result<std::uint64_t> count_damaged(bool repair);

 private:
  /// As it stands in the file.
  struct Line {
    digest::Sha256 content{};  ///< all zero: not kept, as the run could not be recorded
    digest::Sha256 strong{};   ///< all zero: no record
    digest::Sha256 places{};
    std::uint64_t place = 0;
    std::uint64_t check = 0;
  };
  /// Finds lines by a number. A chain leads from the latest line of a bucket to its earlier ones.
  struct Index {
    std::vector<std::uint32_t> earlier;  ///< per line: number + 1 of the one before it in its bucket
    std::vector<std::uint32_t> latest;   ///< per bucket; 0: none
    void add(std::uint32_t line, std::uint64_t number);
    std::uint32_t first(std::uint64_t number) const { return latest[number & (latest.size() - 1)]; }
  };
  struct Content {
    std::vector<Line> lines;
    std::uint64_t damaged_bytes = 0;
    bool lost = false;  ///< a mark says that lines were lost
    Index by_content;
    Index by_place;
  };

  static Line sealed(Line line);
  static Line mark_of_loss();
  static Maker maker_of(const Line& line);
  Result<Content> read() const;
  Status load();
  Status shorten();
  Status replace(std::span<const Line> lines);

  os::FileSystem& files_;
  Scratch& scratch_;
  std::string path_;
  std::string lock_path_;
  std::mutex mutex_;
  std::optional<Content> content_;
};

}  // namespace hallmark::store
