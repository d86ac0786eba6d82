// DigestTable: digests of files by what stat says of them, kept between runs, so that an unchanged file is
// not read again (docs/formats/digest-table.md).
//
// The file is a header page and kDigestTablePages pages of entries. An entry lives in the page that its
// device and inode choose; 32 neighbouring inodes share one, and as a compiler's headers lie in few folders,
// whose files were mostly made together, a thousand look-ups read some tens of pages. Pages are read with
// pread, not mapped: an I/O error or a full disk is an Error here, and would be a SIGBUS there.
//
// Contract: a look-up gives what was inserted for exactly this FileStat, or nothing. Every entry carries a
// check over itself and its page's number: bytes that are damaged, half written by a peer or in the wrong
// place are no entry. New entries are kept in memory until flush(). Losing entries (a full page, two writers
// at once, a lost file) costs a rehash, never an answer. Not thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/file_stat.h"
#include "base/limits.h"
#include "digest/clock_words.h"
#include "digest/digest.h"
#include "os/file_system.h"
#include "store/internal/scratch.h"

namespace hallmark::store {

class DigestTable {
 public:
  static constexpr std::size_t kPageBytes = 4096;
  static constexpr std::size_t kEntryBytes = 80;
  static constexpr std::size_t kEntriesPerPage = kPageBytes / kEntryBytes;

  /// Nothing is opened before the first look-up. A file of another number of pages counts as damaged.
  DigestTable(os::FileSystem& files, Scratch& scratch, std::string path, bool read_only,
              std::uint64_t pages = limits::kDigestTablePages);
  ~DigestTable();
  DigestTable(const DigestTable&) = delete;
  DigestTable& operator=(const DigestTable&) = delete;

  struct Known {
    digest::Sha256 hash;
    std::optional<digest::ClockWords> clock;  ///< nullopt: nobody looked for them
    bool operator==(const Known&) const = default;
  };
  std::optional<Known> find(const FileStat& stat);
  void insert(const FileStat& stat, const Known& known);

  /// Writes new entries to the file, which is made if it is absent or damaged.
  Status flush();

  /// Reads the whole table and counts damaged entries; with `repair`, they are cleared.
  Result<std::uint64_t> count_damaged(bool repair);

 private:
  struct Page;
  using Pages = std::unordered_map<std::uint64_t, std::unique_ptr<Page>>;

  std::uint64_t page_of(const FileStat& stat) const;
  std::array<std::uint8_t, kPageBytes> header_page() const;
  bool open();
  Status make();
  Page& page_at(std::uint64_t number);
  bool is_settled(std::uint64_t number, std::size_t slot);
  Status write_page(std::uint64_t number, const Page& page);

  os::FileSystem& files_;
  Scratch& scratch_;
  std::string path_;
  bool read_only_;
  std::uint64_t page_count_;
  bool opened_ = false;
  std::unique_ptr<os::RandomFile> file_;  // nullptr: none there, or not usable
  Pages pages_;
};

}  // namespace hallmark::store
