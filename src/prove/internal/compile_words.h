// The compiles of C, C++, CUDA and HIP in the command of an edge, and how to send what they write elsewhere.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "os/file_system.h"
#include "prove/build_graph.h"

namespace hallmark::prove {

struct Compile {
  std::vector<std::string> argv;     ///< from the compiler on, launchers left out; response files expanded
  std::vector<std::string> sources;  ///< as spelled
  std::string cwd;                   ///< absolute
  bool is_plain = true;              ///< ShellCommand::is_plain
};

/// A program counts that stands where a program stands: first, or behind ccache and its like, `hallmark run
/// --`, `env` and assignments.
std::vector<Compile> compiles_of(os::FileSystem& files, const BuildEdge& edge);

/// Whether an edge links: then only the names in shared libraries are read, not their code.
bool is_link(const BuildEdge& edge);

/// The one compile of an edge, so that all that it writes lies in `folder`: its output, its dependency file.
/// nullopt, and why in `why_not`: that cannot be told.
std::optional<Compile> compile_into(os::FileSystem& files, const BuildEdge& edge, const std::string& folder,
                                    std::string& why_not);

}  // namespace hallmark::prove
