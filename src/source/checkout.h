// Checkouts: the sources of a manifest on disk, each at its pin.
//
// A checkout is a folder, and beside it files of the same name with a dot before it: `.NAME.hallmark` (a note
// of what was checked out; docs/sources.md), `.NAME.hallmark-lock`, and while a sync works
// `.NAME.hallmark-new`. A checkout appears whole or not at all. One that moves to another pin is marked in
// its note first: a sync that was killed is repaired by the next. One sync at a time for each folder; the
// lock dies with its holder.
//
// Nobody's git configuration is edited, and no variable of a surrounding git command (GIT_DIR...) is obeyed.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/command.h"
#include "model/pin.h"
#include "os/file_system.h"

namespace hallmark::source {

struct Context {
  os::FileSystem& files;
  model::Environment environment;             ///< hallmark's own; git gets a cleaned copy
  std::function<void(std::string_view)> say;  ///< progress, a line each; may be empty
};

enum class Standing : std::uint8_t {
  absent,     ///< there is no such folder, or an empty one
  at_pin,     ///< perhaps with edits: see `dirty`
  elsewhere,  ///< a checkout at another commit, with other patches, without a submodule, or half moved
  foreign     ///< something that no sync made
};

struct State {
  Standing standing = Standing::absent;
  std::string commit;              ///< what is there: a commit, or the sha256 of an archive; may be empty
  std::vector<std::string> dirty;  ///< files that differ from what was checked out, below the folder; sorted
  std::string why;                 ///< of elsewhere and foreign: what is not as the pin says
  /// Changes whenever the bytes may differ: commit, tree, patches, submodules, and the content of dirty
  /// files. For keys and descriptions: no paths of this machine, no times. Empty if absent or foreign.
  std::string identity;

  bool is_clean_at_pin() const { return standing == Standing::at_pin && dirty.empty(); }
};

/// What is on disk. Quick and offline. What the source's own .gitignore hides and __pycache__ do not count.
/// Errors: permission (a folder of another owner, and safe_directory = "never"), no_command (no git), io,
/// newer_format.
Result<State> state_of(const model::Source& source, const Context& context);

/// One way in which the source and the wrapper that fills its structures disagree. A line for people.
using Finding = std::string;  ///< "HEADER:LINE: ...; WRAPPER:LINE"

struct Synced {
  State state;
  bool changed = false;            ///< anything was fetched or checked out
  std::string refused;             ///< not at the pin, and left alone: why, and what to do; one line
  std::vector<Finding> findings;   ///< of the guards; only at the pin
  std::vector<std::string> notes;  ///< what is not as one would expect, such as files of Git LFS

  bool is_good() const { return refused.empty() && findings.empty(); }
};

/// Brings a source to its pin. At the pin nothing is touched, dirty or not. A dirty tree elsewhere, and what
/// no sync made, is refused. Errors name the remote and the commit: not_found (the remote lacks it), io,
/// permission, corrupt (an archive whose bytes are others), invalid (a patch that does not apply, an archive
/// that would write outside of its folder), limit, no_command (git or curl is not installed).
Result<Synced> sync(const model::Source& source, const Context& context);

/// Compares the structures and declarations that a source is expected to have with the wrappers, without
/// checking out. Errors: not_found (a header or wrapper), limit, io.
Result<std::vector<Finding>> check_guards(const model::Source& source, os::FileSystem& files);

/// Variables for every command of a build: GIT_CONFIG_GLOBAL if a source has safe_directory = "process". It
/// names a file beside the first such source that includes the user's own configuration and says that these
/// folders are safe; it is written if it differs. Empty if no source asks for it. Error: io.
Result<model::Environment> words_for_commands(const std::vector<model::Source>& sources,
                                              const Context& context);

/// The last name of that file: a variable whose value ends in it is no key's affair.
inline constexpr std::string_view kGitConfigName = ".hallmark-git-config";

/// The commit that a branch, tag or whole commit means at the remote of a git source. Errors: not_found,
/// invalid (an archive; a name that is both; a shortened commit), io.
Result<std::string> resolve_at_remote(const model::Source& source, const std::string& name,
                                      const Context& context);

}  // namespace hallmark::source
