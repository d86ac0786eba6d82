// Threads for one call: started with it and gone when it returns. No pool outlives a call, so the library keeps no
// state and a fork is safe.
#pragma once

#include <cstdint>

namespace attention_library {

/// Runs body(context, index) once for each index in [0, count), in no order, on at most `threads` threads, the
/// caller's among them; 0: as many as there are cores. Where a thread cannot be started, the others do its part.
void parallel_for(std::int64_t count, int threads, void (*body)(void*, std::int64_t), void* context);

}  // namespace attention_library
