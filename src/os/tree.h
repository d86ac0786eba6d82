// Whole trees of a file system.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "os/file_system.h"

namespace hallmark::os {

/// Removes a file, a link, or a folder with all that it holds. Links are not followed. Absent is fine. Error:
/// limit (limits::kFolderDepth), and what removing says.
Status remove_tree(FileSystem& files, const std::string& path);

/// All files, links and what else is no folder below `folder`, relative to it, sorted; nothing if it is
/// absent. Links are not followed. Error: limit.
Result<std::vector<std::string>> files_below(FileSystem& files, const std::string& folder);

}  // namespace hallmark::os
