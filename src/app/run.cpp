#include "app/run.h"

#include <unistd.h>

#include <ctime>

#include "app/command.h"

namespace hallmark::app {
namespace {

/// When the Ninja that runs this edge started, as files show times.
std::optional<std::int64_t> start_of_ninja(const std::optional<BuildTool>& tool) {
  if (!tool || !is_ninja(*tool) || !tool->start_ticks) return std::nullopt;
  constexpr std::int64_t kSecond_ns = 1'000'000'000;
  const auto now_ns = [](clockid_t clock) {
    timespec time{};
    clock_gettime(clock, &time);
    return time.tv_sec * kSecond_ns + time.tv_nsec;
  };
  const auto started_ns = static_cast<std::int64_t>(*tool->start_ticks) * (kSecond_ns / sysconf(_SC_CLK_TCK));
  return now_ns(CLOCK_REALTIME) - now_ns(CLOCK_BOOTTIME) + started_ns;
}

}  // namespace

Result<engine::RunResult> run(const Session& session, const RunRequest& request) {
  engine::RunOptions options;
  options.depfile = request.depfile;
  options.outputs = request.outputs;
  options.restat = request.restat;
  options.cache_any = request.cache_any;
  options.finisher = request.finisher;
  const auto build_tool = build_tool_above(session.files, getppid());
  options.is_ancestor = [&files = session.files](int process) {
    return is_ancestor(files, process, getppid());
  };
  options.in_build_edge = !request.depfile.empty() || build_tool.has_value();
  options.ninja_start_ns = start_of_ninja(build_tool);
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
