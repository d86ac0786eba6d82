// TreeRun: the main loop around one attempt to run a command under one tier (or none).
//
// Contract: run() once. Afterwards either the tree is gone, or its survivors are looked after by a process of
// their own. Threads: the caller's is the main loop; a second one watches.
#pragma once

#include <sys/resource.h>

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "observe/internal/launcher.h"
#include "observe/internal/signals.h"
#include "observe/internal/streams.h"
#include "observe/internal/tier.h"

namespace hallmark::observe {

class TreeRun {
 public:
  /// `tier`: null: unwatched. All outlive the run.
  TreeRun(const model::Command& command, SignalGuard& signals, Streams& streams, TierRun* tier,
          EventSink& sink);
  ~TreeRun();

  enum class Outcome {
    ended,           ///< the command ran
    tier_failed,     ///< nothing ran; failure() says why; another tier may be tried
    command_failed,  ///< nothing ran; failure() says why
  };
  Outcome run();

  const Error& failure() const { return failure_; }
  int wait_status() const { return wait_status_; }
  std::uint64_t peak_rss_bytes() const { return peak_rss_bytes_; }

 private:
  void start_watcher();
  void end_watcher();
  void loop();
  void take_signals();
  void take_ends();
  void reap();
  void on_end(pid_t process, int wait_status, const rusage& usage);
  /// Processes that the command left behind, as far as they are our children by now.
  std::vector<pid_t> rest_of_tree() const;
  bool signal_rest(int signal) const;
  void kill_rest();
  void leave_survivors();
  Error why_command_failed() const;

  const model::Command& command_;
  SignalGuard& signals_;
  Streams& streams_;
  TierRun* tier_;
  EventSink& sink_;
  Launcher launcher_;

  struct End {
    pid_t process;
    int wait_status;
    rusage usage;
  };
  std::thread watcher_;
  Descriptor wake_;  // eventfd: ends_ or watcher_done_ changed
  std::mutex ends_mutex_;
  std::vector<End> ends_;  // guarded by ends_mutex_; only of tiers that reap
  std::atomic<bool> watcher_done_{false};
  Status attached_;  // written by the watcher before watcher_done_

  bool main_ended_ = false;
  bool tree_empty_ = false;
  int wait_status_ = 0;
  std::uint64_t peak_rss_bytes_ = 0;
  Error failure_;
};

}  // namespace hallmark::observe
