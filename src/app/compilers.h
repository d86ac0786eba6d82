// Compilers of this machine, as a build from a manifest needs them.
#pragma once

#include <vector>

#include "app/session.h"
#include "kernels/tools.h"
#include "manifest/manifest.h"

namespace hallmark::app {

/// For each kind the compiler that counts: the manifest's, else that of CXX, CUDACXX or HIPCXX, else `c++`,
/// `nvcc`, `hipcc`; these are looked for in PATH and then where their installers put them. One that is not
/// there says so in `missing`. nvcc is asked for its archs.
std::vector<kernels::Tool> find_compilers(const Session& session, const manifest::Manifest& manifest,
                                          const std::vector<manifest::ToolchainKind>& kinds);

}  // namespace hallmark::app
