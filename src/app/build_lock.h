// The lock of a build folder.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "os/file_system.h"

namespace hallmark::app {

/// Waits for it if another process holds it, and says for which. It dies with its holder.
Result<std::unique_ptr<os::FileLock>> lock_build(os::FileSystem& files, const std::string& folder,
                                                 const std::function<void(std::string_view)>& say);

}  // namespace hallmark::app
