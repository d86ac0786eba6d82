// Artifacts: which files of a build are worth a verdict.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "os/file_system.h"

namespace hallmark::prove {

/// Whether a file has the name of what compilers, linkers and archivers write: an object, a library, device
/// code.
bool has_artifact_name(std::string_view path);

/// Whether it begins as machine code (of a host or a device, or a bundle of these) or an archive does.
bool has_artifact_bytes(os::FileSystem& files, const std::string& path);

/// All files below a folder with such names, and executables with such bytes, sorted; without links and what
/// CMake's own tests of the compiler left. Errors: io.
Result<std::vector<std::string>> artifacts_below(os::FileSystem& files, const std::string& folder);

/// The artifacts of a build folder that are there, sorted. Of Ninja: the outputs of all edges that run a
/// command, but links: what they lead to is an output, too. Of Make: artifacts_below(). Errors: invalid (the
/// folder is of neither), io.
Result<std::vector<std::string>> artifacts_of_build(os::FileSystem& files, const std::string& folder);

}  // namespace hallmark::prove
