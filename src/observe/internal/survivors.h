// Survivors: processes of the tree that outlive the command and its grace.
#pragma once

#include <sys/types.h>

#include <vector>

namespace hallmark::observe {

/// The children of this process now, orphans of the tree among them.
std::vector<pid_t> children_of_this_process();

/// What a survivor still needs from us.
struct Upkeep {
  int listener = -1;    ///< its watched calls must be let go on; -1: it is not watched
  int out_source = -1;  ///< what it writes must reach our descriptor 1 ...
  int err_source = -1;  ///< ... or 2; -1: nothing
};

/// Starts a process, detached from us and from the terminal's signals, that looks after them until the last
/// is gone.
void look_after_survivors(const Upkeep& upkeep);

}  // namespace hallmark::observe
