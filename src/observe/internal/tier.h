// TierRun: one way to watch a process tree. The launcher starts the child once and the tier plugs in.
//
// Order of calls: prepare() on the main thread; the watcher thread starts; the launcher clones the child
// (memory shared with the parent until it executes, see launcher.h); enter_child() in the child; attach() and
// then watch() on the watcher thread. A TierRun serves one run.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <functional>

#include "base/result.h"
#include "model/observation.h"
#include "observe/internal/event_sink.h"

namespace hallmark::observe {

/// Who ended, how, and what it used. Called by whoever reaps: the main loop or a tier that must wait itself.
using OnProcessEnd = std::function<void(pid_t process, int wait_status, const rusage& usage)>;

class TierRun {
 public:
  virtual ~TierRun() = default;

  virtual model::Tier tier() const = 0;

  /// Everything that the child and the watcher need. A failure means that this tier does not work here.
  virtual Status prepare() = 0;

  /// In the child, which shares our memory: system calls only, no allocation, no locks. Returns 0 or an
  /// errno; then the child ends and the tier counts as not working here. `child` is the child's own process
  /// id.
  virtual int enter_child() = 0;

  /// On the watcher thread, while enter_child() may still run or have failed (then this must return soon:
  /// give_up()).
  virtual Status attach(pid_t child) = 0;

  /// On the watcher thread, after attach(): reports events until the tree is gone or stop() was called.
  virtual void watch(EventSink& sink) = 0;

  /// From any thread: no process of the tree is wanted any more; watch() returns soon. Processes that still
  /// live go on unwatched (and must not be harmed by it).
  virtual void stop() = 0;

  /// What must be answered for processes that go on after watch(): a seccomp listener; -1: nothing.
  virtual int listener() const { return -1; }
  /// A child of ours that is no part of the tree; -1: none.
  virtual pid_t helper() const { return -1; }

  /// True if watch() reaps the tree itself and calls `on_end`; the main loop then must not wait for children.
  virtual bool reaps() const { return false; }
  virtual void set_on_end(OnProcessEnd) {}

  virtual model::Counters counters() const = 0;
};

}  // namespace hallmark::observe
