// The memory that the agents of one run share with the supervisor, and the words that they exchange.
//
// One memfd, mapped whole and writable by each agent and by the supervisor:
//
//   0                  Header, then the tables of patchable sites (one for each copy of libc)
//   kStubOffset        the code of the stub page; agents map it a second time, executable, at kStubAddress
//   kRecordsOffset     the ring: kRecordsBytes of records, at positions that only grow
//
// Protocol of the ring. A producer counts itself in (`started`), makes its system call, takes room by a
// compare-and-swap of `head`, writes the record behind its size word, publishes it by storing that word, and
// counts itself out
// (`finished`). A record never wraps: room that is too short at the end is taken along and published as a
// filler (kFiller). The consumer reads up to the first size word that is zero, zeroes what it read and then
// moves `tail`. So the memory between `head` and `tail` is always zero, and a size word other than zero means
// a whole record. started != finished when no process is left means that an access was made of which there is
// no record.
//
// Freestanding: included by the agent, which has no C++ library. The layout is private to one build of
// hallmark: supervisor and agent compare kVersion and nothing else.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/limits.h"

namespace hallmark::observe::ring {

inline constexpr std::uint32_t kVersion = 0x686d0001;

/// Where the stub page lies. No mapping that the kernel places itself comes here with vm.mmap_rnd_bits = 28
/// (the default of x86-64): mappings start at most 1 TiB below the end of the address space and this is 1.4
/// TiB below; the address is inside what every sanitizer counts as the program's own.
inline constexpr std::uint64_t kStubAddress = 0x7e9000000000;
inline constexpr std::uint32_t kStubBytes = 4096;
/// syscall; ret
inline constexpr std::uint8_t kStubCode[] = {0x0f, 0x05, 0xc3};

/// Names that no file has. ld.so opens the agent under kAgentFile if its own path will not do; the agent
/// opens kRingPrefix followed by the absolute path of the libc that it is to patch, and looks at kDoorbell
/// when the ring is full. The supervisor answers all of them itself, nothing of it is an access of the
/// command.
inline constexpr char kPrivatePrefix[] = "/.hallmark-agent/";
inline constexpr char kAgentFile[] = "/.hallmark-agent/agent.so";
inline constexpr char kRingPrefix[] = "/.hallmark-agent/ring";
inline constexpr char kDoorbell[] = "/.hallmark-agent/doorbell";

/// The answer to the open of kRingPrefix: descriptor, table of sites and the name of the image in one word.
inline constexpr unsigned kReplyLibraryShift = 20;
inline constexpr unsigned kReplyImageShift = 28;
inline constexpr std::uint64_t kReplyDescriptorMask = (1u << kReplyLibraryShift) - 1;
inline constexpr std::uint64_t kReplyLibraryMask = (1u << (kReplyImageShift - kReplyLibraryShift)) - 1;

/// A mov of a constant with a `syscall` behind it; the mov is what the agent replaces.
struct SharedSite {
  enum Form : std::uint16_t {
    kSetsNumber = 0,  ///< mov $number,%eax
    kSetsFolder = 1,  ///< mov $AT_FDCWD,%edi; eax holds the number since shortly before
  };
  std::uint32_t offset = 0;  ///< of the mov, from the library's load address
  std::uint16_t number = 0;  ///< of the system call
  std::uint16_t form = kSetsNumber;
};

inline constexpr std::size_t kSitesPerLibrary = 32;
inline constexpr std::size_t kLibraries = 7;

struct alignas(512) Library {
  std::uint32_t count = 0;
  std::uint32_t unused = 0;
  SharedSite sites[kSitesPerLibrary];
};

inline constexpr std::uint32_t kConfinedBits = 16 * 64;

struct alignas(512) Header {
  std::uint32_t version = kVersion;
  /// Set once, by the supervisor: every agent goes the slow path from now on.
  std::atomic<std::uint32_t> closed{0};
  /// Accesses that an agent made and could not describe.
  std::atomic<std::uint32_t> lost{0};
  /// The same for some images only: bit (image % kConfinedBits). Two images may share one; that costs time,
  /// nothing else.
  alignas(64) std::atomic<std::uint64_t> confined[16] = {};
  alignas(64) std::atomic<std::uint64_t> started{0};
  alignas(64) std::atomic<std::uint64_t> finished{0};
  alignas(64) std::atomic<std::uint64_t> head{0};  ///< next position that is free
  alignas(64) std::atomic<std::uint64_t> tail{0};  ///< next position to be read
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

struct FirstPage {
  Header header;
  Library libraries[kLibraries];
};
static_assert(sizeof(FirstPage) == 4096);

inline constexpr std::size_t kStubOffset = 4096;
inline constexpr std::size_t kRecordsOffset = 8192;
inline constexpr std::size_t kRecordsBytes = limits::kRingBytes;
inline constexpr std::size_t kMappedBytes = kRecordsOffset + kRecordsBytes;
static_assert((kRecordsBytes & (kRecordsBytes - 1)) == 0);

/// struct stat, as far as hallmark wants it.
struct SharedStat {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t size_bytes = 0;
  std::int64_t mtime_ns = 0;
  std::int64_t ctime_ns = 0;
  std::uint32_t mode = 0;  ///< type and permissions
  std::uint32_t unused = 0;
};

enum RecordBits : std::uint8_t { kFollow = 1, kHasStat = 2 };
inline constexpr std::uint32_t kFiller = 0xffffffff;  ///< in Record::image: room, nothing else

/// Followed by a SharedStat if kHasStat, then by path_bytes of an absolute path.
struct Record {
  std::atomic<std::uint32_t> bytes;  ///< of all of it, a multiple of 8; zero until the record is whole
  std::uint32_t image;               ///< which execution it comes from, as the supervisor named it
  std::int32_t result;               ///< of the system call: -errno, or 0
  std::uint16_t path_bytes;
  std::uint8_t access;  ///< observe::Access
  std::uint8_t bits;    ///< RecordBits
  std::uint64_t flags;  ///< of open
};
static_assert(sizeof(Record) == 24);

/// The longest record: a folder and a path below it.
inline constexpr std::size_t kRecordMaxBytes =
    sizeof(Record) + sizeof(SharedStat) + 2 * limits::kPathBytes + 16;
/// Also the shortest filler: size word and image.
inline constexpr std::size_t kRecordAlignment = 8;

constexpr std::size_t padded(std::size_t bytes) {
  return (bytes + kRecordAlignment - 1) & ~(kRecordAlignment - 1);
}

}  // namespace hallmark::observe::ring
