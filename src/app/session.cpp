#include "app/session.h"

#include <climits>
#include <cstdlib>

#include "app/command.h"
#include "app/config_cache.h"
#include "base/path.h"

namespace hallmark::app {
namespace {

/// The normal form of an existing folder.
Result<std::string> real_folder(os::FileSystem& files, const std::string& path, std::string_view named_by) {
  char resolved[PATH_MAX];
  if (realpath(path.c_str(), resolved) == nullptr) {
    Error error = Error::from_errno(std::string(named_by) + " names", path);
    return fail(Error{ErrorKind::invalid, std::move(error.what), "name an existing folder"});
  }
  const auto found = files.stat(resolved);
  if (!found.has_value() || !*found || (*found)->kind != NodeKind::directory)
    return fail(Error{ErrorKind::invalid, std::string(named_by) + " names " + path + ": it is not a folder",
                      "name an existing folder"});
  return std::string(resolved);
}

Result<Sourced<std::string>> choose_root(Session& session, const std::string& root_flag) {
  if (!root_flag.empty()) {
    HALLMARK_TRY(std::string root, real_folder(session.files, path::join(session.cwd, root_flag), "--root"));
    return Sourced<std::string>{std::move(root), Origin::flag, "--root"};
  }
  if (const auto named = session.environment.find(variable::kRoot);
      named != session.environment.end() && !named->second.empty()) {
    auto root = real_folder(session.files, path::join(session.cwd, named->second), variable::kRoot);
    if (root.has_value()) return Sourced<std::string>{*std::move(root), Origin::environment, variable::kRoot};
    session.warnings.push_back(root.error().message() + "; it was passed over");
  }
  return Sourced<std::string>{find_root(session.files, session.cwd), Origin::standard, {}};
}

}  // namespace

Result<Session> open_session(os::FileSystem& files, os::Clock& clock, const std::string& root_flag,
                             const ConfigCompiler& compile) {
  Session session{files, clock, current_environment(), {}, {}, {}, {}, {}};
  HALLMARK_TRY(session.cwd, current_folder());
  HALLMARK_TRY(session.installation, find_installation(files));
  HALLMARK_TRY(Sourced<std::string> root, choose_root(session, root_flag));
  auto config = load_config(files, session.environment, root.value, [&] { return compile(root.value); });
  if (config.has_value()) {
    session.config = *std::move(config);
  } else {
    session.config = config_paths(session.environment, root.value);
    session.warnings.push_back("the configuration is not used: " + config.error().message());
  }
  session.settings = merge(session.config, session.environment, std::move(root), session.cwd);
  for (const std::string& warning : session.settings.warnings) session.warnings.push_back(warning);
  return session;
}

Result<Session> open_bare_session(os::FileSystem& files, os::Clock& clock) {
  Session session{files, clock, current_environment(), {}, {}, {}, {}, {}};
  HALLMARK_TRY(session.cwd, current_folder());
  HALLMARK_TRY(session.installation, find_installation(files));
  return session;
}

Result<std::unique_ptr<store::LocalStore>> open_store(const Session& session) {
  const std::string& folder = session.settings.store.value;
  if (folder.empty()) {
    return fail(
        Error{ErrorKind::not_found,
              "no place for the store is known: neither HALLMARK_STORE, XDG_CACHE_HOME nor HOME is set",
              "set HALLMARK_STORE to a folder"});
  }
  return store::LocalStore::open(session.files, session.clock, folder);
}

}  // namespace hallmark::app
