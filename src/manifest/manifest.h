// Manifest: what hallmark.toml says, as values. docs/formats/manifest.md is its reference.
//
// A Manifest that parse() returned is whole and consistent in itself: names are known, kinds are right,
// defaults are filled in. Nothing in it depends on the machine or on the selection of a build; expand()
// brings those together. Values only: copies are independent, any thread may read one. Paths are as written,
// placeholders included (but for `root`); parse() resolves nothing.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace hallmark::manifest {

/// Where something was written. Line and column count from 1; 0 means "not written, a default".
struct Place {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

/// A text and where it stands, so that whoever finds it wrong later can say so.
struct Text {
  std::string text;
  Place place;
};

using Texts = std::vector<Text>;

enum class ToolchainKind : std::uint8_t { cpu, cuda, hip };

/// One value of an axis or option, in its written form: `f16`, `64`, `true`.
struct Value {
  enum class Kind : std::uint8_t { text, integer, boolean };
  Kind kind = Kind::text;
  std::string text;
  friend bool operator==(const Value&, const Value&) = default;
};

/// AXIS = scalar or list; a scalar is a list of one.
using AxisChoice = std::map<std::string, std::vector<Value>>;

struct GitPin {
  Text location;  ///< a URL or a path
  Text commit;    ///< lower-case hex
  std::string ref;
  bool all_submodules = false;
  std::vector<std::string> submodules;  ///< if not all
};

struct ArchivePin {
  Text location;
  Text sha256;  ///< lower-case hex
  std::uint32_t strip = 1;
};

struct ExpectedStruct {
  Text header;
  Text name;
  Text wrapper;
  std::string variable;
  std::vector<std::string> ignore;
};

struct ExpectedDeclaration {
  Text header;
  Text text;
};

enum class SafeDirectory : std::uint8_t { never, process };

struct Source {
  std::string name;
  Place place;
  std::variant<GitPin, ArchivePin> pin;
  Texts patches;     ///< patterns
  std::string path;  ///< where it is checked out, relative to the root
  SafeDirectory safe_directory = SafeDirectory::never;
  std::vector<ExpectedStruct> structs;
  std::vector<ExpectedDeclaration> declarations;
};

struct Toolchain {
  ToolchainKind kind = ToolchainKind::cpu;
  Place place;
  std::optional<Text> compiler;
  std::string host_compiler;
  std::vector<std::string> flags;
  std::vector<std::string> link_flags;
  bool required = false;
};

struct Build {
  Texts archs;
  std::optional<std::vector<ToolchainKind>> toolchains;
  std::vector<std::string> defines;
  std::string standard = "17";
  std::string folder = "build/hallmark";
  Place place;
};

struct Option {
  std::string name;
  Place place;
  std::vector<Value> values;
  Value chosen_by_default;
  std::string define;
  std::optional<std::vector<ToolchainKind>> toolchains;
  std::string help;
};

struct Profile {
  std::string name;
  Place place;
  std::optional<Texts> archs;
  std::optional<std::vector<ToolchainKind>> toolchains;
  std::vector<std::string> defines;
  std::map<std::string, Value> options;
  std::optional<std::vector<std::string>> libraries;
  AxisChoice axes;
  std::map<std::string, std::string> namespaces;
};

struct Codegen {
  std::string name;
  Place place;
  Texts list;  ///< empty: whatever is made counts
  Texts generate;
  Texts outputs;
  std::map<std::string, std::string> environment;
  Text cwd;
};

struct Embed {
  Texts files;
  Text symbol;
};

/// `when` holds and then `set` replaces.
struct Alias {
  AxisChoice when;
  std::map<std::string, Value> set;
  Place place;
};

struct Kernel {
  std::string name;
  Place place;
  Text file;
  bool is_template = false;
  ToolchainKind toolchain = ToolchainKind::cpu;
  Texts archs;  ///< empty: all selected
  bool per_arch = false;
  AxisChoice axes;
  std::vector<std::string> without;
  std::vector<std::pair<AxisChoice, Place>> skip;
  std::vector<Alias> alias;
  std::vector<std::string> defines;
  std::vector<std::string> flags;
  Texts include;
  std::uint64_t memory_mb = 0;  ///< 0: not said
  std::string supports_json;  ///< the capability rules as JSON, for the room that compiles them; may be empty
};

/// Flags of a library: for each compile, and for those of one toolchain.
struct LibraryFlags {
  std::vector<std::string> all, cpu, cuda, hip;
};

enum class LibraryKind : std::uint8_t { shared, static_archive };

/// One axis of a library and all that it can be, in the order written.
struct Axis {
  std::string name;
  Place place;
  std::vector<Value> values;
};

struct Library {
  std::string name;
  Place place;
  LibraryKind kind = LibraryKind::shared;
  std::string name_space;
  Texts sources;
  Texts codegen;
  Texts include;
  std::vector<std::string> defines;
  LibraryFlags flags;
  Texts headers;
  std::string header_root = "include";
  Texts exports;
  std::string soversion;
  std::string output_name;
  Texts links;
  std::vector<std::string> rpath;
  std::vector<Embed> embed;
  std::vector<Axis> axes;
  std::vector<Kernel> kernels;
};

struct Manifest {
  std::string file;  ///< absolute path
  std::string root;  ///< its folder, absolute, links resolved
  std::string project;
  std::string version = "0";
  std::vector<Source> sources;        ///< each list in the order written
  std::vector<Toolchain> toolchains;  ///< those written, each kind once at most
  Build build;
  std::vector<Option> options;
  std::vector<Profile> profiles;  ///< without `default` if it is not written
  std::vector<Codegen> codegens;
  std::vector<Library> libraries;
};

/// "cpu", "cuda", "hip".
const char* name_of(ToolchainKind kind);

}  // namespace hallmark::manifest
