// Guardian: a tiny process that outlives hallmark's sudden death by a moment, to kill the watched tree.
//
// Without it, every watched call of the tree would fail with ENOSYS once the supervisor is gone, and builds
// would go on as garbage. It shares our memory (no page tables are copied) but has descriptors of its own:
// the listener and a pidfd of hallmark. When that ends, it receives each further call and kills the caller,
// until nobody is left.
#pragma once

#include <sys/types.h>

#include <memory>

namespace hallmark::observe {

class Guardian {
 public:
  Guardian();
  ~Guardian();
  Guardian(const Guardian&) = delete;
  Guardian& operator=(const Guardian&) = delete;

  /// False if it could not be started; the run goes on without.
  bool start(int listener);
  /// Ends it. To be called before hallmark itself ends.
  void dismiss();
  pid_t process() const { return process_; }

 private:
  struct Shared;
  static int run(void* shared);
  std::unique_ptr<Shared> shared_;
  pid_t process_ = -1;
};

}  // namespace hallmark::observe
