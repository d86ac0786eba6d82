// Session: what every verb needs first: where we are, what is configured, what is installed, and the store.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/places.h"
#include "app/settings.h"
#include "base/result.h"
#include "model/command.h"
#include "os/clock.h"
#include "os/file_system.h"
#include "store/local_store.h"

namespace hallmark::app {

/// Gives the compiled configuration for a root: hallmark-full compiles it itself, the hot program has it
/// compiled.
using ConfigCompiler = std::function<Result<std::string>(const std::string& root)>;

struct Session {
  os::FileSystem& files;
  os::Clock& clock;
  model::Environment environment;
  std::string cwd;
  Installation installation;
  ConfigFiles config;
  Settings settings;
  /// What was wrong and passed over, one line each: a broken configuration does not break a build.
  std::vector<std::string> warnings;
};

/// `root_flag` is --root as spelled; empty: none. Errors: invalid (the named root is no folder), unsupported,
/// io.
Result<Session> open_session(os::FileSystem& files, os::Clock& clock, const std::string& root_flag,
                             const ConfigCompiler& compile);

/// Where we are and what is installed, without root, configuration and store: for what a build starts
/// observed, which must not depend on them.
Result<Session> open_bare_session(os::FileSystem& files, os::Clock& clock);

/// The configured store.
Result<std::unique_ptr<store::LocalStore>> open_store(const Session& session);

}  // namespace hallmark::app
