// Guardian: a tiny process that outlives hallmark's sudden death by a moment, to kill the watched tree.
//
// Without it, every watched call of the tree would fail with ENOSYS once the supervisor is gone, and builds
// would go on as garbage. It shares our memory (no page tables are copied) but has descriptors of its own:
// the listener and a pidfd of hallmark. When that ends, it stops and kills the command and all that descend
// from it, at once, so that no orphan goes on writing to a file that the next holder of the action's lock
// makes; then it receives each call of whoever is left (a process that had lost its parent) and kills the
// caller.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <memory>

namespace hallmark::observe {

class Guardian {
 public:
  Guardian();
  ~Guardian();
  Guardian(const Guardian&) = delete;
  Guardian& operator=(const Guardian&) = delete;

  /// `command`: the first process of the tree. False if it could not be started; the run goes on without.
  bool start(int listener, pid_t command);
  /// Ends it. To be called before hallmark itself ends.
  void dismiss();
  pid_t process() const { return process_.load(); }  // from any thread

 private:
  struct Shared;
  static int run(void* shared);
  std::unique_ptr<Shared> shared_;
  std::atomic<pid_t> process_{-1};
};

}  // namespace hallmark::observe
