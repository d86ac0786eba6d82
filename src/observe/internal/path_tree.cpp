#include "observe/internal/path_tree.h"

#include <algorithm>
#include <cassert>

#include "observe/internal/hash.h"

namespace hallmark::observe {
namespace {

constexpr std::size_t kFirstIndexSize = 1024;

bool all_digits(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

Zone zone_of(const Node& parent, bool parent_is_root, std::string_view parent_name, bool grandparent_is_root,
             std::string_view name) {
  if (parent_is_root) {
    if (name == "proc" || name == "sys") return Zone::kernel;
    if (name == "dev") return Zone::device;
  }
  if (grandparent_is_root) {
    if (parent_name == "proc" && all_digits(name)) return Zone::process;
    if (parent_name == "dev" && name == "shm") return Zone::normal;
  }
  if (parent.zone == Zone::normal && name == "__pycache__") return Zone::bytecode;
  return parent.zone;
}

}  // namespace

PathTree::PathTree() : index_(kFirstIndexSize, kNone) {
  Node root;
  root.disk = Disk::folder;
  root.name = keep({});
  add(root);
}

NodeId PathTree::add(const Node& node) {
  if ((size_ & kNodeMask) == 0) nodes_.push_back(std::make_unique<Node[]>(kNodeMask + 1));
  (*this)[size_] = node;
  return size_++;
}

std::size_t PathTree::slot_of(NodeId parent, std::string_view name) const {
  std::size_t slot = hash_of(name, parent * 0x9e3779b97f4a7c15ull) & (index_.size() - 1);
  while (index_[slot] != kNone) {
    const Node& node = (*this)[index_[slot]];
    if (node.parent == parent && text(node.name) == name) break;
    slot = (slot + 1) & (index_.size() - 1);
  }
  return slot;
}

NodeId PathTree::find_child(NodeId parent, std::string_view name) const {
  return index_[slot_of(parent, name)];
}

NodeId PathTree::child(NodeId parent, std::string_view name) {
  std::size_t slot = slot_of(parent, name);
  if (index_[slot] != kNone) return index_[slot];
  if (std::size_t{size_} * 2 > index_.size()) {
    grow_index();
    slot = slot_of(parent, name);
  }
  const NodeId id = size_;
  Node& above = (*this)[parent];
  Node node;
  node.parent = parent;
  node.name = keep(name);
  node.next_sibling = above.first_child;
  const bool parent_is_root = parent == kRootNode;
  node.zone = zone_of(above, parent_is_root, parent_is_root ? std::string_view{} : text(above.name),
                      !parent_is_root && above.parent == kRootNode, name);
  above.first_child = id;
  add(node);
  index_[slot] = id;
  return id;
}

NodeId PathTree::at(std::string_view path) {
  NodeId id = kRootNode;
  while (!path.empty()) {
    const auto slash = path.find('/');
    const auto name = path.substr(0, slash);
    if (!name.empty()) id = child(id, name);
    path = slash == std::string_view::npos ? std::string_view{} : path.substr(slash + 1);
  }
  return id;
}

std::string PathTree::path_of(NodeId id) const {
  std::string path;
  path_of(id, path);
  return path;
}

void PathTree::path_of(NodeId id, std::string& out) const {
  if (id == kRootNode) {
    out.assign("/");
    return;
  }
  std::size_t length = 0;
  for (NodeId at = id; at != kRootNode; at = (*this)[at].parent) length += (*this)[at].name.length + 1;
  out.resize(length);
  for (NodeId at = id; at != kRootNode; at = (*this)[at].parent) {
    const std::string_view name = text((*this)[at].name);
    length -= name.size();
    name.copy(out.data() + length, name.size());
    out[--length] = '/';
  }
}

Text PathTree::keep(std::string_view text) {
  assert(text.size() <= kBlockMask);
  const auto length = static_cast<std::uint32_t>(text.size());
  const std::uint32_t taken = std::max(length, 1u);  // an empty text must name a block that exists, too
  if (block_used_ + taken > kBlockMask + 1) {
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(kBlockMask + 1));
    block_used_ = 0;
  }
  text.copy(blocks_.back().get() + block_used_, length);
  const auto block = static_cast<std::uint32_t>(blocks_.size() - 1);
  const Text kept{(block << kBlockBits) + block_used_, length};
  block_used_ += taken;
  return kept;
}

void PathTree::set_state(NodeId id, const FileStat& stat) {
  Node& node = (*this)[id];
  if (node.state == kNone) {
    node.state = static_cast<std::uint32_t>(states_.size());
    states_.push_back(stat);
  } else {
    states_[node.state] = stat;
  }
}

const FileStat* PathTree::state_of(NodeId id) const {
  const Node& node = (*this)[id];
  return node.state == kNone ? nullptr : &states_[node.state];
}

void PathTree::forget_disk(NodeId id) {
  (*this)[id].disk = Disk::unknown;
  for (NodeId at = (*this)[id].first_child; at != kNone; at = (*this)[at].next_sibling) forget_disk(at);
}

void PathTree::grow_index() {
  std::vector<NodeId> old(index_.size() * 2, kNone);
  old.swap(index_);
  for (const NodeId id : old) {
    if (id != kNone) index_[slot_of((*this)[id].parent, text((*this)[id].name))] = id;
  }
}

}  // namespace hallmark::observe
