#include "observe/internal/ring_reader.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <new>

namespace hallmark::observe {
namespace {

constexpr std::uint64_t kMask = ring::kRecordsBytes - 1;
constexpr int kSpins = 200;  ///< a writer on another processor needs a fraction of a microsecond

std::int64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

FileStat file_stat_of(const ring::SharedStat& from) {
  FileStat stat;
  stat.device = from.device;
  stat.inode = from.inode;
  stat.size_bytes = from.size_bytes;
  stat.mtime_ns = from.mtime_ns;
  stat.ctime_ns = from.ctime_ns;
  stat.mode = from.mode & 07777;
  stat.kind = S_ISREG(from.mode)   ? NodeKind::file
              : S_ISDIR(from.mode) ? NodeKind::directory
              : S_ISLNK(from.mode) ? NodeKind::symlink
                                   : NodeKind::other;
  return stat;
}

/// The parts of a whole record; nullopt if they do not fit it.
std::optional<RingRecord> parse(const unsigned char* at, std::size_t bytes) {
  if (bytes < sizeof(ring::Record)) return std::nullopt;
  const auto& raw = *reinterpret_cast<const ring::Record*>(at);
  RingRecord record;
  record.image = raw.image;
  record.follow = (raw.bits & ring::kFollow) != 0;
  record.flags = raw.flags;
  record.result = raw.result;
  record.access = static_cast<Access>(raw.access);
  if (is_change(record.access) || record.access > Access::read_link || record.result > 0) return std::nullopt;
  std::size_t used = sizeof(ring::Record);
  if ((raw.bits & ring::kHasStat) != 0) {
    ring::SharedStat stat;
    if (bytes < used + sizeof(stat)) return std::nullopt;
    std::memcpy(&stat, at + used, sizeof(stat));
    record.stat = file_stat_of(stat);
    used += sizeof(stat);
  }
  const std::size_t path_bytes = raw.path_bytes;
  if (path_bytes == 0 || bytes < used + path_bytes || at[used] != '/') return std::nullopt;
  const std::string_view path(reinterpret_cast<const char*>(at) + used, path_bytes);
  record.path = path.substr(0, path.find('\0'));  // a thread may have changed it under the agent's hands
  const std::size_t head = offsetof(ring::Record, image);
  record.bytes = {reinterpret_cast<const char*>(at) + head, used + record.path.size() - head};
  return record;
}

}  // namespace

Result<std::unique_ptr<RingReader>> RingReader::create() {
  const int descriptor = memfd_create("hallmark-ring", MFD_CLOEXEC);
  if (descriptor < 0) return fail(Error::from_errno("make shared memory", "ring"));
  if (ftruncate(descriptor, static_cast<off_t>(ring::kMappedBytes)) != 0) {
    Error error = Error::from_errno("size shared memory", "ring");
    ::close(descriptor);
    return fail(std::move(error));
  }
  void* memory = mmap(nullptr, ring::kMappedBytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (memory == MAP_FAILED) {
    Error error = Error::from_errno("map shared memory", "ring");
    ::close(descriptor);
    return fail(std::move(error));
  }
  return std::unique_ptr<RingReader>(new RingReader(descriptor, memory));
}

RingReader::RingReader(int descriptor, void* memory)
    : descriptor_(descriptor),
      page_(new (memory) ring::FirstPage),
      ring_(static_cast<unsigned char*>(memory) + ring::kRecordsOffset) {
  std::memcpy(static_cast<unsigned char*>(memory) + ring::kStubOffset, ring::kStubCode,
              sizeof(ring::kStubCode));
}

RingReader::~RingReader() {
  munmap(page_, ring::kMappedBytes);
  ::close(descriptor_);
}

std::optional<std::uint32_t> RingReader::add_library(std::span<const ring::SharedSite> sites) {
  if (libraries_ == ring::kLibraries || sites.size() > ring::kSitesPerLibrary) return std::nullopt;
  ring::Library& library = page_->libraries[libraries_];
  std::ranges::copy(sites, library.sites);
  library.count = static_cast<std::uint32_t>(sites.size());
  return libraries_++;
}

bool RingReader::wait_for(const ring::Record& record) const {
  for (int i = 0; i < kSpins; ++i) {
    if (record.bytes.load(std::memory_order_acquire) != 0) return true;
    __builtin_ia32_pause();
  }
  const std::int64_t end = monotonic_ns() + limits::kRingStuck_ms * 1'000'000;
  const timespec nap{0, 50'000};
  for (int i = 0; monotonic_ns() < end; ++i) {
    if (i < kSpins) {
      sched_yield();
    } else {
      nanosleep(&nap, nullptr);
    }
    if (record.bytes.load(std::memory_order_acquire) != 0) return true;
  }
  return false;
}

std::size_t RingReader::drain(RingConsumer& consumer) {
  if (broken_) return 0;
  const std::uint64_t head = page_->header.head.load(std::memory_order_acquire);
  if (head - tail_ > ring::kRecordsBytes) {
    give_up();
    return 0;
  }
  std::size_t count = 0;
  while (tail_ != head) {
    unsigned char* at = ring_ + (tail_ & kMask);
    const auto& raw = *reinterpret_cast<const ring::Record*>(at);
    if (raw.bytes.load(std::memory_order_acquire) == 0 && !wait_for(raw)) {
      give_up();
      break;
    }
    const std::size_t bytes = raw.bytes.load(std::memory_order_acquire);
    const std::size_t room = std::min(head - tail_, ring::kRecordsBytes - (tail_ & kMask));
    if (bytes % ring::kRecordAlignment != 0 || bytes > room || bytes == 0) {
      give_up();
      break;
    }
    if (raw.image != ring::kFiller) {
      const auto record = parse(at, bytes);
      if (!record) {
        give_up();
        break;
      }
      consumer.on_record(*record);
      ++count;
    }
    std::memset(at, 0, bytes);
    tail_ += bytes;
    page_->header.tail.store(tail_, std::memory_order_release);
  }
  records_ += count;
  return count;
}

void RingReader::give_up() {
  broken_ = true;
  close();
}

void RingReader::close() {
  page_->header.closed.store(1, std::memory_order_release);
}

void RingReader::confine(std::uint32_t image) {
  const std::uint32_t bit = image % ring::kConfinedBits;
  page_->header.confined[bit / 64].fetch_or(std::uint64_t{1} << (bit % 64), std::memory_order_release);
}

bool RingReader::closed() const {
  return page_->header.closed.load(std::memory_order_relaxed) != 0;
}

std::uint64_t RingReader::lost() const {
  const ring::Header& header = page_->header;
  const std::uint64_t started = header.started.load(std::memory_order_acquire);
  const std::uint64_t finished = header.finished.load(std::memory_order_acquire);
  const std::uint64_t open = started > finished ? started - finished : finished - started;
  return open + header.lost.load(std::memory_order_acquire) + (broken_ ? 1 : 0);
}

}  // namespace hallmark::observe
