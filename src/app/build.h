// Use case: build the kernel libraries of a manifest, through Ninja.
//
// Plans, writes what changed of the plan, starts Ninja in the build folder and, when it succeeded, completes
// what is installed: public headers, links, the description. One build at a time for each build folder: a
// second one waits and says for whom. Interrupted at any point, the next build is right. Source trees are
// never written to.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "app/session.h"
#include "base/result.h"
#include "kernels/plan.h"
#include "manifest/expand.h"

namespace hallmark::app {

struct BuildRequest {
  std::string where;  ///< a hallmark.toml or its folder; empty: the nearest
  manifest::Selection selection;
  std::vector<std::string> selection_words;  ///< flags that say the same from any folder
  std::string jobs;                          ///< -j of Ninja; empty: its own choice
  bool keep_going = false;
  bool verbose = false;
};

struct BuiltLibrary {
  std::string name;
  std::string file;  ///< absolute
  std::size_t variants = 0;
};

struct BuildResult {
  std::string folder;  ///< absolute
  int ninja_exit_code = 0;
  std::vector<BuiltLibrary> libraries;  ///< empty if Ninja failed
  std::vector<manifest::NotBuilt> not_built;
  std::size_t units = 0;
  std::string description;  ///< absolute path of share/hallmark/PROJECT.json; empty if Ninja failed
};

/// Says a line to whoever watches.
using Say = std::function<void(std::string_view)>;

/// Errors: invalid (the manifest; what a code generator made), unsupported (no Ninja, a required compiler is
/// missing), io, no_space. A command of the build that failed is no Error: ninja_exit_code tells.
Result<BuildResult> build(const Session& session, const BuildRequest& request, const Say& say);

/// What build.ninja itself calls, below a build that holds the lock: writes the plan anew.
Status plan_only(const Session& session, const BuildRequest& request);
/// The same: runs a code generator, or what hallmark generates itself; `generator` is NAME or
/// NAME@DEFINITION.
Status run_codegen_only(const Session& session, const BuildRequest& request, std::string_view generator);
/// What that runs of hallmark itself: writes all generated files into a folder.
Status write_generated_files(const Session& session, const BuildRequest& request, const std::string& into);

/// What each generator's run ends with: copies files of the working folder into another.
Status copy_generated_files(const Session& session, const std::vector<std::string>& names,
                            const std::string& into);

}  // namespace hallmark::app
