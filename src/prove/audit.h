// Audit: what a build does not know of itself.
//
// For each edge the files that its command really reads are compared with those that the build tool compares.
// A file that is read and not compared is a **gap**: editing it rebuilds nothing, and what is made of it goes
// stale in silence. Further ways to go stale are **findings**.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "os/file_system.h"
#include "prove/build_graph.h"
#include "prove/witness.h"

namespace hallmark::prove {

/// A file that is read by edges that would not run again if it changed.
struct Gap {
  struct Reader {
    std::string output;  ///< the edge's first
    Testimony how{};
  };
  std::string file;
  bool is_system = false;  ///< of the compiler, the system or an installed toolkit
  std::vector<Reader> readers;
};

struct Finding {
  enum class Kind : std::uint8_t {
    made_at_configure,  ///< a source in the build folder that no edge makes
    glob,               ///< a list of files that is made only when the build is configured
    temporary,          ///< a dependency that is gone, so that the edge runs in every build
    no_rule,            ///< an artifact in the build folder that no edge makes
    undeclared,         ///< written by an edge that does not say so
    two_writers,        ///< a file that two edges write
  };
  Kind kind{};
  std::string subject;  ///< absolute
  std::string what;
  std::string remedy;
};

/// "made_at_configure", stable.
std::string_view name_of(Finding::Kind kind);

struct Audit {
  std::vector<Gap> gaps;  ///< those of most readers first; system files last
  std::vector<Finding> findings;
  std::size_t edges = 0;     ///< that run a command and belong to no configuration
  std::size_t recorded = 0;  ///< of them: judged by records
  std::size_t observed = 0;
  std::size_t by_includes = 0;  ///< weaker
  std::size_t unknown = 0;      ///< nothing tells what they read
  std::vector<std::string> complaints;

  /// Nothing tells what any edge reads: that nothing is missing then means nothing.
  bool compared_nothing() const { return unknown == edges; }
};

/// `reads`: parallel to the graph's edges; nullopt: nothing is known. Looks at files, executes nothing.
Audit audit(os::FileSystem& files, const BuildGraph& graph,
            const std::vector<std::optional<StepReads>>& reads);

/// How the gaps are closed: lines for a person to copy.
std::vector<std::string> repair_lines(const BuildGraph& graph, const Audit& audit, bool is_made_by_cmake);

}  // namespace hallmark::prove
