#include "observe/internal/tracker.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>

#include "base/limits.h"
#include "base/path.h"
#include "observe/internal/program_file.h"

namespace hallmark::observe {
namespace {

using model::ReasonCode;
using model::Use;

constexpr std::size_t kDoubts = 256;  // distinct ones that are kept
constexpr std::size_t kNodes =
    limits::kObservedPaths + limits::kObservedPaths / 3;  // names on the way count, too
constexpr std::uint32_t kSetIds = 06000;

/// Devices whose use says nothing about the world outside the command.
bool is_harmless_device(std::string_view path) {
  constexpr std::string_view kNames[] = {"null", "zero",  "full",   "tty",    "random", "urandom",
                                         "ptmx", "stdin", "stdout", "stderr", "fd",     "console"};
  path.remove_prefix(std::min(path.size(), std::string_view("/dev/").size()));
  return path.starts_with("pts") || std::find(std::begin(kNames), std::end(kNames), path) != std::end(kNames);
}

/// The engine turns these into the identity of the GPU.
bool is_gpu_device(std::string_view path) {
  return path.starts_with("/dev/nvidia") || path.starts_with("/dev/dri") || path == "/dev/kfd";
}

bool is_missing(int result) {
  return result == -ENOENT || result == -ENOTDIR;
}

/// Accesses of one class on one spelled path ask the same of the disk.
std::uint64_t class_of(const Event& event, bool nested) {
  std::uint64_t seed = static_cast<std::uint64_t>(event.access) << 8;
  if (event.follow) seed |= 1;
  if (nested) seed |= 2;
  if ((event.flags & (O_PATH | O_DIRECTORY)) != 0) seed |= 4;
  if (event.result < 0) seed |= is_missing(event.result) ? 8 : 16;
  if (event.result == 0) seed |= 32;
  return seed;
}

}  // namespace

Tracker::Tracker(os::FileSystem& files, digest::ContentHasher& hasher, ProcessInfo& processes,
                 TrackerOptions options)
    : files_(files),
      hasher_(hasher),
      processes_(processes),
      options_(std::move(options)),
      resolver_(files, tree_, processes, *this) {
  for (const std::string& folder : options_.invisible) {
    if (!folder.empty()) tree_[tree_.at(folder)].zone = Zone::invisible;
  }
  if (!options_.hallmark_program.empty()) hallmark_ = tree_.at(options_.hallmark_program);
}

void Tracker::on_doubt(model::Reason reason) {
  if (doubts_.size() < kDoubts) doubts_.insert(std::move(reason));
}

void Tracker::doubt(ReasonCode code, std::string subject) {
  on_doubt({code, std::move(subject), {}, {}});
}
void Tracker::doubt(ReasonCode code, NodeId subject) {
  doubt(code, tree_.path_of(subject));
}

bool Tracker::is_full() {
  if (tree_.size() < kNodes) return false;
  doubt(ReasonCode::limit_reached, "kObservedPaths");
  return true;
}

void Tracker::on_event(const Event& event) {
  thread_ = event.thread;
  if (is_full() && event.access != Access::execute) return;
  switch (event.access) {
    case Access::open_read:
    case Access::look:
    case Access::read_link:
      return on_read(event);
    case Access::execute:
      return on_execute(event);
    case Access::list:
      return on_list(event);
    case Access::open_write:
      return on_open_write(event);
    case Access::remove:
    case Access::remove_folder:
      return on_remove(event);
    case Access::rename:
      return on_rename(event);
    case Access::hard_link:
      return on_hard_link(event);
    case Access::make_link:
    case Access::make_folder:
    case Access::make_node:
      return on_make(event);
    case Access::truncate:
      return on_in_place(event, event.flags == 0);
    case Access::set_attribute:
      return on_set_attribute(event);
  }
}

bool Tracker::is_own(std::string_view path, pid_t thread) {
  const Resolved where = resolver_.resolve(path, true, thread);
  return where.end == WalkEnd::found && is_internal(where.node);
}

void Tracker::on_link(NodeId link) {
  if (tree_[link].uses & use_bit(Use::link)) return;
  std::optional<FileStat> stat;
  if (tree_[link].state == kNone) stat = resolver_.look(link);
  note(link, Use::link, stat);
}

void Tracker::on_left_folder(NodeId folder) {
  if (folder == kRootNode || (tree_[folder].uses & use_bit(Use::kind))) return;
  std::optional<FileStat> stat;
  if (tree_[folder].state == kNone) stat = resolver_.look(folder);
  note(folder, Use::kind, stat);
}

void Tracker::on_read(const Event& event) {
  const bool nested = !nested_.empty() && is_nested(event.thread);
  const std::uint64_t key = hash_of(event.path, class_of(event, nested));
  if (seen_.find(key)) return;

  const bool got_it = event.result >= 0 && event.result != kResultUnknown;
  Resolved where = resolver_.resolve(event.path, event.follow, event.thread, event.stat);
  if (got_it && (where.end == WalkEnd::absent || where.end == WalkEnd::not_folder)) {
    // What was remembered of the folders on the way is out of date: somebody else made one.
    resolver_.forget_folders();
    for (NodeId at = where.node; at != kRootNode; at = tree_[at].parent) tree_[at].disk = Disk::unknown;
    where = resolver_.resolve(event.path, event.follow, event.thread, event.stat);
  }
  if (resolver_.stable() && seen_.size() < kNodes) seen_.put(key, 0);
  if (where.end != WalkEnd::found) return note_dead_end(where);
  if (event.result == -ENOENT) return note_absent(where.node);
  note_by_kind(event, where.node, where.stat, nested);
}

void Tracker::note_dead_end(const Resolved& where) {
  switch (where.end) {
    case WalkEnd::absent:
      return note_absent(where.node);
    case WalkEnd::not_folder:
      note(where.node, Use::kind, state_now(where));
      return;
    case WalkEnd::loop:
      note(where.node, Use::link, state_now(where));
      return;
    case WalkEnd::nameless:
    case WalkEnd::found:
      return;
  }
}

void Tracker::note_by_kind(const Event& event, NodeId id, const std::optional<FileStat>& known, bool nested) {
  const Zone zone = tree_[id].zone;
  const bool failed = event.result < 0;
  const bool path_only = (event.flags & (O_PATH | O_DIRECTORY)) != 0;
  const bool reads = event.access == Access::open_read && !failed && !path_only;
  if (zone == Zone::bytecode && reads) note_source_of_bytecode(id);
  if (is_ignored(id, event.thread)) return;
  // An inner hallmark looks for a build tool among its ancestors: their numbers are of this run only. What it
  // reads of the machine (processor, GPU) counts for the outer command as for its own.
  if (nested && zone == Zone::process) return;
  settle(id, known);
  if (is_internal(id)) return;
  const std::uint8_t wanted = use_bit(reads ? Use::content : Use::kind);
  if ((tree_[id].uses & wanted) && !nested) return;
  std::optional<FileStat> stat = known;
  if (!stat && tree_[id].state == kNone) stat = resolver_.look(id);
  const FileStat* state = stat ? &*stat : tree_.state_of(id);
  if (state == nullptr) return note_absent(id);  // it went just now
  switch (state->kind) {
    case NodeKind::symlink:
      note(id, Use::link, stat);
      return;
    case NodeKind::directory:
      note(id, Use::kind, stat);
      return;
    case NodeKind::file:
      if (reads || nested) {
        if (note(id, Use::content, stat) && zone != Zone::normal && zone != Zone::bytecode)
          hash_kernel_file(id);
      } else {
        note(id, Use::kind, stat);
      }
      return;
    case NodeKind::other:
      note(id, Use::kind, stat);
      if (reads) note_special(id, false);
      return;
  }
}

bool Tracker::is_ignored(NodeId id, pid_t thread) const {
  switch (tree_[id].zone) {
    case Zone::normal:
      return false;
    case Zone::kernel:
      return resolver_.names_its_reader(id);
    case Zone::invisible:
      return true;
    case Zone::bytecode: {
      // The folder, and python's files with their temporary forms "NAME.pyc.139872"; other files are files.
      const std::string_view name = tree_.text(tree_[id].name);
      return name == "__pycache__" || name.find(".pyc") != std::string_view::npos;
    }
    case Zone::device:
      return is_harmless_device(tree_.path_of(id));
    case Zone::process:
      break;
  }
  NodeId at = id;
  while (tree_[tree_[at].parent].zone == Zone::process) at = tree_[at].parent;
  pid_t process = 0;
  for (const char digit : tree_.text(tree_[at].name)) process = process * 10 + (digit - '0');
  return processes_seen_.contains(process) || process == thread || process == processes_.process_of(thread);
}

bool Tracker::is_internal(NodeId id) const {
  const Own own = tree_[id].own;
  return own == Own::whole || own == Own::gone;
}

bool Tracker::is_below_own_folder(NodeId id) const {
  if (!made_folders_) return false;
  for (NodeId at = id; at != kRootNode; at = tree_[at].parent) {
    if (is_internal(at)) return true;
  }
  return false;
}

void Tracker::settle(NodeId id, const std::optional<FileStat>& now) {
  Node& node = tree_[id];
  if (!is_internal(id) || node.change == kNone) return;
  Change& change = changes_[node.change];
  if (!now || !change.before || *now != *change.before) return;
  node.own = Own::none;
  change.whole = change.ever_whole = false;
}

bool Tracker::note(NodeId id, Use use, std::optional<FileStat> stat) {
  if (is_ignored(id, thread_) || is_internal(id)) return false;
  Node& node = tree_[id];
  if (node.own == Own::in_place) return false;  // its uses were noted with the change
  if (node.uses & use_bit(use)) return true;
  if (node.uses == 0) {
    if (input_paths_ >= limits::kObservedPaths) {
      doubt(ReasonCode::limit_reached, "kObservedPaths");
      return false;
    }
    ++input_paths_;
  }
  if (node.absent) {
    node.absent = false;
    doubt(ReasonCode::input_changed, id);
  }
  if (stat && node.state == kNone) tree_.set_state(id, *stat);
  if (use == Use::link) targets_.emplace(id, node.target);
  node.uses |= use_bit(use);
  return true;
}

void Tracker::note_absent(NodeId id) {
  Node& node = tree_[id];
  if (is_ignored(id, thread_) || node.own != Own::none) return;
  if (is_below_own_folder(id)) {
    missed_below_.insert(id);
    return;
  }
  if (node.uses != 0) {
    if (!node.absent)
      doubt(ReasonCode::input_changed, id);  // it was there before, and somebody else removed it
    return;
  }
  if (note(id, Use::kind, std::nullopt)) node.absent = true;
}

void Tracker::note_special(NodeId id, bool write) {
  const std::string path = tree_.path_of(id);
  if (is_gpu_device(path)) return;
  doubt(write ? ReasonCode::special_output : ReasonCode::volatile_input, path);
}

void Tracker::note_source_of_bytecode(NodeId id) {
  // .../__pycache__/NAME.cpython-311.opt-1.pyc stands for .../NAME.py
  const std::string_view name = tree_.text(tree_[id].name);
  const NodeId cache = tree_[id].parent;
  if (!name.ends_with(".pyc") || tree_.text(tree_[cache].name) != "__pycache__") return;
  std::string source(name.substr(0, name.find('.')));
  source += ".py";
  const NodeId file = tree_.child(tree_[cache].parent, source);
  if (tree_[file].uses & use_bit(Use::content)) return;
  const auto stat = resolver_.look(file);
  if (!stat) return note_absent(file);
  if (stat->kind == NodeKind::symlink) {
    const Resolved where = resolver_.resolve(tree_.path_of(file), true, thread_);
    if (where.end == WalkEnd::found) note(where.node, Use::content, state_now(where));
    return;
  }
  note(file, Use::content, stat);
}

bool Tracker::is_nested(pid_t thread) {
  return nested_.contains(thread) || nested_.contains(processes_.process_of(thread));
}

void Tracker::hash_kernel_file(NodeId id) {
  if (digests_.contains(id)) return;
  const std::string path = tree_.path_of(id);
  // Reading these waits for ever, or takes what others should get.
  if (path == "/proc/kmsg" || path == "/proc/kcore" || path.ends_with("trace_pipe")) {
    return doubt(ReasonCode::volatile_input, path);
  }
  const auto bytes = os::read_file(files_, path, limits::kKernelFileBytes);
  if (!bytes) return doubt(ReasonCode::volatile_input, path);
  digests_.emplace(id, digest::digest_of(*bytes));
}

void Tracker::on_execute(const Event& event) {
  last_program_.clear();
  const pid_t process = processes_.process_of(event.thread);
  processes_seen_.insert(process);
  nested_.erase(process);
  const Resolved where = resolver_.resolve(event.path, event.follow, event.thread, event.stat);
  if (where.end != WalkEnd::found) return note_dead_end(where);
  const auto stat = state_now(where);
  if (!stat) return note_absent(where.node);
  if (tree_[where.node].zone == Zone::process) return;  // a file without a name, e.g. a memfd
  if (stat->kind != NodeKind::file || !stat->executable()) {
    note(where.node, stat->kind == NodeKind::symlink ? Use::link : Use::kind, stat);
    return;
  }
  ++executions_;
  last_program_ = tree_.path_of(where.node);
  if (where.node == hallmark_) nested_.insert(process);
  note(where.node, Use::kind, stat);
  note(where.node, Use::content, stat);
  note_program(where.node, *stat, path::base_name(event.path), 0);
}

void Tracker::note_program(NodeId id, const FileStat& stat, std::string_view asked, unsigned depth) {
  if (tree_[id].program && !is_internal(id)) return;
  tree_[id].program = true;
  const std::string path = tree_.path_of(id);
  if (!is_internal(id)) programs_.push_back({path, std::string(asked)});
  if (!options_.privileged_by_user && ((stat.mode & kSetIds) != 0 || processes_.has_capabilities(path))) {
    doubt(ReasonCode::privileged, path);
  }
  const ProgramFile program = read_program_file(files_, path);
  if (program.foreign) doubt(ReasonCode::foreign_architecture, path);
  if (program.interpreter.empty()) return;
  if (program.interpreter.front() != '/') return doubt(ReasonCode::observation_lost, path);
  const Resolved where = resolver_.resolve(program.interpreter, true, thread_);
  if (where.end != WalkEnd::found) return note_dead_end(where);
  const auto interpreter = state_now(where);
  if (!interpreter) return note_absent(where.node);
  note(where.node, Use::kind, interpreter);
  note(where.node, Use::content, interpreter);
  if (program.kind == ProgramFile::Kind::script && depth < limits::kShebangHops) {
    note_program(where.node, *interpreter, path::base_name(program.interpreter), depth + 1);
  }
}

void Tracker::on_list(const Event& event) {
  const Resolved where = resolver_.resolve(event.path, true, event.thread);
  if (where.end != WalkEnd::found) return;
  const NodeId id = where.node;
  if (tree_[id].uses & use_bit(Use::listing) || is_ignored(id, thread_)) return;
  if (is_internal(id)) return note_searched(id);
  const auto stat = state_now(where);
  if (!stat || stat->kind != NodeKind::directory) return;
  const auto names = files_.list(tree_.path_of(id));
  if (!names) return doubt(ReasonCode::observation_lost, id);
  std::string kept;
  for (const std::string& name : *names) {
    if (name == "__pycache__") continue;
    if (const NodeId child = tree_.find_child(id, name); child != kNone) {
      const Node& node = tree_[child];
      if (node.zone == Zone::invisible) continue;
      const bool made = node.change != kNone && !changes_[node.change].before;
      if (made && node.own == Own::whole) continue;
    }
    kept.append(name).push_back('\0');
  }
  if (listing_bytes_ + kept.size() > limits::kListingBytes)
    return doubt(ReasonCode::limit_reached, "kListingBytes");
  if (!note(id, Use::listing, stat)) return;
  listing_bytes_ += kept.size();
  listings_.emplace(id, std::move(kept));
}

}  // namespace hallmark::observe
