// Tracker, second part: what the command makes, changes and removes.
#include <fcntl.h>

#include "base/limits.h"
#include "observe/internal/tracker.h"

namespace hallmark::observe {
namespace {

using model::ReasonCode;
using model::Use;

constexpr std::uint64_t kNoReplace = 1;  // RENAME_NOREPLACE
constexpr std::uint64_t kExchange = 2;   // RENAME_EXCHANGE

bool is_folder(const std::optional<FileStat>& stat) {
  return stat && stat->kind == NodeKind::directory;
}

/// Whether other paths may lead elsewhere once such a node comes or goes.
bool bends_paths(const std::optional<FileStat>& stat) {
  return stat && (stat->kind == NodeKind::directory || stat->kind == NodeKind::symlink);
}

}  // namespace

void Tracker::forget_walks() {
  resolver_.forget_folders();
  seen_.clear();
}

std::optional<FileStat> Tracker::state_now(const Resolved& where) {
  if (where.end == WalkEnd::absent) return std::nullopt;
  const auto stat = where.stat ? where.stat : resolver_.look(where.node);
  settle(where.node, stat);
  return stat;
}

Tracker::Change& Tracker::begin_change(NodeId id, const std::optional<FileStat>& now) {
  Node& node = tree_[id];
  if (node.change == kNone) {
    node.change = static_cast<std::uint32_t>(changes_.size());
    changes_.push_back({id, now, false, false});
  }
  node.disk = Disk::unknown;
  return changes_[node.change];
}

void Tracker::take_content(NodeId id, const FileStat& stat) {
  if (digests_.contains(id)) return;
  if (stat.size_bytes > limits::kHashedBeforeChangeBytes) {
    return doubt(ReasonCode::limit_reached, "kHashedBeforeChangeBytes");
  }
  const auto hashed = hasher_.hash(tree_.path_of(id));
  const FileStat* first = tree_.state_of(id);
  if (!hashed || (first != nullptr && hashed->stat != *first)) return doubt(ReasonCode::input_changed, id);
  digests_.emplace(id, hashed->digest);
}

void Tracker::keep_content_before_change(NodeId id) {
  const Node& node = tree_[id];
  if (node.own != Own::none || !(node.uses & use_bit(Use::content))) return;
  if (const FileStat* state = tree_.state_of(id); state != nullptr && state->kind == NodeKind::file) {
    take_content(id, *state);
  }
}

void Tracker::keep_absence(NodeId id) {
  note_absent(id);
  if (tree_[id].absent) counted_absences_.insert(id);
}

void Tracker::make_whole(NodeId id, const std::optional<FileStat>& now) {
  if (is_ignored(id, thread_)) return;
  keep_content_before_change(id);
  if (bends_paths(now)) forget_walks();
  Change& change = begin_change(id, now);
  change.whole = change.ever_whole = true;
  tree_[id].own = Own::whole;
}

void Tracker::doubt_if_linked(NodeId id, const FileStat& now) {
  if (now.kind != NodeKind::file || now.links <= 1 || is_ignored(id, thread_)) return;
  doubt(ReasonCode::linked_file_changed, id);
}

void Tracker::change_in_place(NodeId id, const FileStat& now) {
  if (is_ignored(id, thread_)) return;
  if (is_internal(id)) {
    begin_change(id, now).whole = true;
    return;
  }
  // The new bytes may depend on the old ones.
  note(id, Use::kind, now);
  if (note(id, Use::content, now)) keep_content_before_change(id);
  begin_change(id, now);
  tree_[id].own = Own::in_place;
}

void Tracker::make_gone(NodeId id, const std::optional<FileStat>& now) {
  if (is_ignored(id, thread_)) return;
  keep_content_before_change(id);
  if (bends_paths(now)) forget_walks();
  begin_change(id, now).whole = false;
  tree_[id].own = Own::gone;
  if (is_folder(now)) {
    made_folders_ = true;
    tree_.forget_disk(id);
  }
}

void Tracker::on_open_write(const Event& event) {
  const bool creates = (event.flags & O_CREAT) != 0;
  const bool exclusive = creates && (event.flags & O_EXCL) != 0;
  const bool writes = (event.flags & O_ACCMODE) != O_RDONLY;
  const Resolved where = resolver_.resolve(event.path, event.follow && !exclusive, event.thread);
  if (where.end == WalkEnd::absent && where.last && creates) {
    // Without truncation, what the command does with the file depends on there being none (append, sqlite).
    if (!exclusive && (event.flags & O_TRUNC) == 0) keep_absence(where.node);
    return make_whole(where.node, std::nullopt);
  }
  if (where.end != WalkEnd::found) return note_dead_end(where);
  const NodeId id = where.node;
  const auto stat = state_now(where);
  if (!stat) return note_absent(id);
  if (exclusive || stat->kind == NodeKind::directory || stat->kind == NodeKind::symlink) {
    // It fails; or it is O_TMPFILE, whose file gets its name, if any, by a hard link.
    note(id, stat->kind == NodeKind::symlink ? Use::link : Use::kind, stat);
    return;
  }
  if (stat->kind == NodeKind::other) {
    if (is_ignored(id, thread_) || is_internal(id)) return;
    note(id, Use::kind, stat);
    return note_special(id, writes);
  }
  if (tree_[id].zone == Zone::kernel || tree_[id].zone == Zone::process) {
    if (writes && !is_ignored(id, thread_)) doubt(ReasonCode::special_output, id);
    return;
  }
  if (writes || (event.flags & O_TRUNC) != 0) doubt_if_linked(id, *stat);
  if ((event.flags & O_TRUNC) != 0) return make_whole(id, stat);
  if (writes) return change_in_place(id, *stat);
  note(id, Use::content, stat);
}

void Tracker::on_make(const Event& event) {
  const Resolved where = resolver_.resolve(event.path, false, event.thread);
  if (where.end == WalkEnd::absent && where.last) {
    make_whole(where.node, std::nullopt);
    if (event.access == Access::make_link) forget_walks();
    if (event.access == Access::make_folder) made_folders_ = true;
    return;
  }
  if (where.end != WalkEnd::found) return note_dead_end(where);
  const auto stat = state_now(where);
  if (stat) note(where.node, stat->kind == NodeKind::symlink ? Use::link : Use::kind, stat);
}

void Tracker::on_remove(const Event& event) {
  const Resolved where = resolver_.resolve(event.path, false, event.thread);
  if (where.end != WalkEnd::found) return note_dead_end(where);
  const auto stat = state_now(where);
  if (!stat) return note_absent(where.node);
  const bool wants_folder = event.access == Access::remove_folder;
  if (wants_folder != (stat->kind == NodeKind::directory)) {  // it fails
    note(where.node, stat->kind == NodeKind::symlink ? Use::link : Use::kind, stat);
    return;
  }
  if (wants_folder) {
    // A folder that holds something stays, as in rmdir -p; that it does is what the command learns.
    const auto names = files_.list(tree_.path_of(where.node));
    if (!names || !names->empty()) {
      note(where.node, Use::kind, stat);
      return;
    }
  }
  make_gone(where.node, stat);
}

void Tracker::on_rename(const Event& event) {
  const Resolved from = resolver_.resolve(event.path, false, event.thread);
  if (from.end != WalkEnd::found) return note_dead_end(from);
  const auto from_stat = state_now(from);
  const Resolved to = resolver_.resolve(event.second_path, false, event.thread);
  if (!from_stat) return note_absent(from.node);
  const bool to_free = to.end == WalkEnd::absent && to.last;
  if (to.end != WalkEnd::found && !to_free) return note_dead_end(to);
  const auto to_stat = state_now(to);
  if (to_stat && (event.flags & kNoReplace) != 0) {
    note(to.node, Use::kind, to_stat);
    return;
  }
  if (from.node == to.node) return;

  const bool from_internal = is_internal(from.node);
  const auto take_source = [this](NodeId id, const FileStat& stat) {
    // Its bytes go on under another name: they are an input.
    if (stat.kind == NodeKind::symlink) {
      note(id, Use::link, stat);
    } else if (stat.kind == NodeKind::file && note(id, Use::content, stat)) {
      keep_content_before_change(id);
    } else {
      note(id, Use::kind, stat);
    }
  };
  if ((event.flags & kExchange) != 0) {
    if (!to_stat) return note_absent(to.node);
    take_source(from.node, *from_stat);
    take_source(to.node, *to_stat);
    make_whole(from.node, from_stat);
    make_whole(to.node, to_stat);
    made_folders_ = made_folders_ || is_folder(from_stat) || is_folder(to_stat);
    return forget_walks();
  }
  if (is_folder(from_stat) && from_internal) {
    made_folders_ = true;
    move_subtree(from.node, to.node);
  } else {
    if (!from_internal) take_source(from.node, *from_stat);
    make_whole(to.node, to_stat);
    make_gone(from.node, from_stat);
    made_folders_ = made_folders_ || is_folder(from_stat);
  }
  if (bends_paths(from_stat)) {
    forget_walks();
    tree_.forget_disk(from.node);
    tree_.forget_disk(to.node);
  }
}

void Tracker::move_subtree(NodeId from, NodeId to) {
  make_whole(to, tree_[to].change == kNone ? resolver_.look(to) : std::nullopt);
  for (NodeId child = tree_[from].first_child; child != kNone; child = tree_[child].next_sibling) {
    if (tree_[child].own == Own::whole) move_subtree(child, tree_.child(to, tree_.text(tree_[child].name)));
  }
  begin_change(from, std::nullopt).whole = false;
  tree_[from].own = Own::gone;
}

void Tracker::on_hard_link(const Event& event) {
  const Resolved to = resolver_.resolve(event.second_path, false, event.thread);
  const bool to_free = to.end == WalkEnd::absent && to.last;
  const auto to_stat = state_now(to);
  if (to_stat) note(to.node, to_stat->kind == NodeKind::symlink ? Use::link : Use::kind, to_stat);
  if (!to_free) return to_stat ? void() : note_dead_end(to);
  const Resolved from = resolver_.resolve(event.path, event.follow, event.thread);
  if (from.end == WalkEnd::found) {
    const auto from_stat = state_now(from);
    if (!from_stat) return note_absent(from.node);
    // The link changes the file's ctime, so its content must be taken now.
    if (note(from.node, from_stat->kind == NodeKind::symlink ? Use::link : Use::content, from_stat)) {
      keep_content_before_change(from.node);
    }
  } else if (from.end != WalkEnd::nameless) {  // nameless: an O_TMPFILE gets its name
    return note_dead_end(from);
  }
  make_whole(to.node, std::nullopt);
}

void Tracker::on_in_place(const Event& event, bool whole) {
  const Resolved where = resolver_.resolve(event.path, event.follow, event.thread);
  if (where.end != WalkEnd::found) return note_dead_end(where);
  const auto stat = state_now(where);
  if (!stat) return note_absent(where.node);
  if (stat->kind != NodeKind::file) {
    note(where.node, Use::kind, stat);
    return;
  }
  doubt_if_linked(where.node, *stat);
  if (whole) {
    make_whole(where.node, stat);
  } else {
    change_in_place(where.node, *stat);
  }
}

void Tracker::on_set_attribute(const Event& event) {
  const Resolved where = resolver_.resolve(event.path, event.follow, event.thread);
  if (where.end != WalkEnd::found) return note_dead_end(where);
  const auto stat = state_now(where);
  if (!stat) return note_absent(where.node);
  if (is_ignored(where.node, thread_) || tree_[where.node].zone != Zone::normal) return;
  doubt_if_linked(where.node, *stat);
  keep_content_before_change(where.node);
  note(where.node, stat->kind == NodeKind::symlink ? Use::link : Use::kind, stat);
  begin_change(where.node, stat);  // content stays what it was: no Own
}

}  // namespace hallmark::observe
