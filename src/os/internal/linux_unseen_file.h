// The unseen file of Linux: O_TMPFILE, which has no name until it is linked, so that no death leaves it
// behind.
#pragma once

#include <memory>
#include <string>

#include "os/file_system.h"

namespace hallmark::os {

/// nullptr where the file system or the kernel has no such files.
Result<std::unique_ptr<UnseenFile>> create_nameless(const std::string& folder);

}  // namespace hallmark::os
