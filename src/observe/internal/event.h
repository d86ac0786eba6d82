// Event: one access to a path by a process of the tree, as a tier reports it to the Tracker.
//
// Ordering contract, the same for all tiers: a changing access (is_change) is reported BEFORE the kernel
// carries it out, and after every earlier access of the tree whose effect could be seen by it. The Tracker
// may therefore look at the disk for the state before the change. A non-changing access may be reported late,
// with its real result.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/file_stat.h"

namespace hallmark::observe {

enum class Access : std::uint8_t {
  open_read,      ///< open without the intent to write (O_PATH and O_DIRECTORY too: see `flags`)
  open_write,     ///< open with O_WRONLY, O_RDWR, O_CREAT or O_TRUNC
  look,           ///< stat, access, statfs, getxattr, chdir
  read_link,      ///< readlink
  execute,        ///< execve, execveat
  list,           ///< getdents on an open folder; path is that folder
  remove,         ///< unlink
  remove_folder,  ///< rmdir
  rename,         ///< path -> second_path; flags: RENAME_*
  hard_link,      ///< path gets the further name second_path
  make_link,      ///< a symbolic link at path
  make_folder,
  make_node,      ///< mknod: file, fifo, device, socket
  truncate,       ///< truncate by path: a change in place
  set_attribute,  ///< chmod, chown, utimes, setxattr: content stays
};

constexpr bool is_change(Access access) {
  return access == Access::open_write || access >= Access::remove;
}

/// The result is not known: the event was reported before the kernel carried it out.
inline constexpr int kResultUnknown = 1;

struct Event {
  pid_t thread = 0;
  Access access{};
  bool follow = true;           ///< whether a link in the last component is followed
  std::uint64_t flags = 0;      ///< of open (O_*) or rename (RENAME_*)
  int result = kResultUnknown;  ///< 0, or -errno
  /// Absolute, as the process spelled it behind its folder: may hold "..", ".", "//" and links. /proc/self
  /// already names the process. Empty last component never occurs.
  std::string_view path;
  std::string_view second_path;
  /// What the process got or would have got (links followed if `follow`), if the tier knows it.
  std::optional<FileStat> stat;
};

}  // namespace hallmark::observe
