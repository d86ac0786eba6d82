#include "app/settings.h"

#include "base/path.h"

namespace hallmark::app {
namespace {

// Documented by each system as an identifier of the run, the job, the commit or its log. No compiler,
// assembler or linker reads one; a code generator may, so the engine passes over them for the former kinds
// only.
constexpr std::array kShippedIgnored = {
    "GITHUB_RUN_*",   "GITHUB_JOB",      "GITHUB_ACTION*",      "GITHUB_SHA",        "GITHUB_REF*",
    "GITHUB_STATE",   "GITHUB_OUTPUT",   "GITHUB_ENV",          "GITHUB_PATH",       "GITHUB_STEP_SUMMARY",
    "GITHUB_EVENT_*", "GITHUB_ACTOR*",   "GITHUB_TRIGGERING_*", "GITHUB_WORKFLOW*",  "RUNNER_TRACKING_ID",
    "CI_JOB_*",       "CI_PIPELINE_*",   "CI_COMMIT_*",         "CI_BUILD_*",        "CI_RUNNER_*",
    "BUILDKITE_*",    "CIRCLE_BUILD_*",  "CIRCLE_SHA1",         "CIRCLE_WORKFLOW_*", "TRAVIS_JOB_*",
    "TRAVIS_BUILD_*", "BUILD_BUILDID",   "BUILD_BUILDNUMBER",   "SYSTEM_JOBID",      "SYSTEM_TASKINSTANCEID",
    "BUILD_ID",       "BUILD_NUMBER",    "BUILD_TAG",           "BUILD_URL",         "JENKINS_NODE_COOKIE",
    "HUDSON_COOKIE",  "EXECUTOR_NUMBER", "SLURM_JOB*",          "SLURM_STEP*",       "SLURM_TASK_PID",
};

std::string below_home(const model::Environment& environment, const char* variable,
                       std::string_view in_home) {
  if (const auto found = environment.find(variable);
      found != environment.end() && found->second.starts_with('/'))
    return path::join(found->second, "hallmark");
  const auto home = environment.find("HOME");
  if (home == environment.end() || !home->second.starts_with('/')) return {};
  return path::join(path::join(home->second, in_home), "hallmark");
}

void apply(Settings& settings, const FileSettings& file, Origin origin, const std::string& where) {
  if (file.store) settings.store = {*file.store, origin, where};
  if (file.observe) settings.observe = {*file.observe, origin, where};
  if (file.disable) settings.disable = {*file.disable, origin, where};
  for (const std::string& name : file.ignore_environment)
    settings.ignore_environment.push_back({name, origin, where});
}

void apply_environment(Settings& settings, const model::Environment& environment, std::string_view cwd) {
  if (const auto store = environment.find(variable::kStore);
      store != environment.end() && !store->second.empty())
    settings.store = {path::join(cwd, store->second), Origin::environment, variable::kStore};
  if (const auto observe = environment.find(variable::kObserve);
      observe != environment.end() && !observe->second.empty()) {
    if (const auto tier = tier_of(observe->second)) {
      settings.observe = {*tier, Origin::environment, variable::kObserve};
    } else {
      settings.warnings.push_back(std::string(variable::kObserve) + "=" + observe->second +
                                  " is not understood and was passed over; use " + std::string(kTierWords));
    }
  }
  if (environment.contains(variable::kDisable))
    settings.disable = {is_disabled(environment), Origin::environment, variable::kDisable};
}

}  // namespace

std::vector<std::string_view> shipped_ignored_variables() {
  return {kShippedIgnored.begin(), kShippedIgnored.end()};
}

std::string user_config_path(const model::Environment& environment) {
  const std::string folder = below_home(environment, "XDG_CONFIG_HOME", ".config");
  return folder.empty() ? folder : path::join(folder, "config.toml");
}

std::string root_config_path(std::string_view root) {
  return path::join(root, ".hallmark/config.toml");
}

std::string standard_store(const model::Environment& environment) {
  return below_home(environment, "XDG_CACHE_HOME", ".cache");
}

std::optional<model::Tier> tier_of(std::string_view word) {
  using enum model::Tier;
  if (word == "hybrid") return hybrid;
  if (word == "notify") return notify;
  if (word == "ptrace") return ptrace;
  if (word == "none") return none;
  return std::nullopt;
}

bool is_disabled(const model::Environment& environment) {
  const auto found = environment.find(variable::kDisable);
  return found != environment.end() && !found->second.empty() && found->second != "0";
}

Settings merge(const ConfigFiles& files, const model::Environment& environment, Sourced<std::string> root,
               std::string_view cwd) {
  Settings settings;
  settings.store = {standard_store(environment), Origin::standard, {}};
  settings.root = std::move(root);
  for (const std::string_view name : shipped_ignored_variables())
    settings.ignore_environment.push_back({std::string(name), Origin::standard, {}});
  apply(settings, files.user, Origin::user_file, files.user_path);
  apply(settings, files.root, Origin::root_file, files.root_path);
  apply_environment(settings, environment, cwd);
  return settings;
}

std::string_view name_of(Origin origin) {
  switch (origin) {
    case Origin::standard:
      return "default";
    case Origin::user_file:
      return "user file";
    case Origin::root_file:
      return "project file";
    case Origin::environment:
      return "environment";
    case Origin::flag:
      return "flag";
  }
  return "?";
}

}  // namespace hallmark::app
