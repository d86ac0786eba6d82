#include "observe/internal/filter.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

#include "observe/internal/syscall_table.h"

namespace hallmark::observe {
namespace {

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
  std::size_t size() const { return code_.size(); }
  std::vector<sock_filter> take() { return std::move(code_); }

 private:
  void add(unsigned code, std::uint32_t value, std::uint8_t then = 0, std::uint8_t otherwise = 0) {
    code_.push_back({static_cast<std::uint16_t>(code), then, otherwise, value});
  }
  std::vector<sock_filter> code_;
};

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
    } else if (rule.number == SYS_ioctl) {
      out.load(argument_low(1));
      out.if_equal(FIONREAD, 1, 0);
      out.give(SECCOMP_RET_ALLOW);
    }
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
  const FilterOptions::StdinWatch watch = options.stdin_watch;
  if (rule.kind != CallKind::stdin_use && rule.kind != CallKind::stdin_wait) return true;
  switch (rule.number) {
    case SYS_preadv2: return true;
    case SYS_pread64:
    case SYS_preadv:
    case SYS_mmap:
    case SYS_copy_file_range: return watch == FilterOptions::StdinWatch::file;
    case SYS_read:
    case SYS_readv:
    case SYS_splice:
      return watch == FilterOptions::StdinWatch::terminal || watch == FilterOptions::StdinWatch::proxied;
    case SYS_sendfile:
      return watch == FilterOptions::StdinWatch::file || watch == FilterOptions::StdinWatch::proxied;
    default: return watch == FilterOptions::StdinWatch::proxied;
  }
}

}  // namespace

std::vector<sock_filter> build_filter(const FilterOptions& options) {
  Assembler out;
  out.load(kOffset_arch);
  out.if_equal(AUDIT_ARCH_X86_64, 1, 0);
  out.give(options.action);
  out.load(kOffset_nr);
  out.if_at_least(kX32Bit, 0, 1);
  out.give(options.action);
  out.if_equal(SYS_io_uring_setup, 0, 1);
  out.give(SECCOMP_RET_ERRNO | ENOSYS);
  for (const SyscallRule& rule : kSyscallRules) {
    if (!is_wanted(rule, options)) continue;
    Assembler body;
    emit_body(body, rule, options);
    out.if_equal(rule.number, 0, static_cast<std::uint8_t>(body.size()));
    emit_body(out, rule, options);
  }
  out.give(SECCOMP_RET_ALLOW);
  return out.take();
}

int install_filter(const std::vector<sock_filter>& filter, unsigned flags) {
  const sock_fprog program{static_cast<unsigned short>(filter.size()),
                           const_cast<sock_filter*>(filter.data())};
  const long result = ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
  return result < 0 ? -errno : static_cast<int>(result);
}

}  // namespace hallmark::observe
