#include "observe/internal/filter.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstddef>
#include <initializer_list>

#include "observe/internal/syscall_table.h"

namespace hallmark::observe {
namespace {

using Watch = FilterOptions::StdinWatch;

/// While a command gets another stdin, a shell puts its own away with F_DUPFD and this number or a higher
/// one, and reads nothing from there.
constexpr std::uint32_t kFirstShellDescriptor = 10;
constexpr std::uint32_t kX32Bit = 0x40000000;
constexpr std::uint32_t kStatxSyncFlags = 0x6000;  // AT_STATX_FORCE_SYNC | AT_STATX_DONT_SYNC
constexpr std::uint32_t kOffset_nr = offsetof(seccomp_data, nr);
constexpr std::uint32_t kOffset_arch = offsetof(seccomp_data, arch);
constexpr std::uint32_t kOffset_ip = offsetof(seccomp_data, instruction_pointer);

constexpr std::uint32_t argument_low(unsigned index) {
  return static_cast<std::uint32_t>(offsetof(seccomp_data, args) + 8u * index);
}
constexpr std::uint32_t argument_high(unsigned index) {
  return argument_low(index) + 4;
}

class Assembler {
 public:
  void load(std::uint32_t offset) { add(BPF_LD | BPF_W | BPF_ABS, offset); }
  void mask(std::uint32_t bits) { add(BPF_ALU | BPF_AND | BPF_K, bits); }
  void give(std::uint32_t action) { add(BPF_RET | BPF_K, action); }
  /// Jumps relative to the next instruction.
  void if_equal(std::uint32_t value, std::uint8_t then, std::uint8_t otherwise) {
    add(BPF_JMP | BPF_JEQ | BPF_K, value, then, otherwise);
  }
  void if_at_least(std::uint32_t value, std::uint8_t then, std::uint8_t otherwise) {
    add(BPF_JMP | BPF_JGE | BPF_K, value, then, otherwise);
  }
  void jump(std::uint32_t distance) { add(BPF_JMP | BPF_JA, distance); }
  std::size_t size() const { return code_.size(); }
  std::vector<sock_filter> take() { return std::move(code_); }

 private:
  void add(unsigned code, std::uint32_t value, std::uint8_t then = 0, std::uint8_t otherwise = 0) {
    code_.push_back({static_cast<std::uint16_t>(code), then, otherwise, value});
  }
  std::vector<sock_filter> code_;
};

/// System V's calls with the key IPC_PRIVATE make something that only the makers' children can know.
bool is_private_by_key(const SyscallRule& rule) {
  return rule.number == SYS_shmget || rule.number == SYS_msgget || rule.number == SYS_semget;
}

/// Body of a call, entered when its number matched; every path through it ends in a return.
void emit_body(Assembler& out, const SyscallRule& rule, const FilterOptions& options) {
  if (rule.fast && options.stub) {
    // Page-aligned and smaller than 4 GiB: the high word is equal, the low word in range.
    const auto low = static_cast<std::uint32_t>(options.stub->address);
    out.load(kOffset_ip + 4);
    out.if_equal(static_cast<std::uint32_t>(options.stub->address >> 32), 0, 4);
    out.load(kOffset_ip);
    out.if_at_least(low, 0, 2);
    out.if_at_least(low + options.stub->bytes, 1, 0);
    out.give(SECCOMP_RET_ALLOW);
  }
  const bool is_fstat = rule.number == SYS_newfstatat || rule.number == SYS_statx;
  if (is_fstat && options.skip_fstat) {
    out.load(argument_low(static_cast<unsigned>(rule.folder)));
    out.if_at_least(0x80000000u, 4, 0);  // AT_FDCWD and other negative numbers
    out.load(argument_low(static_cast<unsigned>(rule.flags)));
    out.mask(~kStatxSyncFlags);
    out.if_equal(AT_EMPTY_PATH, 0, 1);
    out.give(SECCOMP_RET_ALLOW);
  }
  if (rule.kind == CallKind::send_to) {
    out.load(argument_low(4));
    out.if_equal(0, 0, 3);
    out.load(argument_high(4));
    out.if_equal(0, 0, 1);
    out.give(SECCOMP_RET_ALLOW);
  }
  if (rule.kind == CallKind::stdin_use) {
    out.load(argument_low(static_cast<unsigned>(rule.folder)));
    out.if_equal(0, 1, 0);
    out.give(SECCOMP_RET_ALLOW);
    if (rule.number == SYS_mmap) {
      out.load(argument_low(3));
      out.mask(MAP_ANONYMOUS);
      out.if_equal(0, 1, 0);
      out.give(SECCOMP_RET_ALLOW);
    } else if (rule.number == SYS_fcntl) {
      out.load(argument_low(1));
      out.if_equal(F_DUPFD, 2, 0);
      out.if_equal(F_DUPFD_CLOEXEC, 1, 0);
      out.give(SECCOMP_RET_ALLOW);
      if (options.stdin_watch == Watch::terminal || options.stdin_watch == Watch::file) {
        out.load(argument_low(2));
        out.if_at_least(kFirstShellDescriptor, 0, 1);
        out.give(SECCOMP_RET_ALLOW);
      }
    } else if (rule.number == SYS_ioctl) {
      out.load(argument_low(1));
      out.if_equal(FIONREAD, 1, 0);
      out.give(SECCOMP_RET_ALLOW);
    }
  }
  if (rule.kind == CallKind::channel && is_private_by_key(rule)) {
    out.load(argument_low(0));
    out.if_equal(IPC_PRIVATE, 0, 1);
    out.give(SECCOMP_RET_ALLOW);
  }
  if (rule.kind == CallKind::confine) {
    out.load(argument_low(0));
    if (rule.number == SYS_prctl) {
      out.if_equal(PR_SET_SECCOMP, 1, 0);
    } else {
      out.if_at_least(SECCOMP_SET_MODE_FILTER + 1, 0, 1);  // the others only ask
    }
    out.give(SECCOMP_RET_ALLOW);
  }
  out.give(options.action);
}

bool is_wanted(const SyscallRule& rule, const FilterOptions& options) {
  if (rule.kind == CallKind::confine) return options.stub.has_value();
  if (rule.kind != CallKind::stdin_use && rule.kind != CallKind::stdin_wait) return true;
  const Watch watch = options.stdin_watch;
  const auto is_any_of = [watch](std::initializer_list<Watch> watches) {
    return std::find(watches.begin(), watches.end(), watch) != watches.end();
  };
  switch (rule.number) {
    case SYS_preadv2:
      return true;
    case SYS_dup:
    case SYS_dup2:
    case SYS_dup3:
    case SYS_fcntl:
      // What is read from a copy is not seen.
      return watch != Watch::unwatched;
    case SYS_pread64:
    case SYS_preadv:
    case SYS_mmap:
    case SYS_copy_file_range:
      return is_any_of({Watch::file, Watch::other});
    case SYS_read:
    case SYS_readv:
    case SYS_splice:
      return is_any_of({Watch::terminal, Watch::proxied, Watch::other});
    case SYS_sendfile:
      return is_any_of({Watch::file, Watch::proxied, Watch::other});
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_recvmmsg:
      return watch == Watch::other;
    case SYS_tee:
      return is_any_of({Watch::proxied, Watch::other});
    default:  // what waits for it, and ioctl
      return watch == Watch::proxied;
  }
}

/// A program piece for a system call number; pieces that need no body of their own are shared.
struct Piece {
  enum class Kind : std::uint8_t { allow, refuse, report, shared_fast, own };
  Kind kind = Kind::allow;
  const SyscallRule* rule = nullptr;  // of own
  bool operator==(const Piece&) const = default;
};

bool has_own_body(const SyscallRule& rule, const FilterOptions& options) {
  const bool is_fstat = rule.number == SYS_newfstatat || rule.number == SYS_statx;
  return (is_fstat && options.skip_fstat) || rule.kind == CallKind::send_to ||
         rule.kind == CallKind::stdin_use || rule.kind == CallKind::confine ||
         (rule.kind == CallKind::channel && is_private_by_key(rule));
}

Piece piece_of(std::uint32_t number, const FilterOptions& options) {
  if (number == SYS_io_uring_setup) return {Piece::Kind::refuse, nullptr};
  const SyscallRule* rule = rule_of(number);
  if (rule == nullptr || !is_wanted(*rule, options)) return {};
  if (has_own_body(*rule, options)) return {Piece::Kind::own, rule};
  return {rule->fast && options.stub ? Piece::Kind::shared_fast : Piece::Kind::report, nullptr};
}

/// Decides by number, with a binary search: the kernel runs the program once for every number there is when
/// it is installed (to learn which always pass), so that a chain of comparisons would cost a tenth of a
/// millisecond each time.
class Dispatcher {
 public:
  explicit Dispatcher(const FilterOptions& options) : options_(options) {
    for (std::uint32_t number = 0; number <= kSyscallNumbers; ++number) {
      const Piece piece = number == kSyscallNumbers ? Piece{} : piece_of(number, options);
      const std::size_t index = index_of(piece);
      if (ranges_.empty() || ranges_.back().piece != index) ranges_.push_back({number, index});
    }
  }

  void emit(Assembler& out) {
    const std::size_t nodes = ranges_.size() - 1;  // inner nodes of a binary tree
    search(out, 0, ranges_.size(), nodes);
    // What the search jumps to: one instruction each, near enough for an 8-bit distance.
    std::vector<Assembler> bodies(pieces_.size());
    for (std::size_t i = 0; i < pieces_.size(); ++i) emit_piece(bodies[i], pieces_[i]);
    std::size_t behind = 0;
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      if (bodies[i].size() == 1) {
        emit_piece(out, pieces_[i]);
      } else {
        out.jump(static_cast<std::uint32_t>(pieces_.size() - 1 - i + behind));
        behind += bodies[i].size();
      }
    }
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      if (bodies[i].size() != 1) emit_piece(out, pieces_[i]);
    }
  }

 private:
  struct Range {
    std::uint32_t first;  // up to the next range's
    std::size_t piece;
  };

  std::size_t index_of(const Piece& piece) {
    const auto found = std::find(pieces_.begin(), pieces_.end(), piece);
    if (found != pieces_.end()) return static_cast<std::size_t>(found - pieces_.begin());
    pieces_.push_back(piece);
    return pieces_.size() - 1;
  }

  /// Emits the search among ranges [from, to), `left` instructions of the whole search included from here to
  /// its end.
  void search(Assembler& out, std::size_t from, std::size_t to, std::size_t left) const {
    const std::size_t middle = from + (to - from) / 2;
    const std::size_t below = middle - from - 1;  // inner nodes of the lower half, emitted first
    const auto distance = [&](std::size_t begin, std::size_t end, std::size_t nodes_between) {
      const std::size_t near = end - begin == 1 ? left - 1 + ranges_[begin].piece : nodes_between;
      assert(near <= 255);
      return static_cast<std::uint8_t>(near);
    };
    out.if_at_least(ranges_[middle].first, distance(middle, to, below), distance(from, middle, 0));
    if (middle - from > 1) search(out, from, middle, left - 1);
    if (to - middle > 1) search(out, middle, to, left - 1 - below);
  }

  void emit_piece(Assembler& out, const Piece& piece) const {
    switch (piece.kind) {
      case Piece::Kind::allow:
        return out.give(SECCOMP_RET_ALLOW);
      case Piece::Kind::refuse:
        return out.give(SECCOMP_RET_ERRNO | ENOSYS);
      case Piece::Kind::report:
        return out.give(options_.action);
      case Piece::Kind::shared_fast:
        return emit_body(out, *rule_of(SYS_openat), options_);
      case Piece::Kind::own:
        return emit_body(out, *piece.rule, options_);
    }
  }

  const FilterOptions& options_;
  std::vector<Piece> pieces_;
  std::vector<Range> ranges_;
};

}  // namespace

std::vector<sock_filter> build_filter(const FilterOptions& options) {
  Assembler out;
  out.load(kOffset_arch);
  out.if_equal(AUDIT_ARCH_X86_64, 1, 0);
  out.give(options.action);
  out.load(kOffset_nr);
  out.if_at_least(kX32Bit, 0, 1);
  out.give(options.action);
  Dispatcher(options).emit(out);
  return out.take();
}

int install_filter(const std::vector<sock_filter>& filter, unsigned flags) {
  const sock_fprog program{static_cast<unsigned short>(filter.size()),
                           const_cast<sock_filter*>(filter.data())};
  const long result = ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
  return result < 0 ? -errno : static_cast<int>(result);
}

}  // namespace hallmark::observe
