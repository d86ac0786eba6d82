// Tools: the compilers of this machine, as whoever plans a build needs to know them. Found by room app, which
// may start programs; here they are values.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "manifest/expand.h"
#include "manifest/manifest.h"

namespace hallmark::kernels {

struct Tool {
  manifest::ToolchainKind kind = manifest::ToolchainKind::cpu;
  std::string program;             ///< as it stands in commands: a name of PATH, or a path
  std::string host_compiler;       ///< cuda: for -ccbin; empty: its default
  std::string missing;             ///< why it cannot be used; empty: it can
  std::vector<std::string> archs;  ///< all that it makes code for; empty: it does not tell
};

const Tool* find_tool(const std::vector<Tool>& tools, manifest::ToolchainKind kind);

/// Archs of the selection that their compiler cannot make, each with what it can make that is nearest.
std::vector<manifest::Problem> unsupported_archs(const manifest::Expansion& expansion,
                                                 const std::vector<Tool>& tools);

}  // namespace hallmark::kernels
