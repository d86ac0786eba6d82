#include "engine/program_search.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/limits.h"
#include "base/path.h"

namespace hallmark::engine {
namespace {

constexpr std::array<std::uint8_t, 4> kMachineCode = {0x7f, 'E', 'L', 'F'};

bool is_executable_file(os::FileSystem& files, const std::string& path) {
  const auto stat = files.stat(path);
  return stat.has_value() && stat->has_value() && (*stat)->kind == NodeKind::file && (*stat)->executable();
}

/// Also a text without "#!", which the shell executes.
bool is_script(os::FileSystem& files, const std::string& path) {
  std::array<std::uint8_t, kMachineCode.size()> start{};
  const auto file = files.open_read(path);
  if (!file.has_value()) return true;
  const auto got = (*file)->read(start);
  return !got.has_value() || *got != start.size() || start != kMachineCode;
}

}  // namespace

const RealPaths::Node& RealPaths::look(const std::string& path) {
  const auto [entry, is_new] = nodes_.try_emplace(path);
  auto& node = entry->second;
  if (!is_new) return node;
  // A link that cannot be read leads nowhere.
  const auto stat = files_.lstat(path);
  if (!stat.has_value() || !stat->has_value()) return node;
  if ((*stat)->kind != NodeKind::symlink) {
    node.exists = true;
  } else if (auto target = files_.read_link(path); target.has_value()) {
    node = {true, *std::move(target)};
  }
  return node;
}

std::optional<std::string> RealPaths::of(const std::string& spelled) {
  std::string done = "/";
  std::string rest = spelled;
  std::size_t hops = 0;
  while (!rest.empty()) {
    const auto start = rest.find_first_not_of('/');
    if (start == std::string::npos) break;
    const auto end = rest.find('/', start);
    const std::string name = rest.substr(start, end == std::string::npos ? end : end - start);
    rest = end == std::string::npos ? std::string() : rest.substr(end + 1);
    if (name == ".") continue;
    if (name == "..") {
      done = path::parent(done);
      continue;
    }
    std::string next = path::join(done, name);
    const auto& node = look(next);
    if (!node.exists) return std::nullopt;
    if (node.target.empty()) {
      done = std::move(next);
      continue;
    }
    if (++hops > limits::kSymlinkHops) return std::nullopt;
    if (node.target.starts_with('/')) done = "/";
    rest = rest.empty() ? node.target : node.target + "/" + rest;
  }
  return done;
}

std::optional<std::string> real_path(os::FileSystem& files, const std::string& path) {
  return RealPaths(files).of(path);
}

std::vector<std::string> search_folders(std::string_view rest) {
  std::vector<std::string> folders;
  while (!rest.empty()) {
    const auto colon = rest.find(':');
    const auto folder = rest.substr(0, colon);
    if (folder.starts_with('/')) folders.emplace_back(path::without_trailing_slashes(folder));
    if (colon == std::string_view::npos) break;
    rest.remove_prefix(colon + 1);
  }
  return folders;
}

ProgramSearch::ProgramSearch(os::FileSystem& files, const std::vector<std::string>& folders)
    : files_(files), real_paths_(files), spelled_(folders) {}

const std::vector<std::string>& ProgramSearch::folders() {
  if (!resolved_) {
    resolved_ = true;
    for (const auto& folder : spelled_) {
      auto real = real_paths_.of(folder);
      if (real && std::find(real_.begin(), real_.end(), *real) == real_.end())
        real_.push_back(*std::move(real));
    }
  }
  return real_;
}

std::optional<std::string> ProgramSearch::find(const std::string& name) {
  const auto [entry, is_new] = found_.try_emplace(name);
  auto& found = entry->second;
  if (!is_new) return found;
  for (const auto& folder : folders()) {
    std::string candidate = path::join(folder, name);
    if (is_executable_file(files_, candidate)) {
      found = std::move(candidate);
      break;
    }
  }
  return found;
}

ProgramFile find_program(os::FileSystem& files, const model::Command& command) {
  const auto& word = command.argv.front();
  const auto as_program = [&](const std::string& candidate) -> std::optional<std::string> {
    return is_executable_file(files, candidate) ? real_path(files, candidate) : std::nullopt;
  };
  std::optional<std::string> real;
  if (word.find('/') != std::string::npos) {
    real = as_program(path::join(command.cwd, word));
  } else {
    // As execvp does: an empty part is the working folder, others may lie below it.
    const auto found = command.environment.find("PATH");
    std::string_view rest = found == command.environment.end() ? model::kPathIfUnset : found->second;
    for (;;) {
      const auto colon = rest.find(':');
      real = as_program(path::join(path::join(command.cwd, rest.substr(0, colon)), word));
      if (real || colon == std::string_view::npos) break;
      rest.remove_prefix(colon + 1);
    }
  }
  if (!real) return {};
  const bool script = is_script(files, *real);
  return {*std::move(real), script};
}

}  // namespace hallmark::engine
