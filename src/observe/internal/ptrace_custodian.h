// Custodian: a process that goes on tracing what outlives a run under the picked ptrace tier.
//
// The filter of such processes fails every watched call with ENOSYS when nobody traces them, and a filter
// cannot be taken off again. So the tree is handed over: each thread is stopped, set free, and traced again
// by the custodian, which lets every call go on and reports nothing. It ends with the last of them. Where a
// process may not trace what it did not start (kernel.yama.ptrace_scope above 0, without privilege) this
// cannot work: then they are ended.
#pragma once

#include <sys/types.h>

#include <vector>

namespace hallmark::observe {

/// Hands over the threads, which the calling thread traces and of which each waits in a ptrace stop. They are
/// not traced by the caller any more when this returns. False: they were killed instead.
bool hand_to_custodian(const std::vector<pid_t>& threads);

}  // namespace hallmark::observe
