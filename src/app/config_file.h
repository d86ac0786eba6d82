// Reads a configuration file (TOML). Slow to start, therefore only in hallmark-full: the hot program reads
// what app/config_cache.h compiled.
#pragma once

#include <string>
#include <string_view>

#include "app/settings.h"
#include "base/result.h"
#include "os/clock.h"
#include "os/file_system.h"

namespace hallmark::app {

/// `text` is the content of the file `path`. A relative `store` is below `base`; `~/` is `home`. Errors (kind
/// invalid) name the file, the line and what to do: unknown keys and wrong types are errors, nothing is
/// passed over.
Result<FileSettings> parse_config(std::string_view text, const std::string& path, std::string_view base,
                                  std::string_view home);

/// Reads both files and writes their compiled form (app/config_cache.h), unless a file is so new that its
/// signature cannot be trusted or the cache cannot be written. Returns the encoded bytes.
Result<std::string> compile_config(os::FileSystem& files, os::Clock& clock,
                                   const model::Environment& environment, std::string_view root);

}  // namespace hallmark::app
