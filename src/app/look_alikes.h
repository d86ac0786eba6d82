// Look-alikes: other files that a program could have been given for one that it loaded.
#pragma once

#include <string>
#include <vector>

#include "model/command.h"
#include "os/file_system.h"
#include "prove/test_guard.h"

namespace hallmark::app {

/// "attn" of "attn.so", "attn.abi3.so" and "attn.cpython-311-x86_64-linux-gnu.so": the module of Python that
/// a file is; empty if it cannot be one.
std::string_view python_module_of(std::string_view file_name);

/// Files with other contents than what was loaded, and not loaded themselves: of the same name in a folder of
/// LD_LIBRARY_PATH or of the RPATH or RUNPATH of what `ours` holds, the same module of Python beside it or at
/// its place below a folder of PYTHONPATH, and of the same name among `built`. `loaded`, `ours` and `built`
/// are absolute; `environment` and `cwd`: the command's. What cannot be read is passed over.
std::vector<prove::LookAlike> look_alikes(os::FileSystem& files, const model::Command& command,
                                          const std::vector<std::string>& loaded,
                                          const std::vector<std::string>& ours,
                                          const std::vector<std::string>& built);

}  // namespace hallmark::app
