// PathResolver: from a path as a process spelled it to its node in normal form, link by link, as the kernel
// walks.
//
// Contract: resolve() never trusts text for `..`; each link that is crossed and each folder that is left by
// `..` is told to the Listener. What the disk holds at intermediate names is remembered in the tree, and
// whole spelled folders in a table; the owner calls forget_folders() when the command itself made, moved or
// removed links or folders. One thread.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

#include "base/file_stat.h"
#include "observe/internal/hash.h"
#include "observe/internal/path_tree.h"
#include "observe/internal/process_info.h"
#include "os/file_system.h"

namespace hallmark::observe {

enum class WalkEnd : std::uint8_t {
  found,
  absent,      ///< node is the first name that is missing
  not_folder,  ///< node is a file in the place of a folder
  loop,        ///< too many links; node is one of them
  nameless,    ///< a pipe, socket, memfd or deleted file, reached through /proc/<number>/fd
};

struct Resolved {
  NodeId node = kRootNode;
  WalkEnd end = WalkEnd::found;
  std::optional<FileStat> stat;  ///< of the node itself, if the disk was asked for it now
  bool last = false;             ///< node is what the whole path names; false: a name on the way
};

class PathResolver {
 public:
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void on_link(NodeId link) = 0;
    virtual void on_left_folder(NodeId folder) = 0;
  };

  PathResolver(os::FileSystem& files, PathTree& tree, ProcessInfo& processes, Listener& listener)
      : files_(files), tree_(tree), processes_(processes), listener_(listener) {}

  /// `known`: state that the process got for what the path leads to; spares asking the disk again where
  /// possible.
  Resolved resolve(std::string_view path, bool follow, pid_t thread,
                   const std::optional<FileStat>& known = {});

  /// Asks the disk for the node itself (no link followed) and remembers the answer in the tree. nullopt:
  /// absent.
  std::optional<FileStat> look(NodeId node);

  /// Whether it is /proc/self or /proc/thread-self: a link whose target is the number of who reads it.
  bool names_its_reader(NodeId node) const;

  /// Whether the last path would lead to the same place for every process and at any time, as far as names
  /// go.
  bool stable() const { return cacheable_; }

  void forget_folders() { folders_.clear(); }
  void release() { folders_.release(); }

 private:
  Resolved walk(NodeId from, std::string_view names, bool follow, pid_t thread,
                const std::optional<FileStat>& known);
  Disk disk_of(NodeId node, std::optional<FileStat>* stat);
  /// The process folder that a link which names its reader means; kNone if `node` is none.
  NodeId self_folder(NodeId node, pid_t thread);

  os::FileSystem& files_;
  PathTree& tree_;
  ProcessInfo& processes_;
  Listener& listener_;
  HashTable folders_;        // spelled folder -> node
  std::string path_;         // scratch
  std::string pending_;      // scratch: names still to walk after a link
  NodeId root_ = kRootNode;  // of the process in question: another one behind chroot
  unsigned hops_ = 0;
  bool cacheable_ = true;
};

}  // namespace hallmark::observe
