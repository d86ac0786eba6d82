// PathTree: every path of a run, each once, as a tree of names; and what is known of each.
//
// Contract: a node stands for a path in normal form. Nodes are never removed and keep their number. One
// thread. Memory: about 100 bytes and the name for each node; the owner watches size().
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_stat.h"
#include "model/observation.h"

namespace hallmark::observe {

using NodeId = std::uint32_t;
inline constexpr NodeId kRootNode = 0;
inline constexpr std::uint32_t kNone = 0xffffffffu;

/// What the disk holds at a path, as far as needed to walk on.
enum class Disk : std::uint8_t { unknown, absent, file, folder, link, other };

/// Parts of the tree with rules of their own; a node inherits its parent's unless its own name says
/// otherwise.
enum class Zone : std::uint8_t {
  normal,
  invisible,  ///< the store
  bytecode,   ///< __pycache__ and below
  process,    ///< /proc/<number> and below
  kernel,     ///< the rest of /proc, and /sys
  device,     ///< /dev
};

/// What the command did to a path.
enum class Own : std::uint8_t {
  none,
  in_place,  ///< changed, but part of the old bytes may be left
  whole,     ///< made anew: nothing below or in it comes from before
  gone,      ///< removed or renamed away
};

/// A text in the arena.
struct Text {
  std::uint32_t offset = 0;
  std::uint32_t length = 0;
};

struct Node {
  NodeId parent = kNone;
  NodeId first_child = kNone;
  NodeId next_sibling = kNone;
  Text name;
  Text target;                   ///< of a link, valid while disk == link
  std::uint32_t state = kNone;   ///< index into states: FileStat at the first use
  std::uint32_t change = kNone;  ///< index into the Tracker's changes
  Disk disk = Disk::unknown;
  Zone zone = Zone::normal;
  Own own = Own::none;
  std::uint8_t uses = 0;  ///< bits by model::Use
  bool absent = false;    ///< at the first use
  bool program = false;   ///< listed among the programs
};

inline constexpr std::uint8_t use_bit(model::Use use) {
  return static_cast<std::uint8_t>(1u << static_cast<unsigned>(use));
}

class PathTree {
 public:
  PathTree();

  /// The child of that name, made if there is none.
  NodeId child(NodeId parent, std::string_view name);
  /// kNone if there is none.
  NodeId find_child(NodeId parent, std::string_view name) const;
  /// The node of a path in normal form, made if there is none.
  NodeId at(std::string_view path);

  Node& operator[](NodeId id) { return nodes_[id >> kNodeBits][id & kNodeMask]; }
  const Node& operator[](NodeId id) const { return nodes_[id >> kNodeBits][id & kNodeMask]; }

  std::string path_of(NodeId id) const;
  /// Writes the path into `out` (reused to spare allocations).
  void path_of(NodeId id, std::string& out) const;
  std::string_view text(Text text) const {
    return {blocks_[text.offset >> kBlockBits].get() + (text.offset & kBlockMask), text.length};
  }
  Text keep(std::string_view text);

  void set_state(NodeId id, const FileStat& stat);
  const FileStat* state_of(NodeId id) const;

  std::size_t size() const { return size_; }
  /// Gives memory back; from here on no node can be found or made by name.
  void release_index() { index_ = {}; }
  /// Forgets what the disk holds at and below a node.
  void forget_disk(NodeId id);

 private:
  static constexpr unsigned kBlockBits = 16;
  static constexpr std::uint32_t kBlockMask = (1u << kBlockBits) - 1;

  static constexpr unsigned kNodeBits = 10;
  static constexpr NodeId kNodeMask = (1u << kNodeBits) - 1;

  NodeId add(const Node& node);
  std::size_t slot_of(NodeId parent, std::string_view name) const;
  void grow_index();

  std::vector<std::unique_ptr<Node[]>> nodes_;  // blocks: grows without copying, so that the peak is the size
  NodeId size_ = 0;
  std::vector<std::unique_ptr<char[]>> blocks_;
  std::uint32_t block_used_ = kBlockMask + 1;
  std::vector<NodeId> index_;  // open addressing over (parent, name)
  std::deque<FileStat> states_;
};

}  // namespace hallmark::observe
