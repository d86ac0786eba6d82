// The hook: carries out a file system call of the program and, if it only reads, describes it in the ring.
//
// Runs on the program's stack at any time: in signal handlers, in vfork children, before main, in several
// threads. It uses less than 1.5 KiB of stack, no locks, and no memory but the program's own arguments, the
// ring and the stack. It never looks at an argument before the kernel has accepted it: a bad pointer fails
// with EFAULT as ever.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "observe/agent/kernel.h"
#include "observe/agent/rules.h"
#include "observe/agent/state.h"

namespace hallmark::observe::agent {

State state;

namespace {

using ring::Record;
using ring::SharedStat;

constexpr long kErrorFault = -14;
constexpr long kErrorNameTooLong = -36;

/// A longer working folder is left to the supervisor.
constexpr std::size_t kBaseBytes = 512;

/// struct stat as the kernel writes it.
using KernelStat = struct ::stat;
static_assert(sizeof(KernelStat) == 144);

/// Result buffers of the calls: which argument, and how long.
struct Output {
  const unsigned char* begin = nullptr;
  std::size_t bytes = 0;
};

long argument(const Arguments& a, int index) {
  switch (index) {
    case 0:
      return a.rdi;
    case 1:
      return a.rsi;
    case 2:
      return a.rdx;
    case 3:
      return a.r10;
    case 4:
      return a.r8;
    default:
      return a.r9;
  }
}

const unsigned char* pointer(long value) {
  return reinterpret_cast<const unsigned char*>(value);
}

Output output_of(std::uint16_t number, const Arguments& a) {
  switch (number) {
    case SYS_stat:
    case SYS_lstat:
      return {pointer(a.rsi), sizeof(KernelStat)};
    case SYS_newfstatat:
      return {pointer(a.rdx), sizeof(KernelStat)};
    case SYS_statx:
      return {pointer(a.r8), sizeof(struct ::statx)};
    case SYS_readlink:
    case SYS_listxattr:
    case SYS_llistxattr:
      return {pointer(a.rsi), static_cast<std::size_t>(a.rdx)};
    case SYS_readlinkat:
      return {pointer(a.rdx), static_cast<std::size_t>(a.r10)};
    case SYS_getxattr:
    case SYS_lgetxattr:
      return {pointer(a.rdx), static_cast<std::size_t>(a.r10)};
    case SYS_statfs:
      return {pointer(a.rsi), 120};
    default:
      return {};
  }
}

std::int64_t nanoseconds(std::int64_t seconds, std::int64_t rest) {
  return seconds * 1'000'000'000 + rest;
}

void take_stat(const KernelStat& from, SharedStat& to) {
  to.device = from.st_dev;
  to.inode = from.st_ino;
  to.size_bytes = static_cast<std::uint64_t>(from.st_size);
  to.mtime_ns = nanoseconds(from.st_mtim.tv_sec, from.st_mtim.tv_nsec);
  to.ctime_ns = nanoseconds(from.st_ctim.tv_sec, from.st_ctim.tv_nsec);
  to.mode = from.st_mode;
}

/// A statx may have been asked for less than that.
bool take_statx(const struct ::statx& from, SharedStat& to) {
  if ((from.stx_mask & STATX_BASIC_STATS) != STATX_BASIC_STATS) return false;
  const std::uint64_t major = from.stx_dev_major;
  const std::uint64_t minor = from.stx_dev_minor;
  to.device = (minor & 0xff) | (major & 0xfff) << 8 | (minor & ~0xffULL) << 12 | (major & ~0xfffULL) << 32;
  to.inode = from.stx_ino;
  to.size_bytes = from.stx_size;
  to.mtime_ns = nanoseconds(from.stx_mtime.tv_sec, from.stx_mtime.tv_nsec);
  to.ctime_ns = nanoseconds(from.stx_ctime.tv_sec, from.stx_ctime.tv_nsec);
  to.mode = from.stx_mode;
  return true;
}

/// What the call itself, or one fstat more, says about the file.
bool find_stat(std::uint16_t number, const Arguments& a, long result, SharedStat& stat) {
  switch (number) {
    case SYS_stat:
    case SYS_lstat:
    case SYS_newfstatat:
      take_stat(*reinterpret_cast<const KernelStat*>(output_of(number, a).begin), stat);
      return true;
    case SYS_statx:
      return take_statx(*reinterpret_cast<const struct ::statx*>(a.r8), stat);
    case SYS_open:
    case SYS_openat: {
      KernelStat now;
      if (call_unseen(SYS_fstat, {.rdi = result, .rsi = reinterpret_cast<long>(&now)}) != 0) return false;
      take_stat(now, stat);
      return true;
    }
    default:
      return false;
  }
}

std::size_t length_of(const unsigned char* text, std::size_t limit) {
  std::size_t length = 0;
  while (length < limit && text[length] != 0) ++length;
  return length;
}

bool starts_with(const unsigned char* text, const char* start) {
  while (*start != 0 && *text == static_cast<unsigned char>(*start)) ++text, ++start;
  return *start == 0;
}

/// Names whose meaning ends with the process, or changes while it runs: the supervisor must follow them at
/// once.
bool is_fleeting(const unsigned char* path) {
  if (path[0] != '/') return false;
  while (path[0] == '/') ++path;
  if (starts_with(path, "proc") && (path[4] == '/' || path[4] == 0)) return true;
  return starts_with(path, "dev/fd") || starts_with(path, "dev/std");
}

bool ends_in_deleted(const unsigned char* text, std::size_t bytes) {
  constexpr char kMark[] = " (deleted)";
  constexpr std::size_t kMarkBytes = sizeof(kMark) - 1;
  if (bytes < kMarkBytes) return false;
  for (std::size_t i = 0; i < kMarkBytes; ++i) {
    if (text[bytes - kMarkBytes + i] != static_cast<unsigned char>(kMark[i])) return false;
  }
  return true;
}

/// The folder behind a relative path, into `base`; 0 if it has no name that fits.
std::size_t find_base(int folder, unsigned char* base) {
  if (folder == AT_FDCWD) {
    const long got =
        call_seen(SYS_getcwd, {.rdi = reinterpret_cast<long>(base), .rsi = static_cast<long>(kBaseBytes)});
    return got > 1 && base[0] == '/' ? static_cast<std::size_t>(got - 1) : 0;
  }
  char link[32] = "/proc/self/fd/";
  std::size_t at = 14;
  char digits[12];
  std::size_t count = 0;
  for (auto rest = static_cast<unsigned>(folder); rest != 0 || count == 0; rest /= 10) {
    digits[count++] = static_cast<char>('0' + rest % 10);
  }
  while (count != 0) link[at++] = digits[--count];
  link[at] = 0;
  const long got = call_unseen(SYS_readlink, {.rdi = reinterpret_cast<long>(&link[0]),
                                              .rsi = reinterpret_cast<long>(base),
                                              .rdx = static_cast<long>(kBaseBytes)});
  if (got <= 0 || got >= static_cast<long>(kBaseBytes) || base[0] != '/') return 0;
  const auto bytes = static_cast<std::size_t>(got);
  base[bytes] = 0;
  return ends_in_deleted(base, bytes) ? 0 : bytes;
}

/// Takes room for a record of `bytes`; null if the supervisor has closed the ring.
unsigned char* take_room(std::size_t bytes) {
  ring::Header& header = *state.header;
  constexpr std::uint64_t kMask = ring::kRecordsBytes - 1;
  std::uint64_t head = header.head.load(std::memory_order_relaxed);
  for (;;) {
    if (header.closed.load(std::memory_order_relaxed) != 0) return nullptr;
    const std::uint64_t to_end = ring::kRecordsBytes - (head & kMask);
    const std::uint64_t filler = to_end < bytes ? to_end : 0;
    if (head + filler + bytes - header.tail.load(std::memory_order_acquire) > ring::kRecordsBytes) {
      // Full. The supervisor drains before it answers any call.
      call_seen(SYS_access, {.rdi = reinterpret_cast<long>(&ring::kDoorbell[0])});
      head = header.head.load(std::memory_order_relaxed);
      continue;
    }
    if (!header.head.compare_exchange_weak(head, head + filler + bytes, std::memory_order_relaxed)) continue;
    if (filler != 0) {
      auto* room = reinterpret_cast<Record*>(state.records + (head & kMask));
      room->image = ring::kFiller;
      room->bytes.store(static_cast<std::uint32_t>(filler), std::memory_order_release);
    }
    return state.records + ((head + filler) & kMask);
  }
}

struct Described {
  const FastRule* rule;
  std::uint64_t open_flags;
  bool follow;
  const unsigned char* path;
  std::size_t path_bytes;
  int folder;
};

/// Writes the record of a call that was made. False: it could not be described.
bool write_record(const Described& call, long result, const SharedStat* stat) {
  unsigned char base[kBaseBytes];
  std::size_t base_bytes = 0;
  if (call.path[0] != '/') {
    base_bytes = find_base(call.folder, base);
    if (base_bytes == 0 || is_fleeting(base)) return false;
  }
  const bool slash = base_bytes > 1;
  const std::size_t path_bytes = base_bytes + (slash ? 1 : 0) + call.path_bytes;
  const std::size_t head_bytes = sizeof(Record) + (stat != nullptr ? sizeof(SharedStat) : 0);
  const std::size_t bytes = ring::padded(head_bytes + path_bytes);
  unsigned char* room = take_room(bytes);
  if (room == nullptr) return false;

  auto* record = reinterpret_cast<Record*>(room);
  record->image = state.image;
  record->result = static_cast<std::int32_t>(result < 0 ? result : 0);
  record->path_bytes = static_cast<std::uint16_t>(path_bytes);
  record->access = static_cast<std::uint8_t>(call.rule->access);
  record->bits =
      static_cast<std::uint8_t>((call.follow ? ring::kFollow : 0) | (stat != nullptr ? ring::kHasStat : 0));
  record->flags = call.open_flags;
  unsigned char* next = room + sizeof(Record);
  if (stat != nullptr) {
    copy(next, stat, sizeof(SharedStat));
    next += sizeof(SharedStat);
  }
  copy(next, base, base_bytes);
  next += base_bytes;
  if (slash) *next++ = '/';
  copy(next, call.path, call.path_bytes);
  record->bytes.store(static_cast<std::uint32_t>(bytes), std::memory_order_release);
  return true;
}

constexpr bool within(const unsigned char* at, const Output& output) {
  return at >= output.begin && at < output.begin + output.bytes;
}

/// The call is made; says what it was. False: the supervisor has to see it after all.
bool describe(const FastRule& rule, const Arguments& a, long result, Described& call) {
  if (result == kErrorFault || result == kErrorNameTooLong) return true;  // no path was looked up
  call.path_bytes = length_of(call.path, limits::kPathBytes);
  if (call.path_bytes == 0) return true;  // fstat by another name, or ENOENT whatever the disk holds
  if (is_fleeting(call.path)) return false;
  const Output output = output_of(rule.number, a);
  if (call.path < output.begin && call.path + call.path_bytes >= output.begin && result >= 0) {
    state.header->lost.fetch_add(1, std::memory_order_relaxed);  // the result was written over the path
    return true;
  }
  SharedStat stat;
  const bool has_stat = !failed(result) && find_stat(rule.number, a, result, stat);
  return write_record(call, result, has_stat ? &stat : nullptr);
}

/// The ring is closed for all, or for this image.
bool must_be_seen() {
  const ring::Header& header = *state.header;
  if (header.closed.load(std::memory_order_acquire) != 0) return true;
  const std::uint32_t bit = state.image % ring::kConfinedBits;
  return (header.confined[bit / 64].load(std::memory_order_relaxed) >> (bit % 64) & 1) != 0;
}

long run_fast(const FastRule& rule, const Arguments& a) {
  Described call{&rule, 0, rule.follow, pointer(argument(a, rule.path)), 0, AT_FDCWD};
  if (rule.folder != kNoArgument) call.folder = static_cast<int>(argument(a, rule.folder));
  if (rule.flags != kNoArgument) {
    const auto flags = static_cast<std::uint64_t>(argument(a, rule.flags));
    if (rule.flag_kind == FlagKind::open) {
      if (access_of_open(flags) != Access::open_read) return call_seen(rule.number, a);
      call.open_flags = flags & 0xffffffff;
      if ((flags & O_NOFOLLOW) != 0) call.follow = false;
    } else if ((flags & AT_SYMLINK_NOFOLLOW) != 0) {
      call.follow = false;
    }
  }
  if (within(call.path, output_of(rule.number, a))) return call_seen(rule.number, a);

  ring::Header& header = *state.header;
  header.started.fetch_add(1, std::memory_order_relaxed);
  long result = call_unseen(rule.number, a);
  if (!describe(rule, a, result, call)) {
    // The access only reads: doing it again where the supervisor sees it is what a slow call would have done.
    const bool opened = rule.access == Access::open_read && !failed(result);
    if (opened) call_unseen(SYS_close, {.rdi = result});
    result = call_seen(rule.number, a);
  }
  header.finished.fetch_add(1, std::memory_order_release);
  return result;
}

}  // namespace
}  // namespace hallmark::observe::agent

std::uint64_t hallmark_agent_back[hallmark::observe::ring::kSitesPerLibrary];

extern "C" __attribute__((visibility("hidden"), used)) long hallmark_agent_hook(
    hallmark::observe::agent::Arguments* arguments, unsigned trampoline) {
  using namespace hallmark::observe::agent;
  const FastRule& rule = kFastRules[state.rules[trampoline]];
  // What the replaced mov would have done; 32 bits, zero above.
  if (state.sets_folder[trampoline]) arguments->rdi = static_cast<std::uint32_t>(AT_FDCWD);
  if (must_be_seen()) return call_seen(rule.number, *arguments);
  return run_fast(rule, *arguments);
}
