// The compiled form of the configuration files, which the hot program reads instead of TOML.
//
// One file per pair of configuration paths in the standard cache folder. It holds the stat signatures of both
// files; if one differs, it is stale and is compiled anew by hallmark-full. docs/formats/config.md has the
// bytes. A damaged, foreign or stale cache is never an error: it is compiled anew. Never holds secrets: only
// what the configuration files say.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "app/settings.h"
#include "base/file_stat.h"
#include "base/result.h"
#include "os/file_system.h"

namespace hallmark::app {

/// What a configuration file was when it was compiled; nullopt: it was absent.
struct ConfigSignature {
  std::optional<FileStat> user;
  std::optional<FileStat> root;
  bool operator==(const ConfigSignature&) const = default;
};

/// What was compiled, and from what.
struct CompiledConfig {
  ConfigFiles files;
  ConfigSignature signature;
  bool operator==(const CompiledConfig&) const = default;
};

std::string encode(const CompiledConfig& config);
/// nullopt if the bytes are damaged or of another version.
std::optional<CompiledConfig> decode_config(std::string_view bytes);

/// Where the two files are, for an environment and a root; their contents are not read.
ConfigFiles config_paths(const model::Environment& environment, std::string_view root);

/// What the configuration files say now. No file: nothing to do. Else the compiled form, and if that is
/// stale, what `compile` gives (encoded bytes; hallmark-full's work). Its error is passed on.
Result<ConfigFiles> load_config(os::FileSystem& files, const model::Environment& environment,
                                std::string_view root, const std::function<Result<std::string>()>& compile);

/// What both files are now.
Result<ConfigSignature> signature_of(os::FileSystem& files, const ConfigFiles& paths);

/// Where the compiled form is kept; empty: nowhere (no home is known).
std::string config_cache_path(const model::Environment& environment, const ConfigFiles& paths);

}  // namespace hallmark::app
