// Launcher: starts the command once, with a tier around it.
//
// The child is made as posix_spawn makes it, with memory and descriptors shared until the execution: nothing
// is copied, and the listener appears in our own table. The child gets a table of its own when it has entered
// the tier (notify_tier.cpp) or, at the latest, from the kernel when it executes the program; descriptors 0
// to 2, which the child may have set before, are put back here. The calling thread sleeps until the program
// is executed or failed; that execution is watched already, so the watcher thread must be at work.
#pragma once

#include <signal.h>

#include <atomic>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/command.h"
#include "observe/internal/tier.h"

namespace hallmark::observe {

/// What the child gets as descriptors 0, 1 and 2.
struct ChildStreams {
  static constexpr int kClosed = -1;
  int in = 0;
  int out = 1;
  int err = 2;
};

/// Signal state that a child must get back, whatever hallmark does with signals itself.
struct SignalState {
  sigset_t mask;
  struct sigaction interrupt;
  struct sigaction quit;
  struct sigaction pipe;
  struct sigaction child;
};

class Launcher {
 public:
  Launcher(const model::Command& command, ChildStreams streams, const SignalState& signals);

  enum class Outcome {
    running,
    tier_failed,     ///< the child could not enter the tier; error() says why
    command_failed,  ///< no program could be executed, or the working folder is gone
  };
  /// `tier`: null: unwatched. The child is not reaped, whatever the outcome.
  Outcome start(TierRun* tier);

  /// Waits, on the watcher thread, until the child exists; 0 if it could not be made.
  pid_t await_child();

  pid_t child() const { return child_.load(); }
  int error() const { return error_; }
  /// Where the working folder, not the program, was at fault.
  bool folder_failed() const { return folder_failed_; }

 private:
  static int run_child(void* self);
  int child_main();
  Outcome not_started(int error);
  void execute();

  const model::Command& command_;
  ChildStreams streams_;
  SignalState signals_;
  std::vector<std::string> candidates_;
  std::vector<std::string> environment_;
  std::vector<char*> argv_;
  std::vector<char*> shell_argv_;
  std::vector<char*> envp_;
  TierRun* tier_ = nullptr;
  std::atomic<int> child_{0};
  int error_ = 0;
  bool entered_ = false;
  bool folder_failed_ = false;
  bool changes_folder_ = false;
};

/// The paths that a program name may mean, in order, as execvp tries them.
std::vector<std::string> candidates_of(const std::string& name, const model::Environment& environment);

}  // namespace hallmark::observe
