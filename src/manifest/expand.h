// Expansion: a manifest and a selection become the list of all that is to be compiled and linked.
//
// Reads folders (patterns), runs nothing. Everything is in a fixed order: the same manifest, selection and
// folders give the same Expansion, byte by byte.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "manifest/manifest.h"
#include "manifest/parse.h"
#include "os/file_system.h"

namespace hallmark::manifest {

/// Who decided something; shown by `manifest show`.
enum class Origin : std::uint8_t { command_line, profile, manifest, environment, machine, built_in };
const char* name_of(Origin origin);

/// What the person asked for. Empty: not said.
struct Selection {
  std::string profile;                                       ///< "" is "default"
  std::vector<std::string> archs;                            ///< --arch
  std::vector<std::string> libraries;                        ///< --library
  std::vector<std::pair<std::string, std::string>> options;  ///< --option NAME=VALUE
  std::string environment_archs;                             ///< HALLMARK_ARCHS
  std::string folder;  ///< --build-dir, absolute or relative to the working folder
};

struct Arch {
  ToolchainKind toolchain = ToolchainKind::cpu;
  std::string name;  ///< "sm_90a", "native"
  Place place;
  friend bool operator==(const Arch& one, const Arch& other) {
    return one.toolchain == other.toolchain && one.name == other.name;
  }
};

/// The toolchain that an arch belongs to; nullopt: no known spelling. `native` belongs to all (see expand()).
std::optional<ToolchainKind> toolchain_of_arch(std::string_view arch);
/// With what no identifier may hold replaced by `_`.
std::string arch_identifier(std::string_view arch);
/// The toolchain that compiles files of this suffix; nullopt: none (a header, say).
std::optional<ToolchainKind> toolchain_of_file(std::string_view path);

struct ChosenOption {
  std::string name;
  Value value;
  Origin origin = Origin::built_in;
  std::string define;
  std::vector<ToolchainKind> toolchains;  ///< those that get it
};

/// One thing that is compiled: a kernel's variant (for one arch or for all), or a hand-written source.
struct Unit {
  std::string name;  ///< unique in its library: a variant's name, or a source's path with what is no
                     ///< identifier replaced
  const Kernel* kernel = nullptr;  ///< nullptr: a hand-written source
  ToolchainKind toolchain = ToolchainKind::cpu;
  std::string file;                                 ///< absolute; of a template, the template
  std::vector<std::pair<std::string, Value>> axes;  ///< of the kernel, in the library's order
  std::vector<std::string> archs;                   ///< one if per_arch; empty: the compiler's own default
};

struct EmbeddedFile {
  std::string file;  ///< absolute
  std::string symbol;
};

struct Header {
  std::string file;       ///< absolute
  std::string installed;  ///< below include/
};

struct ExpandedLibrary {
  const Library* library = nullptr;
  std::string name_space;
  std::vector<Unit> units;
  std::vector<EmbeddedFile> embedded;
  std::vector<Header> headers;
  std::vector<std::string> include;  ///< absolute
};

/// A kernel, or all of a toolchain, that this selection leaves out, and why.
struct NotBuilt {
  std::string library;
  std::string kernel;
  ToolchainKind toolchain = ToolchainKind::cpu;
  std::string why;
};

/// Pointers point into the manifest that was expanded, which must live longer.
struct Expansion {
  std::string profile;
  std::string folder;  ///< the build folder, absolute
  std::vector<Arch> archs;
  Origin archs_origin = Origin::built_in;
  std::vector<ToolchainKind> toolchains;  ///< those that some unit needs
  std::vector<ChosenOption> options;
  std::vector<std::string> defines;  ///< of [build] and the profile
  std::vector<ExpandedLibrary> libraries;
  std::vector<const Codegen*> codegens;  ///< those that some chosen library uses
  std::vector<NotBuilt> not_built;
  std::vector<std::string> listed_folders;  ///< absolute, sorted: patterns depend on these
};

/// What was found wrong while expanding is like what parse() finds.
struct Expanded {
  Expansion expansion;
  std::vector<Problem> problems;
};

/// Folders of sources that are not checked out yet.
enum class MissingSources : std::uint8_t {
  are_problems,  ///< a pattern below one that matches nothing is a problem
  are_awaited    ///< such a pattern is passed over: `manifest check` before `sync`
};

/// `source_folders`: where each source is, absolute, by name. `native`: what `native` means for each
/// toolchain (empty: that cannot be told, and nothing of it is built if only `native` was asked for). Errors:
/// io. 34,000 variants take less than a second.
Result<Expanded> expand(const Manifest& manifest, const Selection& selection,
                        const std::map<std::string, std::string>& source_folders,
                        const std::map<ToolchainKind, std::vector<std::string>>& native,
                        os::FileSystem& files, MissingSources missing);

/// Whether a file that a code generator made (relative to its folder) is one to compile, by its `outputs`.
bool is_output(const Codegen& codegen, std::string_view file);

/// Where each source of the manifest is checked out.
std::map<std::string, std::string> source_folders(const Manifest& manifest);

/// Replaces `{root}`, `{source.NAME}` and what `more` names; `{{` is a brace. Error: invalid, names the
/// placeholder.
Result<std::string> filled_in(std::string_view text, const Manifest& manifest,
                              const std::map<std::string, std::string>& source_folders,
                              const std::map<std::string, std::string>& more);

/// The text that filled_in() gives back as this one.
std::string as_literal(std::string_view text);

}  // namespace hallmark::manifest
