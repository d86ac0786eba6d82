// Settings: what governs a run, each value with where it came from.
//
// Rising precedence: standard values, ~/.config/hallmark/config.toml ($XDG_CONFIG_HOME),
// <root>/.hallmark/config.toml, environment, flags. docs/formats/config.md is the user's page. Pure
// functions: files are read elsewhere (app/config_cache.h), the environment is given.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/command.h"
#include "model/observation.h"

namespace hallmark::app {

enum class Origin : std::uint8_t { standard, user_file, root_file, environment, flag };

/// A value, and the file, variable or flag that gave it.
template <class T>
struct Sourced {
  T value{};
  Origin origin = Origin::standard;
  std::string where;
};

/// What one configuration file says; what it leaves out is nullopt or empty.
struct FileSettings {
  std::optional<std::string> store;  ///< absolute
  std::optional<model::Tier> observe;
  std::optional<bool> disable;
  std::vector<std::string> ignore_environment;  ///< names; a trailing `*` stands for any rest
  bool operator==(const FileSettings&) const = default;
};

/// Both configuration files: where they are or would be, and what they say.
struct ConfigFiles {
  std::string user_path;  ///< empty: no home is known
  std::string root_path;
  FileSettings user;
  FileSettings root;
  bool operator==(const ConfigFiles&) const = default;
};

struct Settings {
  Sourced<std::string> store;  ///< absolute; empty: no home is known and none was named
  Sourced<std::string> root;   ///< absolute, normal form
  Sourced<model::Tier> observe{model::Tier::hybrid, Origin::standard, {}};
  Sourced<bool> disable;
  /// The shipped names first, then those of the files.
  std::vector<Sourced<std::string>> ignore_environment;
  /// Words of the environment that were not understood, one line each: they were passed over.
  std::vector<std::string> warnings;
};

/// Names of environment variables that hallmark itself reads.
namespace variable {
inline constexpr const char* kStore = "HALLMARK_STORE";
inline constexpr const char* kRoot = "HALLMARK_ROOT";
inline constexpr const char* kObserve = "HALLMARK_OBSERVE";
inline constexpr const char* kDisable = "HALLMARK_DISABLE";
}  // namespace variable

/// Per-run identifiers of CI systems: they differ in each run and no compiler reads them.
std::vector<std::string_view> shipped_ignored_variables();

/// Where the user's file is: $XDG_CONFIG_HOME/hallmark/config.toml or below ~/.config; empty if neither is
/// known.
std::string user_config_path(const model::Environment& environment);
/// Where the project's file is.
std::string root_config_path(std::string_view root);
/// $XDG_CACHE_HOME/hallmark or ~/.cache/hallmark; empty if neither is known.
std::string standard_store(const model::Environment& environment);

/// The tier of a word of HALLMARK_OBSERVE or `observe = `; nullopt if it is none.
std::optional<model::Tier> tier_of(std::string_view word);
/// The words that tier_of knows, for messages.
inline constexpr std::string_view kTierWords = "hybrid, notify, ptrace or none";

/// True for every value of HALLMARK_DISABLE but "" and "0".
bool is_disabled(const model::Environment& environment);

/// Puts the layers over each other. `root` and `cwd` are absolute; a relative HALLMARK_STORE is below `cwd`.
Settings merge(const ConfigFiles& files, const model::Environment& environment, Sourced<std::string> root,
               std::string_view cwd);

std::string_view name_of(Origin origin);

}  // namespace hallmark::app
