#include "engine/outputs.h"

#include <sys/wait.h>

#include <algorithm>
#include <cstring>

#include "base/path.h"

namespace hallmark::engine {

using model::ReasonCode;

bool Territory::holds(const std::string& path) const {
  const auto contains = [&](const std::string& folder) { return path::is_within(path, folder); };
  return std::any_of(folders.begin(), folders.end(), contains) ||
         std::any_of(outputs.begin(), outputs.end(), contains);
}

namespace {

/// "signal 9 (SIGKILL)"
std::string name_of_signal(int number) {
  const char* name = ::sigabbrev_np(number);
  return "signal " + std::to_string(number) + (name != nullptr ? " (SIG" + std::string(name) + ")" : "");
}

}  // namespace

std::vector<model::Reason> doubts_of(const model::Observation& observation, const Territory& territory) {
  std::vector<model::Reason> doubts;
  const auto doubt = [&](ReasonCode code, std::string subject, std::string before = {}) {
    doubts.push_back({code, std::move(subject), std::move(before), {}});
  };
  if (const int status = observation.wait_status; status != 0) {
    doubt(ReasonCode::command_failed, WIFSIGNALED(status) ? name_of_signal(WTERMSIG(status)) : "",
          std::to_string(exit_code_of(status)));
  }
  if (observation.tier == model::Tier::none) doubt(ReasonCode::not_observed, {});
  doubts.insert(doubts.end(), observation.doubts.begin(), observation.doubts.end());
  for (const auto& output : observation.outputs) {
    if (output.kind == NodeKind::other) {
      doubt(ReasonCode::special_output, output.path);
    } else if (!output.whole) {
      doubt(ReasonCode::write_in_place, output.path);
    } else if (!territory.holds(output.path)) {
      doubt(ReasonCode::write_elsewhere, output.path);
    }
  }
  for (const auto& removal : observation.removals) doubt(ReasonCode::removed_foreign, removal.path);
  if (observation.out.truncated) doubt(ReasonCode::stream_too_long, "stdout");
  if (observation.err.truncated) doubt(ReasonCode::stream_too_long, "stderr");
  return doubts;
}

void forgive_companions(const model::Observation& observation, std::string_view suffix,
                        std::vector<model::Reason>& doubts) {
  std::erase_if(doubts, [&](const model::Reason& doubt) {
    if (doubt.code != ReasonCode::removed_foreign || !doubt.subject.ends_with(suffix)) return false;
    const auto output = std::string_view(doubt.subject).substr(0, doubt.subject.size() - suffix.size());
    return std::any_of(observation.outputs.begin(), observation.outputs.end(),
                       [&](const auto& other) { return other.path == output; });
  });
}

void drop_litter(model::Observation& observation, os::FileSystem& files,
                 const std::vector<std::string>& temporary) {
  std::erase_if(observation.outputs, [&](const model::ObservedOutput& output) {
    if (output.kind != NodeKind::directory || output.before) return false;
    if (std::find(temporary.begin(), temporary.end(), path::parent(output.path)) == temporary.end())
      return false;
    const auto names = files.list(output.path);
    return names.has_value() && names->empty();
  });
}

int exit_code_of(int wait_status) {
  if (WIFSIGNALED(wait_status)) return 128 + WTERMSIG(wait_status);
  return WEXITSTATUS(wait_status);
}

std::string absolute_path(const std::string& cwd, const std::string& spelled) {
  const std::string whole = path::join(cwd, spelled);
  std::vector<std::string_view> parts;
  std::string_view rest = whole;
  while (!rest.empty()) {
    const auto end = rest.find('/');
    const auto part = rest.substr(0, end);
    if (part == "..") {
      if (!parts.empty()) parts.pop_back();
    } else if (!part.empty() && part != ".") {
      parts.push_back(part);
    }
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  std::string absolute;
  for (const auto part : parts) absolute.append("/").append(part);
  return absolute.empty() ? "/" : absolute;
}

}  // namespace hallmark::engine
