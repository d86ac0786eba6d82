#include "observe/internal/filter.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "observe/internal/filter_evaluator.h"
#include "observe/internal/syscall_table.h"

namespace hallmark::observe {
namespace {

constexpr std::uint64_t kMinusHundred = static_cast<std::uint32_t>(AT_FDCWD);

bool is_always_watched(const SyscallRule& rule) {
  return rule.kind != CallKind::stdin_use && rule.kind != CallKind::stdin_wait &&
         rule.kind != CallKind::confine;
}

class FilterTest : public testing::Test {
 protected:
  FilterTest() { options.action = SECCOMP_RET_USER_NOTIF; }

  std::uint32_t asked(int number, std::vector<std::uint64_t> arguments = {}, std::uint64_t from = 0x401000,
                      std::uint32_t architecture = AUDIT_ARCH_X86_64) {
    seccomp_data call{};
    call.nr = number;
    call.arch = architecture;
    call.instruction_pointer = from;
    for (std::size_t i = 0; i < arguments.size(); ++i) call.args[i] = arguments[i];
    return evaluate_filter(build_filter(options), call);
  }

  FilterOptions options;
};

TEST_F(FilterTest, EveryWatchedCallIsReportedAndOthersPass) {
  for (const SyscallRule& rule : kSyscallRules) {
    if (!is_always_watched(rule)) continue;
    EXPECT_EQ(asked(rule.number, {1, 2, 3, 4, 5, 6}), SECCOMP_RET_USER_NOTIF) << rule.name;
  }
  for (const int number :
       {SYS_write, SYS_close, SYS_futex, SYS_mmap, SYS_read, SYS_poll, SYS_clone, SYS_exit_group}) {
    EXPECT_EQ(asked(number), SECCOMP_RET_ALLOW) << number;
  }
}

TEST_F(FilterTest, EveryOtherNumberPasses) {
  for (const bool hybrid : {false, true}) {
    for (const auto watch : {FilterOptions::StdinWatch::unwatched, FilterOptions::StdinWatch::proxied}) {
      options.stdin_watch = watch;
      if (hybrid) options.stub = StubPage{0x7e9000000000, 4096};
      for (int number = 0; number < 1024; ++number) {
        if (rule_of(static_cast<std::uint64_t>(number)) != nullptr || number == SYS_io_uring_setup) continue;
        EXPECT_EQ(asked(number), SECCOMP_RET_ALLOW) << number;
      }
    }
  }
}

TEST_F(FilterTest, IsShort) {
  EXPECT_LE(build_filter(options).size(), 160u);
  options.stub = StubPage{0x7e9000000000, 4096};
  options.stdin_watch = FilterOptions::StdinWatch::proxied;
  EXPECT_LE(build_filter(options).size(), 384u);
}

TEST_F(FilterTest, NoNumberIsListedTwice) {
  for (std::size_t i = 0; i < kSyscallRules.size(); ++i) {
    ASSERT_EQ(rule_of(kSyscallRules[i].number), &kSyscallRules[i]) << kSyscallRules[i].name;
  }
}

TEST_F(FilterTest, OtherArchitecturesAndX32AreReported) {
  EXPECT_EQ(asked(SYS_write, {}, 0, AUDIT_ARCH_I386), SECCOMP_RET_USER_NOTIF);
  EXPECT_EQ(asked(0x40000000 | SYS_write), SECCOMP_RET_USER_NOTIF);
}

TEST_F(FilterTest, RingsAreRefused) {
  EXPECT_EQ(asked(SYS_io_uring_setup), SECCOMP_RET_ERRNO | ENOSYS);
}

TEST_F(FilterTest, FstatByAnotherNamePasses) {
  EXPECT_EQ(asked(SYS_newfstatat, {3, 0, 0, AT_EMPTY_PATH}), SECCOMP_RET_ALLOW);
  EXPECT_EQ(asked(SYS_statx, {3, 0, AT_EMPTY_PATH | AT_STATX_DONT_SYNC}), SECCOMP_RET_ALLOW);
  EXPECT_EQ(asked(SYS_newfstatat, {3, 0, 0, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW}), SECCOMP_RET_USER_NOTIF);
  EXPECT_EQ(asked(SYS_newfstatat, {kMinusHundred, 0, 0, AT_EMPTY_PATH}), SECCOMP_RET_USER_NOTIF);
  EXPECT_EQ(asked(SYS_newfstatat, {3, 0, 0, 0}), SECCOMP_RET_USER_NOTIF);
  EXPECT_EQ(asked(SYS_fchownat, {3, 0, 0, 0, AT_EMPTY_PATH}), SECCOMP_RET_USER_NOTIF);
  options.skip_fstat = false;
  EXPECT_EQ(asked(SYS_newfstatat, {3, 0, 0, AT_EMPTY_PATH}), SECCOMP_RET_USER_NOTIF);
}

TEST_F(FilterTest, StubPagePassesFastCallsOnly) {
  options.stub = StubPage{0x7e9000000000, 4096};
  for (const SyscallRule& rule : kSyscallRules) {
    if (!is_always_watched(rule)) continue;
    const std::vector<std::uint64_t> arguments{1, 2, 3, 4, 5, 6};
    const std::uint32_t inside = rule.fast ? SECCOMP_RET_ALLOW : SECCOMP_RET_USER_NOTIF;
    EXPECT_EQ(asked(rule.number, arguments, 0x7e9000000000), inside) << rule.name;
    EXPECT_EQ(asked(rule.number, arguments, 0x7e9000000fff), inside) << rule.name;
    for (const std::uint64_t outside : {0x7e9000001000ull, 0x7e8ffffffffeull, 0x7f9000000000ull, 0x0ull}) {
      EXPECT_EQ(asked(rule.number, arguments, outside), SECCOMP_RET_USER_NOTIF) << rule.name;
    }
  }
}

TEST_F(FilterTest, ConfinementIsReportedWhereAnAgentMustKnow) {
  EXPECT_EQ(asked(SYS_seccomp, {SECCOMP_SET_MODE_FILTER}), SECCOMP_RET_ALLOW);
  options.stub = StubPage{0x7e9000000000, 4096};
  EXPECT_EQ(asked(SYS_seccomp, {SECCOMP_SET_MODE_FILTER}), SECCOMP_RET_USER_NOTIF);
  EXPECT_EQ(asked(SYS_seccomp, {SECCOMP_GET_ACTION_AVAIL}), SECCOMP_RET_ALLOW);
  EXPECT_EQ(asked(SYS_prctl, {PR_SET_SECCOMP}), SECCOMP_RET_USER_NOTIF);
  EXPECT_EQ(asked(SYS_prctl, {PR_SET_NAME}), SECCOMP_RET_ALLOW);
}

TEST_F(FilterTest, MemoryOfTheCommandsOwnPasses) {
  EXPECT_EQ(asked(SYS_shmget, {IPC_PRIVATE}), SECCOMP_RET_ALLOW);
  EXPECT_EQ(asked(SYS_shmget, {7}), SECCOMP_RET_USER_NOTIF);
  EXPECT_EQ(asked(SYS_mq_open, {0}), SECCOMP_RET_USER_NOTIF);
}

TEST_F(FilterTest, SendWithoutAddressPasses) {
  EXPECT_EQ(asked(SYS_sendto, {3, 1, 1, 0, 0, 0}), SECCOMP_RET_ALLOW);
  EXPECT_EQ(asked(SYS_sendto, {3, 1, 1, 0, 0x100000000, 16}), SECCOMP_RET_USER_NOTIF);
  EXPECT_EQ(asked(SYS_sendto, {3, 1, 1, 0, 16, 16}), SECCOMP_RET_USER_NOTIF);
}

TEST_F(FilterTest, StdinIsWatchedAsAsked) {
  using Watch = FilterOptions::StdinWatch;
  const auto reported = [this](Watch watch, int number, std::vector<std::uint64_t> arguments) {
    options.stdin_watch = watch;
    return asked(number, std::move(arguments)) == SECCOMP_RET_USER_NOTIF;
  };
  EXPECT_FALSE(reported(Watch::unwatched, SYS_read, {0}));
  EXPECT_TRUE(reported(Watch::terminal, SYS_read, {0}));
  EXPECT_FALSE(reported(Watch::terminal, SYS_read, {3}));
  EXPECT_TRUE(reported(Watch::terminal, SYS_dup, {0}));
  EXPECT_TRUE(reported(Watch::terminal, SYS_dup2, {0, 7}));
  EXPECT_FALSE(reported(Watch::terminal, SYS_dup2, {7, 0}));
  EXPECT_TRUE(reported(Watch::terminal, SYS_fcntl, {0, F_DUPFD_CLOEXEC, 0}));
  EXPECT_FALSE(reported(Watch::terminal, SYS_fcntl, {0, F_DUPFD, 10})) << "shells put it away with this";
  EXPECT_FALSE(reported(Watch::unwatched, SYS_dup, {0}));
  EXPECT_FALSE(reported(Watch::proxied, SYS_recvfrom, {0})) << "a pipe has no messages";
  EXPECT_TRUE(reported(Watch::other, SYS_recvfrom, {0}));
  EXPECT_TRUE(reported(Watch::other, SYS_recvmsg, {0}));
  EXPECT_TRUE(reported(Watch::other, SYS_read, {0}));
  EXPECT_TRUE(reported(Watch::other, SYS_fcntl, {0, F_DUPFD, 10}));
  EXPECT_FALSE(reported(Watch::other, SYS_poll, {1}));
  EXPECT_TRUE(reported(Watch::file, SYS_dup3, {0, 7}));
  EXPECT_TRUE(reported(Watch::file, SYS_fcntl, {0, F_DUPFD, 3}));
  EXPECT_FALSE(reported(Watch::file, SYS_fcntl, {0, F_DUPFD, 10}));
  EXPECT_TRUE(reported(Watch::proxied, SYS_dup, {0}));
  EXPECT_TRUE(reported(Watch::proxied, SYS_poll, {1}));
  EXPECT_TRUE(reported(Watch::proxied, SYS_fcntl, {0, F_DUPFD_CLOEXEC}));
  EXPECT_FALSE(reported(Watch::proxied, SYS_fcntl, {0, F_GETFL}));
  EXPECT_FALSE(reported(Watch::proxied, SYS_fcntl, {5, F_DUPFD}));
  EXPECT_TRUE(reported(Watch::proxied, SYS_ioctl, {0, FIONREAD}));
  EXPECT_FALSE(reported(Watch::proxied, SYS_ioctl, {0, TCGETS}));
  EXPECT_TRUE(reported(Watch::proxied, SYS_sendfile, {1, 0}));
  EXPECT_FALSE(reported(Watch::file, SYS_read, {0}));
  EXPECT_TRUE(reported(Watch::file, SYS_pread64, {0}));
  EXPECT_TRUE(reported(Watch::file, SYS_mmap, {0, 1, 1, MAP_PRIVATE, 0}));
  EXPECT_FALSE(reported(Watch::file, SYS_mmap, {0, 1, 1, MAP_PRIVATE | MAP_ANONYMOUS, 0}));
}

}  // namespace
}  // namespace hallmark::observe
