// The one table of the system calls that hallmark watches: which argument is what, and what the call does to
// a path.
//
// The BPF filter (filter.h), every tier and the hybrid agent are driven by it: a call that is missing here is
// seen by nobody. Header-only and constexpr, without the C++ library beyond <array>, so that the agent (a
// freestanding shared object) can use it as it is. x86-64 only.
#pragma once

#include <sys/syscall.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "observe/internal/event.h"

namespace hallmark::observe {

/// How the argument `flags` of a rule is to be read.
enum class FlagKind : std::uint8_t {
  none,
  open,       ///< O_*: decides between open_read and open_write; O_NOFOLLOW
  open_how,   ///< pointer to struct open_how, whose first word is O_*
  creat,      ///< no argument: O_CREAT | O_WRONLY | O_TRUNC
  at,         ///< AT_SYMLINK_NOFOLLOW, AT_EMPTY_PATH
  at_follow,  ///< AT_SYMLINK_FOLLOW, AT_EMPTY_PATH: a link is not followed without it
  unlink,     ///< AT_REMOVEDIR
  rename,     ///< RENAME_*
  length,     ///< of truncate: 0 makes the file whole
  watch,      ///< IN_DONT_FOLLOW
};

/// What kind of call it is. Only `path` calls have path arguments.
enum class CallKind : std::uint8_t {
  path,
  descriptor,     ///< argument `folder` is the open file or folder
  list,           ///< getdents: argument 0 is the open folder
  address,        ///< connect, bind: argument 1 is a socket address, 2 its length
  send_to,        ///< argument 4 is an address (or null), 5 its length
  send_message,   ///< argument 1 is a struct msghdr
  send_messages,  ///< argument 1 is an array of struct mmsghdr, 2 their number
  stdin_use,  ///< takes bytes from, or copies, the descriptor in argument `folder`; watched if that is 0, see
              ///< filter.h
  stdin_wait,  ///< may wait for descriptor 0 among others
  confine,     ///< seccomp: watched only where an agent has to know (hybrid)
  channel,     ///< data of other processes that no path leads to; argument 0: see the filter
  beyond,      ///< mounts and file handles: what it brings into view cannot be followed
};

inline constexpr std::int8_t kNoArgument = -1;

struct SyscallRule {
  std::uint16_t number = 0;
  const char* name = nullptr;
  CallKind kind = CallKind::path;
  Access access = Access::look;      ///< for FlagKind::open*: open_read, unless the flags say more
  bool follow = true;                ///< a link in the last component, unless the flags say otherwise
  std::int8_t folder = kNoArgument;  ///< position of the folder descriptor; none: the working folder
  std::int8_t path = kNoArgument;    ///< position of the path
  std::int8_t second_folder = kNoArgument;
  std::int8_t second_path = kNoArgument;
  std::int8_t flags = kNoArgument;
  FlagKind flag_kind = FlagKind::none;
  /// May the agent carry it out by itself? Only if the access turns out not to be a change, and never for
  /// `list`.
  bool fast = false;
};

/// Numbers that older C library headers do not know.
inline constexpr std::uint16_t kSysFchmodat2 = 452;
inline constexpr std::uint16_t kSysSetxattrat = 463;
inline constexpr std::uint16_t kSysGetxattrat = 464;
inline constexpr std::uint16_t kSysListxattrat = 465;
inline constexpr std::uint16_t kSysRemovexattrat = 466;
inline constexpr std::uint16_t kSysOpenTreeAttr = 467;
inline constexpr std::uint16_t kSysFileGetattr = 468;
inline constexpr std::uint16_t kSysFileSetattr = 469;

namespace table {

inline constexpr int kNone = kNoArgument;

consteval SyscallRule one(int number, const char* name, Access access, bool follow, int folder, int path,
                          int flags = kNone, FlagKind flag_kind = FlagKind::none, bool fast = false) {
  return {static_cast<std::uint16_t>(number),
          name,
          CallKind::path,
          access,
          follow,
          static_cast<std::int8_t>(folder),
          static_cast<std::int8_t>(path),
          kNone,
          kNone,
          static_cast<std::int8_t>(flags),
          flag_kind,
          fast};
}

consteval SyscallRule two(int number, const char* name, Access access, int folder, int path,
                          int second_folder, int second_path, int flags = kNone,
                          FlagKind flag_kind = FlagKind::none) {
  return {static_cast<std::uint16_t>(number),
          name,
          CallKind::path,
          access,
          false,
          static_cast<std::int8_t>(folder),
          static_cast<std::int8_t>(path),
          static_cast<std::int8_t>(second_folder),
          static_cast<std::int8_t>(second_path),
          static_cast<std::int8_t>(flags),
          flag_kind,
          false};
}

consteval SyscallRule other(int number, const char* name, CallKind kind, int folder = kNone) {
  SyscallRule rule{static_cast<std::uint16_t>(number), name, kind};
  rule.folder = static_cast<std::int8_t>(folder);
  if (kind == CallKind::list) rule.access = Access::list;
  if (kind == CallKind::descriptor) rule.access = Access::set_attribute;
  return rule;
}

}  // namespace table

inline constexpr bool kFast = true;

// clang-format off
/// The frequent ones first: the filter tests them in this order.
inline constexpr std::array kSyscallRules = {
  table::one(SYS_openat,       "openat",       Access::open_read, true,  0, 1, 2, FlagKind::open, kFast),
  table::one(SYS_newfstatat,   "newfstatat",   Access::look,      true,  0, 1, 3, FlagKind::at,   kFast),
  table::one(SYS_readlink,     "readlink",     Access::read_link, false, -1, 0, -1, FlagKind::none, kFast),
  table::one(SYS_access,       "access",       Access::look,      true,  -1, 0, -1, FlagKind::none, kFast),
  table::one(SYS_stat,         "stat",         Access::look,      true,  -1, 0, -1, FlagKind::none, kFast),
  table::one(SYS_lstat,        "lstat",        Access::look,      false, -1, 0, -1, FlagKind::none, kFast),
  table::one(SYS_open,         "open",         Access::open_read, true,  -1, 0, 1, FlagKind::open, kFast),
  table::one(SYS_statx,        "statx",        Access::look,      true,  0, 1, 2, FlagKind::at,   kFast),
  table::one(SYS_readlinkat,   "readlinkat",   Access::read_link, false, 0, 1, -1, FlagKind::none, kFast),
  table::one(SYS_faccessat,    "faccessat",    Access::look,      true,  0, 1, -1, FlagKind::none, kFast),
  table::one(SYS_faccessat2,   "faccessat2",   Access::look,      true,  0, 1, 3, FlagKind::at,   kFast),
  table::one(SYS_statfs,       "statfs",       Access::look,      true,  -1, 0, -1, FlagKind::none, kFast),
  table::one(SYS_getxattr,     "getxattr",     Access::look,      true,  -1, 0, -1, FlagKind::none, kFast),
  table::one(SYS_lgetxattr,    "lgetxattr",    Access::look,      false, -1, 0, -1, FlagKind::none, kFast),
  table::one(SYS_listxattr,    "listxattr",    Access::look,      true,  -1, 0, -1, FlagKind::none, kFast),
  table::one(SYS_llistxattr,   "llistxattr",   Access::look,      false, -1, 0, -1, FlagKind::none, kFast),
  table::one(SYS_execve,       "execve",       Access::execute,   true,  -1, 0),
  table::one(SYS_execveat,     "execveat",     Access::execute,   true,  0, 1, 4, FlagKind::at),
  table::one(SYS_openat2,      "openat2",      Access::open_read, true,  0, 1, 2, FlagKind::open_how),
  table::one(SYS_creat,        "creat",        Access::open_write, true, -1, 0, -1, FlagKind::creat),
  table::one(SYS_unlink,       "unlink",       Access::remove,    false, -1, 0),
  table::one(SYS_unlinkat,     "unlinkat",     Access::remove,    false, 0, 1, 2, FlagKind::unlink),
  table::one(SYS_rmdir,        "rmdir",        Access::remove_folder, false, -1, 0),
  table::two(SYS_rename,       "rename",       Access::rename,    -1, 0, -1, 1),
  table::two(SYS_renameat,     "renameat",     Access::rename,    0, 1, 2, 3),
  table::two(SYS_renameat2,    "renameat2",    Access::rename,    0, 1, 2, 3, 4, FlagKind::rename),
  table::two(SYS_link,         "link",         Access::hard_link, -1, 0, -1, 1),
  table::two(SYS_linkat,       "linkat",       Access::hard_link, 0, 1, 2, 3, 4, FlagKind::at_follow),
  table::one(SYS_symlink,      "symlink",      Access::make_link, false, -1, 1),
  table::one(SYS_symlinkat,    "symlinkat",    Access::make_link, false, 1, 2),
  table::one(SYS_mkdir,        "mkdir",        Access::make_folder, false, -1, 0),
  table::one(SYS_mkdirat,      "mkdirat",      Access::make_folder, false, 0, 1),
  table::one(SYS_mknod,        "mknod",        Access::make_node, false, -1, 0),
  table::one(SYS_mknodat,      "mknodat",      Access::make_node, false, 0, 1),
  table::one(SYS_truncate,     "truncate",     Access::truncate,  true,  -1, 0, 1, FlagKind::length),
  table::one(SYS_chmod,        "chmod",        Access::set_attribute, true, -1, 0),
  table::one(SYS_fchmodat,     "fchmodat",     Access::set_attribute, true, 0, 1),
  table::one(kSysFchmodat2,    "fchmodat2",    Access::set_attribute, true, 0, 1, 3, FlagKind::at),
  table::one(SYS_chown,        "chown",        Access::set_attribute, true, -1, 0),
  table::one(SYS_lchown,       "lchown",       Access::set_attribute, false, -1, 0),
  table::one(SYS_fchownat,     "fchownat",     Access::set_attribute, true, 0, 1, 4, FlagKind::at),
  table::one(SYS_utime,        "utime",        Access::set_attribute, true, -1, 0),
  table::one(SYS_utimes,       "utimes",       Access::set_attribute, true, -1, 0),
  table::one(SYS_futimesat,    "futimesat",    Access::set_attribute, true, 0, 1),
  table::one(SYS_utimensat,    "utimensat",    Access::set_attribute, true, 0, 1, 3, FlagKind::at),
  table::one(SYS_setxattr,     "setxattr",     Access::set_attribute, true, -1, 0),
  table::one(SYS_lsetxattr,    "lsetxattr",    Access::set_attribute, false, -1, 0),
  table::one(SYS_removexattr,  "removexattr",  Access::set_attribute, true, -1, 0),
  table::one(SYS_lremovexattr, "lremovexattr", Access::set_attribute, false, -1, 0),
  table::one(kSysSetxattrat,   "setxattrat",   Access::set_attribute, true, 0, 1, 2, FlagKind::at),
  table::one(kSysRemovexattrat, "removexattrat", Access::set_attribute, true, 0, 1, 2, FlagKind::at),
  table::one(kSysFileSetattr,  "file_setattr", Access::set_attribute, true, 0, 1, 4, FlagKind::at),
  table::one(kSysGetxattrat,   "getxattrat",   Access::look,      true,  0, 1, 2, FlagKind::at),
  table::one(kSysListxattrat,  "listxattrat",  Access::look,      true,  0, 1, 2, FlagKind::at),
  table::one(kSysFileGetattr,  "file_getattr", Access::look,      true,  0, 1, 4, FlagKind::at),
  table::other(SYS_fchmod,     "fchmod",       CallKind::descriptor, 0),
  table::other(SYS_fchown,     "fchown",       CallKind::descriptor, 0),
  table::other(SYS_fsetxattr,  "fsetxattr",    CallKind::descriptor, 0),
  table::other(SYS_fremovexattr, "fremovexattr", CallKind::descriptor, 0),
  table::one(SYS_chdir,        "chdir",        Access::look,      true,  -1, 0),
  table::one(SYS_chroot,       "chroot",       Access::look,      true,  -1, 0),
  table::one(SYS_name_to_handle_at, "name_to_handle_at", Access::look, false, 0, 1, 4, FlagKind::at_follow),
  table::one(SYS_inotify_add_watch, "inotify_add_watch", Access::look, true, -1, 1, 2, FlagKind::watch),
  table::one(SYS_fanotify_mark, "fanotify_mark", Access::look,    true,  3, 4),
  table::other(SYS_getdents64, "getdents64",   CallKind::list, 0),
  table::other(SYS_getdents,   "getdents",     CallKind::list, 0),
  table::other(SYS_connect,    "connect",      CallKind::address),
  table::other(SYS_bind,       "bind",         CallKind::address),
  table::other(SYS_sendto,     "sendto",       CallKind::send_to),
  table::other(SYS_sendmsg,    "sendmsg",      CallKind::send_message),
  table::other(SYS_sendmmsg,   "sendmmsg",     CallKind::send_messages),
  table::other(SYS_read,       "read",         CallKind::stdin_use, 0),
  table::other(SYS_readv,      "readv",        CallKind::stdin_use, 0),
  table::other(SYS_splice,     "splice",       CallKind::stdin_use, 0),
  table::other(SYS_tee,        "tee",          CallKind::stdin_use, 0),
  table::other(SYS_sendfile,   "sendfile",     CallKind::stdin_use, 1),
  table::other(SYS_dup,        "dup",          CallKind::stdin_use, 0),
  table::other(SYS_dup2,       "dup2",         CallKind::stdin_use, 0),
  table::other(SYS_dup3,       "dup3",         CallKind::stdin_use, 0),
  table::other(SYS_fcntl,      "fcntl",        CallKind::stdin_use, 0),
  table::other(SYS_ioctl,      "ioctl",        CallKind::stdin_use, 0),
  table::other(SYS_pread64,    "pread64",      CallKind::stdin_use, 0),
  table::other(SYS_preadv,     "preadv",       CallKind::stdin_use, 0),
  table::other(SYS_preadv2,    "preadv2",      CallKind::stdin_use, 0),
  table::other(SYS_mmap,       "mmap",         CallKind::stdin_use, 4),
  table::other(SYS_copy_file_range, "copy_file_range", CallKind::stdin_use, 0),
  table::other(SYS_poll,       "poll",         CallKind::stdin_wait),
  table::other(SYS_ppoll,      "ppoll",        CallKind::stdin_wait),
  table::other(SYS_select,     "select",       CallKind::stdin_wait),
  table::other(SYS_pselect6,   "pselect6",     CallKind::stdin_wait),
  table::other(SYS_epoll_ctl,  "epoll_ctl",    CallKind::stdin_use, 2),
  table::other(SYS_recvfrom,   "recvfrom",     CallKind::stdin_use, 0),
  table::other(SYS_recvmsg,    "recvmsg",      CallKind::stdin_use, 0),
  table::other(SYS_recvmmsg,   "recvmmsg",     CallKind::stdin_use, 0),
  table::other(SYS_shmget,     "shmget",       CallKind::channel),
  table::other(SYS_msgget,     "msgget",       CallKind::channel),
  table::other(SYS_semget,     "semget",       CallKind::channel),
  table::other(SYS_mq_open,    "mq_open",      CallKind::channel),
  table::other(SYS_request_key, "request_key", CallKind::channel),
  table::other(SYS_add_key,    "add_key",      CallKind::channel),
  table::other(SYS_keyctl,     "keyctl",       CallKind::channel),
  table::other(SYS_open_by_handle_at, "open_by_handle_at", CallKind::beyond),
  table::other(SYS_mount,      "mount",        CallKind::beyond),
  table::other(SYS_umount2,    "umount2",      CallKind::beyond),
  table::other(SYS_pivot_root, "pivot_root",   CallKind::beyond),
  table::other(SYS_move_mount, "move_mount",   CallKind::beyond),
  table::other(SYS_open_tree,  "open_tree",    CallKind::beyond),
  table::other(kSysOpenTreeAttr, "open_tree_attr", CallKind::beyond),
  table::other(SYS_seccomp,    "seccomp",      CallKind::confine),
  table::other(SYS_prctl,      "prctl",        CallKind::confine),
  table::other(SYS_setns,      "setns",        CallKind::beyond),
};
// clang-format on

inline constexpr std::size_t kSyscallNumbers = 512;  ///< watched numbers lie below

namespace table {
consteval auto index() {
  std::array<std::uint8_t, kSyscallNumbers> index{};
  for (std::size_t i = 0; i < kSyscallRules.size(); ++i) {
    index[kSyscallRules[i].number] = static_cast<std::uint8_t>(i + 1);
  }
  return index;
}
inline constexpr auto kIndex = index();
static_assert(kSyscallRules.size() < 255);
}  // namespace table

/// nullptr: not watched.
constexpr const SyscallRule* rule_of(std::uint64_t number) {
  if (number >= kSyscallNumbers || table::kIndex[number] == 0) return nullptr;
  return &kSyscallRules[table::kIndex[number] - 1u];
}

/// The access that an open with these flags is.
constexpr Access access_of_open(std::uint64_t flags) {
  constexpr std::uint64_t kPathOnly = 010000000;               // O_PATH ignores the others
  constexpr std::uint64_t kChanging = 01 | 02 | 0100 | 01000;  // O_WRONLY O_RDWR O_CREAT O_TRUNC
  if ((flags & kPathOnly) != 0) return Access::open_read;
  return (flags & kChanging) != 0 ? Access::open_write : Access::open_read;
}

}  // namespace hallmark::observe
