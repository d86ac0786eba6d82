#include "store/internal/digest_table.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <bit>
#include <bitset>
#include <cstring>

namespace hallmark::store {
namespace {

static_assert(std::endian::native == std::endian::little, "the table's numbers are little-endian");

constexpr std::string_view kMagic = "hallmark digest table";
constexpr std::uint32_t kVersion = 1;
constexpr unsigned kInodesPerPage_log2 = 5;

/// The bytes of an entry. A slot that was never used is all zero, whose check does not fit.
struct Entry {
  std::uint64_t device;
  std::uint64_t inode;
  std::uint64_t size_and_clock;  ///< size in bytes; above it the clock words
  std::int64_t mtime_ns;
  std::int64_t ctime_ns;
  digest::Sha256 hash;
  std::uint64_t check;
};
static_assert(sizeof(Entry) == DigestTable::kEntryBytes);

constexpr unsigned kSizeBits = 56;
constexpr std::uint64_t kLooked = 1;
constexpr std::uint64_t kDate = 2;
constexpr std::uint64_t kTime = 4;
constexpr std::uint64_t kTimestamp = 8;

std::uint64_t bits_of(const std::optional<digest::ClockWords>& clock) {
  if (!clock) return 0;
  return kLooked | (clock->date ? kDate : 0) | (clock->time ? kTime : 0) |
         (clock->timestamp ? kTimestamp : 0);
}

std::optional<digest::ClockWords> clock_of(const Entry& entry) {
  const std::uint64_t bits = entry.size_and_clock >> kSizeBits;
  if ((bits & kLooked) == 0) return std::nullopt;
  return digest::ClockWords{(bits & kDate) != 0, (bits & kTime) != 0, (bits & kTimestamp) != 0};
}

std::uint64_t size_of(const Entry& entry) {
  return entry.size_and_clock & ((std::uint64_t{1} << kSizeBits) - 1);
}

std::uint64_t check_of(const Entry& entry, std::uint64_t page_number) {
  return XXH3_64bits_withSeed(&entry, offsetof(Entry, check), page_number);
}

bool is_valid(const Entry& entry, std::uint64_t page_number) {
  return entry.check == check_of(entry, page_number);
}

bool is_unused(const Entry& entry) {
  static constexpr Entry kUnused{};
  return std::memcmp(&entry, &kUnused, sizeof entry) == 0;
}

bool is_same_file(const Entry& a, const Entry& b) {
  return a.device == b.device && a.inode == b.inode;
}

std::uint64_t offset_of(std::uint64_t page_number) {
  return (page_number + 1) * DigestTable::kPageBytes;
}

}  // namespace

struct DigestTable::Page {
  std::array<Entry, kEntriesPerPage> entries{};
  std::bitset<kEntriesPerPage> fresh;  // not yet in the file

  /// The slot for an entry: of the same file, else an unused or damaged one, else one chosen by the entry's
  /// time.
  std::size_t slot_for(const Entry& entry, std::uint64_t number) const {
    std::size_t open = kEntriesPerPage;
    for (std::size_t i = 0; i < kEntriesPerPage; ++i) {
      const bool valid = is_valid(entries[i], number);
      if (valid && is_same_file(entries[i], entry)) return i;
      if (!valid && open == kEntriesPerPage) open = i;
    }
    if (open < kEntriesPerPage) return open;
    return (entry.inode ^ static_cast<std::uint64_t>(entry.ctime_ns >> 10)) % kEntriesPerPage;
  }

  void insert(const Entry& entry, std::uint64_t number) {
    const std::size_t slot = slot_for(entry, number);
    entries[slot] = entry;
    fresh.set(slot);
  }
};

DigestTable::DigestTable(os::FileSystem& files, Scratch& scratch, std::string path, bool read_only,
                         std::uint64_t pages)
    : files_(files), scratch_(scratch), path_(std::move(path)), read_only_(read_only), page_count_(pages) {}

DigestTable::~DigestTable() = default;

std::uint64_t DigestTable::page_of(const FileStat& stat) const {
  const std::uint64_t group[2] = {stat.device, stat.inode >> kInodesPerPage_log2};
  return XXH3_64bits(group, sizeof group) % page_count_;
}

std::array<std::uint8_t, DigestTable::kPageBytes> DigestTable::header_page() const {
  std::array<std::uint8_t, kPageBytes> page{};
  std::memcpy(page.data(), kMagic.data(), kMagic.size());
  std::memcpy(page.data() + 24, &kVersion, sizeof kVersion);
  std::memcpy(page.data() + 32, &page_count_, sizeof page_count_);
  return page;
}

bool DigestTable::open() {
  if (opened_) return file_ != nullptr;
  opened_ = true;
  auto file = files_.open_random(path_, !read_only_);
  if (!file.has_value()) return false;
  std::array<std::uint8_t, kPageBytes> header{};
  const auto got = (*file)->read_at(0, header);
  if (!got.has_value() || *got != header.size() || header != header_page()) return false;
  file_ = std::move(*file);
  return true;
}

Status DigestTable::make() {
  const auto header = header_page();
  HALLMARK_TRY(const std::string temporary, scratch_.write(as_text(header), 0666));
  HALLMARK_TRY(const bool placed, scratch_.place_new(temporary, path_));
  opened_ = false;
  if (open()) return {};  // ours, or that of a peer who was faster
  if (placed) return fail({ErrorKind::io, "open " + path_ + ": not what was just written", {}});
  // Somebody else's, and not a table of this version: it goes.
  HALLMARK_TRY(const std::string another, scratch_.write(as_text(header), 0666));
  HALLMARK_CHECK(scratch_.place(another, path_));
  opened_ = false;
  if (open()) return {};
  return fail({ErrorKind::io, "open " + path_ + ": not what was just written", {}});
}

DigestTable::Page& DigestTable::page_at(std::uint64_t number) {
  std::unique_ptr<Page>& page = pages_[number];
  if (page != nullptr) return *page;
  page = std::make_unique<Page>();
  if (open()) {
    // A part of a page, or an error, leaves zeros: unused entries.
    (void)file_->read_at(offset_of(number),
                         {reinterpret_cast<std::uint8_t*>(page->entries.data()), sizeof page->entries});
  }
  return *page;
}

std::optional<DigestTable::Known> DigestTable::find(const FileStat& stat) {
  const std::uint64_t number = page_of(stat);
  for (const Entry& entry : page_at(number).entries) {
    if (entry.inode != stat.inode || entry.ctime_ns != stat.ctime_ns || entry.mtime_ns != stat.mtime_ns ||
        size_of(entry) != stat.size_bytes || entry.device != stat.device) {
      continue;
    }
    if (is_valid(entry, number)) return Known{entry.hash, clock_of(entry)};
  }
  return std::nullopt;
}

void DigestTable::insert(const FileStat& stat, const Known& known) {
  if (stat.size_bytes >> kSizeBits != 0) return;  // no file system has such files
  const std::uint64_t number = page_of(stat);
  const std::uint64_t size_and_clock = stat.size_bytes | bits_of(known.clock) << kSizeBits;
  Entry entry{stat.device, stat.inode, size_and_clock, stat.mtime_ns, stat.ctime_ns, known.hash, 0};
  entry.check = check_of(entry, number);
  page_at(number).insert(entry, number);
}

Status DigestTable::write_page(std::uint64_t number, const Page& page) {
  // What peers wrote since the page was read stays: fresh entries go into the page as it is now.
  Page now;
  (void)file_->read_at(offset_of(number),
                       {reinterpret_cast<std::uint8_t*>(now.entries.data()), sizeof now.entries});
  for (std::size_t i = 0; i < kEntriesPerPage; ++i) {
    if (page.fresh[i]) now.insert(page.entries[i], number);
  }
  std::size_t first = 0;
  while (!now.fresh[first]) ++first;
  std::size_t last = kEntriesPerPage - 1;
  while (!now.fresh[last]) --last;
  const ByteView bytes{reinterpret_cast<const std::uint8_t*>(now.entries.data() + first),
                       (last - first + 1) * kEntryBytes};
  return file_->write_at(offset_of(number) + first * kEntryBytes, bytes);
}

Status DigestTable::flush() {
  if (read_only_) return {};
  for (auto& [number, page] : pages_) {
    if (page->fresh.none()) continue;
    if (file_ == nullptr) opened_ = false;  // a peer may have made it by now
    if (!open()) HALLMARK_CHECK(make());
    HALLMARK_CHECK(write_page(number, *page));
    page->fresh.reset();
  }
  return {};
}

bool DigestTable::is_settled(std::uint64_t number, std::size_t slot) {
  // A peer may have been writing the entry just when it was read; what is damaged stays so.
  Entry entry{};
  const auto got = file_->read_at(offset_of(number) + slot * kEntryBytes,
                                  {reinterpret_cast<std::uint8_t*>(&entry), sizeof entry});
  return !got.has_value() || !is_valid(entry, number);
}

Result<std::uint64_t> DigestTable::count_damaged(bool repair) {
  opened_ = false;
  file_.reset();
  if (!open()) {
    HALLMARK_TRY(const auto stat, files_.lstat(path_));
    if (!stat) return 0;
    if (repair && !read_only_) HALLMARK_CHECK(make());
    return 1;
  }
  std::uint64_t damaged = 0;
  for (std::uint64_t number = 0; number < page_count_; ++number) {
    Page page;
    HALLMARK_TRY(const std::size_t got,
                 file_->read_at(offset_of(number),
                                {reinterpret_cast<std::uint8_t*>(page.entries.data()), sizeof page.entries}));
    if (got == 0) break;
    for (std::size_t i = 0; i < kEntriesPerPage; ++i) {
      if (is_unused(page.entries[i]) || is_valid(page.entries[i], number)) continue;
      if (!is_settled(number, i)) continue;
      ++damaged;
      if (!repair || read_only_) continue;
      const Entry unused{};
      HALLMARK_CHECK(file_->write_at(offset_of(number) + i * kEntryBytes,
                                     {reinterpret_cast<const std::uint8_t*>(&unused), sizeof unused}));
    }
  }
  return damaged;
}

}  // namespace hallmark::store
