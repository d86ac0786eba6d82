// Archive: the members of an ar archive (System V and BSD names), without their index and table of names.
//
// Contract: pure, reads bytes of any origin, copies no member. Thread-safe.
#pragma once

#include <functional>
#include <string_view>

#include "base/result.h"

namespace hallmark::inspect {

/// True if the bytes begin an archive, a thin one too.
bool is_archive(std::string_view bytes);

/// Calls `visit` with name and bytes of each member, in order; views are valid during the call only. Errors:
/// corrupt (malformed or truncated), unsupported (a thin archive: it only names its members).
Status for_each_member(std::string_view bytes,
                       const std::function<void(std::string_view name, std::string_view bytes)>& visit);

}  // namespace hallmark::inspect
