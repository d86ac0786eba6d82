// BuildGraph: what a build tool itself knows of a build: for each edge what it compares, and what it
// remembers of the last time. Read from its files; nothing is executed.
//
// // Of Ninja: build.ninja, .ninja_log, .ninja_deps, and the dependency files that Ninja reads anew each
// time. Of Make: what Make itself said. Of anything else: compile_commands.json, whose edges have no inputs
// but their source and the dependency file that the compiler wrote.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "inspect/make_trace.h"
#include "os/file_system.h"

namespace hallmark::prove {

/// All paths are absolute; links in their folders are resolved, as those of observed paths are.
struct BuildEdge {
  std::vector<std::string> outputs;
  std::vector<std::string> inputs;      ///< explicit and implicit: a newer one starts the command again
  std::vector<std::string> order_only;  ///< merely made first
  std::vector<std::string> noted;       ///< what the compiler wrote down that it read; compared like inputs
  bool has_notes = false;
  bool wants_notes = false;      ///< the tool runs it again if there are none
  bool has_more_inputs = false;  ///< some are found only while it builds (dyndep)
  std::string command;           ///< for /bin/sh; empty: phony
  std::string cwd;               ///< where it runs
  std::string depfile;           ///< empty: none
  std::string response_file;  ///< that the tool writes before the command and removes after it; empty: none
  std::string response_text;
  bool is_generator = false;
  bool is_restat =
      false;  ///< leaves an output as it is if it would be equal: the tool's log tells when it ran
  bool is_output_time = false;            ///< logged_ns is the output's mtime, not when the command began
  std::optional<std::int64_t> logged_ns;  ///< the time that the tool noted when it made the outputs
  std::optional<bool> is_logged_command;  ///< whether this very command made them; nullopt: not known

  bool is_phony() const { return command.empty(); }
};

class BuildGraph {
 public:
  enum class Tool : std::uint8_t { ninja, make, compile_commands };

  /// Of Ninja. Errors: invalid (there is no build.ninja), io.
  static Result<BuildGraph> read(os::FileSystem& files, const std::string& folder);
  /// Of Make.
  static BuildGraph of_make(os::FileSystem& files, const std::string& folder,
                            const std::vector<inspect::MakeTarget>& targets);
  /// An entry of compile_commands.json.
  struct CompileCommand {
    std::string folder;   ///< absolute
    std::string command;  ///< for /bin/sh
    std::string source;   ///< as spelled, and the output, too; empty: that of -o
    std::string output;
  };
  static BuildGraph of_compile_commands(os::FileSystem& files, const std::string& folder,
                                        const std::vector<CompileCommand>& commands);

  Tool tool() const { return tool_; }
  const std::string& folder() const { return folder_; }
  const std::vector<BuildEdge>& edges() const { return edges_; }
  /// Files that two edges make.
  const std::vector<std::string>& made_twice() const { return made_twice_; }
  /// The edge that makes a file (absolute, links in its folder resolved).
  const BuildEdge* maker_of(const std::string& path) const;
  /// Files that stand for inputs behind phony edges: each input that is no output, or that a command makes.
  /// Names of phony edges are no files.
  std::vector<std::string> without_phony(const std::vector<std::string>& paths) const;
  /// Whether one of them is the name of a phony edge without inputs, and no file: then Ninja always runs an
  /// edge.
  bool has_name_without_file(const std::vector<std::string>& paths) const;
  /// What could not be read, for a person.
  const std::vector<std::string>& complaints() const { return complaints_; }
  void complain(std::string why) { complaints_.push_back(std::move(why)); }

 private:
  friend class GraphReader;
  Tool tool_ = Tool::ninja;
  std::string folder_;
  std::vector<BuildEdge> edges_;
  std::unordered_map<std::string, std::size_t> makers_;
  std::vector<std::string> complaints_;
  std::vector<std::string> made_twice_;
  std::function<bool(const std::string&)> is_file_;
  mutable std::unordered_map<std::string, std::vector<std::string>> behind_phony_;  ///< what was asked for
};

/// The tree that a build is of: the nearest folder with .hallmark or .git around its sources (which CMake and
/// Meson tell; of other builds they lie in the build folder), else the folder of the sources.
std::string tree_around(os::FileSystem& files, const std::string& build_folder);

/// The nearest folder at or above `folder` with a build.ninja.
std::optional<std::string> ninja_folder_above(os::FileSystem& files, std::string_view folder);

}  // namespace hallmark::prove
