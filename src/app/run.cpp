#include "app/run.h"

#include <unistd.h>

#include "app/command.h"

namespace hallmark::app {

Result<engine::RunResult> run(const Session& session, const RunRequest& request) {
  engine::RunOptions options;
  options.depfile = request.depfile;
  options.outputs = request.outputs;
  options.restat = request.restat;
  options.cache_any = request.cache_any;
  options.in_build_edge = !request.depfile.empty() || build_tool_above(session.files, getppid()).has_value();
  options.root = session.settings.root.value;
  options.build_folder = find_build_folder(session.files, session.cwd);
  for (const auto& name : session.settings.ignore_environment)
    options.ignored_variables.push_back(name.value);
  options.best_tier = session.settings.observe.value;
  options.hallmark_program = session.installation.program;
  options.agent_library = session.installation.agent;

  std::vector<std::string> warnings = session.warnings;
  std::unique_ptr<store::LocalStore> store;
  if (auto opened = open_store(session); opened.has_value()) {
    store = *std::move(opened);
  } else {
    warnings.push_back("the cache is not used: " + opened.error().message());
  }

  const model::Command command = describe_command(request.argv, session.environment, session.cwd);
  engine::Engine engine(session.files, session.clock, store.get());
  HALLMARK_TRY(engine::RunResult result, engine.run(command, options));
  result.warnings.insert(result.warnings.begin(), warnings.begin(), warnings.end());
  return result;
}

}  // namespace hallmark::app
