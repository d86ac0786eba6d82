// Tracker: turns the events of a run into its Observation. It is where "input" and "output" get their
// meaning.
//
// The rules, per path in normal form:
//   - the first use counts, with the state of the disk at that time; what the command made before is no
//   input;
//   - a name that is missing below a folder that the command made is the command's own business; a file there
//   that it did
//     not make (somebody else writes there, too) is an input;
//   - a change is believed until the disk shows that it failed;
//   - a file made whole (truncated, created, renamed over) needs no earlier look at it: such looks are
//   dropped at the end;
//   - content that was read and is about to be changed is hashed just before the change;
//   - what is left as it was found is no output, what is made and removed again is nothing.
//
// Contract: a pure function of the events, the FileSystem, the hasher and ProcessInfo. One thread. Memory is
// bounded: beyond limits::kObservedPaths distinct paths, nothing new is kept and the result carries
// limit_reached.
#pragma once

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "digest/content_hasher.h"
#include "model/observation.h"
#include "observe/internal/event_sink.h"
#include "observe/internal/path_resolver.h"
#include "observe/internal/path_tree.h"
#include "observe/internal/process_info.h"
#include "os/file_system.h"

namespace hallmark::observe {

struct TrackerOptions {
  std::vector<std::string> invisible;  ///< folders in normal form
  std::string hallmark_program;        ///< looks of its processes count as reads; may be empty
  bool privileged_by_user =
      false;  ///< we are root without no_new_privs: setuid and capabilities change nothing
};

class Tracker final : public EventSink, private PathResolver::Listener {
 public:
  Tracker(os::FileSystem& files, digest::ContentHasher& hasher, ProcessInfo& processes,
          TrackerOptions options);

  void on_event(const Event& event) override;
  void on_doubt(model::Reason reason) override;
  std::string_view last_program() const override { return last_program_; }

  bool is_own(std::string_view path, pid_t thread) override;

  /// After the last event: fills inputs, outputs, removals, programs and doubts.
  void finish(model::Observation& into);

  /// Programs executed so far.
  std::uint64_t executions() const { return executions_; }

 private:
  struct Change {
    NodeId node = kNone;
    std::optional<FileStat> before;
    bool ever_whole = false;  ///< it was made whole at some time, so that looks at it do not count
    bool whole = false;       ///< as it stands
  };

  // tracker.cpp: uses of what was there before
  void on_link(NodeId link) override;
  void on_left_folder(NodeId folder) override;
  void on_read(const Event& event);
  void on_execute(const Event& event);
  void on_list(const Event& event);
  bool is_ignored(NodeId node, pid_t thread) const;
  bool is_internal(NodeId node) const;
  bool is_below_own_folder(NodeId node) const;
  /// Takes a change back that failed, as the state of the disk after it shows.
  void settle(NodeId node, const std::optional<FileStat>& now);
  bool is_full();
  bool note(NodeId node, model::Use use, std::optional<FileStat> stat);
  void note_absent(NodeId node);
  /// Names of others in a folder of the command's would have counted.
  void note_searched(NodeId folder) { searched_.insert(folder); }
  /// As note_absent; it counts whatever the command makes there afterwards.
  void keep_absence(NodeId node);
  /// What a walk that did not reach its end says about the disk.
  void note_dead_end(const Resolved& where);
  void note_by_kind(const Event& event, NodeId node, const std::optional<FileStat>& stat, bool nested);
  void note_special(NodeId node, bool write);
  void note_source_of_bytecode(NodeId node);
  void note_program(NodeId node, const FileStat& stat, std::string_view asked, unsigned depth);
  void doubt(model::ReasonCode code, std::string subject);
  void doubt(model::ReasonCode code, NodeId subject);
  void hash_kernel_file(NodeId node);
  bool is_nested(pid_t thread);

  // tracker_changes.cpp: changes
  void on_open_write(const Event& event);
  void on_make(const Event& event);
  void on_remove(const Event& event);
  void on_rename(const Event& event);
  void on_hard_link(const Event& event);
  void on_in_place(const Event& event, bool whole);
  void on_set_attribute(const Event& event);
  /// Remembers the state before the first change. `now`: nullopt: absent.
  Change& begin_change(NodeId node, const std::optional<FileStat>& now);
  void make_whole(NodeId node, const std::optional<FileStat>& now);
  void change_in_place(NodeId node, const FileStat& now);
  /// A change through one name of a file changes what all its names hold, wherever they are.
  void doubt_if_linked(NodeId node, const FileStat& now);
  void make_gone(NodeId node, const std::optional<FileStat>& now);
  void move_subtree(NodeId from, NodeId to);
  void keep_content_before_change(NodeId node);
  void take_content(NodeId node, const FileStat& stat);
  /// State of the node now; asks the disk unless `where` brought it.
  std::optional<FileStat> state_now(const Resolved& where);
  void forget_walks();

  // tracker_result.cpp
  std::uint8_t uses_that_count(NodeId node) const;
  /// Adds the own folders that were missed before they were made, and those in which a name was missed.
  void find_searched_folders();
  void add_inputs_of(NodeId node, std::vector<model::ObservedInput>& inputs) const;

  os::FileSystem& files_;
  digest::ContentHasher& hasher_;
  ProcessInfo& processes_;
  TrackerOptions options_;
  PathTree tree_;
  PathResolver resolver_;
  HashTable seen_;  // accesses by spelled path that can add nothing any more
  std::vector<Change> changes_;
  std::unordered_map<NodeId, digest::Digest> digests_;
  std::unordered_map<NodeId, std::string> listings_;  // names, each with a 0 behind it
  std::unordered_map<NodeId, Text> targets_;          // of links at their first use
  std::size_t listing_bytes_ = 0;
  std::unordered_set<NodeId> counted_absences_;
  std::unordered_set<NodeId> searched_;      // own folders that were listed
  std::unordered_set<NodeId> missed_below_;  // names that were missed below own folders
  std::vector<model::ObservedProgram> programs_;
  std::set<model::Reason> doubts_;
  std::unordered_set<pid_t> nested_;  // processes that run hallmark itself
  std::unordered_set<pid_t> processes_seen_;
  pid_t thread_ = 0;  // of the event at hand
  std::string last_program_;
  NodeId hallmark_ = kNone;
  std::uint64_t executions_ = 0;
  std::size_t input_paths_ = 0;
  bool made_folders_ = false;  // whether ancestors must be asked at all
};

}  // namespace hallmark::observe
