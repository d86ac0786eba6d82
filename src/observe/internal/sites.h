// Sites: where a libc makes file system calls in the form that the agent can redirect.
//
// A site is `mov $number,%eax` (b8 and four bytes) followed at once by `syscall`, or the one other idiom that
// glibc has: `mov $number,%eax; mov %rdi,%rsi; mov $AT_FDCWD,%edi; syscall` (open without cancellation). Only
// the five bytes of the last mov are replaced, so a jump to the syscall behind it stays right; a jump into
// the bytes before would not. It cannot be proven from the bytes alone that there is none, but: no compiler
// jumps into an instruction, a preceding byte that could make the mov another instruction (a prefix)
// disqualifies the site, and so does any byte pattern nearby that could be a jump behind its first byte. An
// open between two calls is left alone: that is how glibc lets a thread be cancelled in it. What is not found
// or not trusted here is no loss of truth: such calls go to the supervisor.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "observe/internal/ring.h"

namespace hallmark::observe {

/// The sites of an x86-64 shared library, of those calls only whose rule in the syscall table is `fast`, by
/// rising offset, ring::kSitesPerLibrary at most (those of the frequent calls first). Empty: nothing in this
/// form. Invalid: not such a library, or damaged.
Result<std::vector<ring::SharedSite>> find_sites(ByteView library);

/// The same for a file. Maps it; does not follow what happens to it later.
Result<std::vector<ring::SharedSite>> find_sites_in_file(const std::string& path);

}  // namespace hallmark::observe
