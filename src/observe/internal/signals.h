// SignalGuard: what hallmark does with signals while a command runs.
//
// SIGINT and SIGQUIT are for the command, which gets them from the terminal itself; SIGTERM, SIGHUP, SIGUSR1
// and SIGUSR2 are handed on to it; stop signals keep their default, so that job control stops and continues
// all of us. One at a time in a process; made and destroyed on the main thread, before other threads start.
#pragma once

#include <signal.h>
#include <sys/signalfd.h>

#include "observe/internal/descriptor.h"
#include "observe/internal/launcher.h"

namespace hallmark::observe {

class SignalGuard {
 public:
  SignalGuard();
  ~SignalGuard();
  SignalGuard(const SignalGuard&) = delete;
  SignalGuard& operator=(const SignalGuard&) = delete;

  /// Readable when a signal came.
  int descriptor() const { return descriptor_.get(); }
  /// What a child must get back.
  const SignalState& original() const { return original_; }
  static bool is_forwarded(unsigned signal);

  /// Interrupts a blocking system call of a thread of ours.
  static void kick(pthread_t thread);

 private:
  Descriptor descriptor_;
  SignalState original_{};
  struct sigaction kick_before_ {};
};

}  // namespace hallmark::observe
