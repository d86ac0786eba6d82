// FastPath: what the hybrid tier adds to the notify tier, as the notify tier sees it. Implemented by the
// agent's side (ring.h and its neighbours).
//
// Threads: all calls come from the one watcher thread, except prepare(), which comes from the main thread
// before it starts.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "observe/internal/event.h"
#include "observe/internal/event_sink.h"
#include "observe/internal/filter.h"

namespace hallmark::observe {

/// What a process gets instead of the kernel's answer to a watched call.
struct InjectedReply {
  int descriptor = -1;     ///< >= 0: a descriptor of ours that is put into the process (close-on-exec), its
                           ///< number plus `value` is the result. It stays ours: open until the next answer()
  std::int64_t value = 0;  ///< otherwise: the result ...
  int error = 0;           ///< ... or -errno
};

class FastPath {
 public:
  virtual ~FastPath() = default;

  /// Makes ring, agent file and site tables. A failure degrades the run to the notify tier.
  virtual Status prepare() = 0;
  virtual StubPage stub() const = 0;

  /// Reports every finished record to `sink`, oldest first. Called before each slow event and at the end of
  /// the tree.
  virtual void drain(EventSink& sink) = 0;

  /// Sees each open, look and read_link of the slow path (after drain, before the sink sees it). nullopt: not
  /// the agent's business. A reply keeps the event from the sink, unless `report` was set to true. May block
  /// its process by draining first, but must not wait.
  virtual std::optional<InjectedReply> answer(const Event& event, bool& report) = 0;

  /// A process of the tree is about to get another view of the file system (chroot, mount, pivot_root, setns,
  /// ...): paths in the ring would no longer mean what they say. Called before the call is let pass.
  virtual void on_new_view() = 0;

  /// `thread` is about to lock its process in with a filter of its own (seccomp), which may forbid what an
  /// agent does besides the program's calls. Called before the call is let pass.
  virtual void on_confine(pid_t thread) = 0;

  /// `thread` is about to execute the program at `path` (normal form, links followed). Decides whether the
  /// agent will be put into it.
  virtual void on_execute(pid_t thread, std::string_view path) = 0;

  /// The tree is gone (or only survivors are left): the last drain, lost records become doubts, hints are
  /// learnt.
  virtual void finish(EventSink& sink) = 0;

  virtual std::uint64_t fast_events() const = 0;
};

}  // namespace hallmark::observe
