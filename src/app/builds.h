// Builds: the build folders of a tree.
#pragma once

#include <string>
#include <vector>

#include "os/file_system.h"

namespace hallmark::app {

/// Folders of Ninja or of CMake's Makefiles: `root` itself or at most two folders below it, and none whose
/// name begins with a dot. What cannot be listed is passed over; "/" is no tree.
std::vector<std::string> builds_below(os::FileSystem& files, const std::string& root);

}  // namespace hallmark::app
