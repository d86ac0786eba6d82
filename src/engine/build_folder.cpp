#include "engine/build_folder.h"

#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/path.h"
#include "digest/digest.h"
#include "digest/encoding.h"
#include "engine/environment.h"
#include "engine/outputs.h"

namespace hallmark::engine {
namespace {

constexpr std::size_t kManifestBytes = std::size_t{1} << 30;
constexpr std::size_t kCacheBytes = 64u << 20;
constexpr int kIncludeDepth = 16;
constexpr std::string_view kCacheMark = "hallmark ninja folders 2";
constexpr std::array<std::string_view, 4> kBuildMarks = {".ninja_log", ".ninja_deps", "build.ninja",
                                                         "CMakeCache.txt"};

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

using Variables = std::vector<std::pair<std::string, std::string>>;

std::string_view value_of(const Variables& variables, std::string_view name) {
  const auto found = std::find_if(variables.rbegin(), variables.rend(),
                                  [&](const auto& variable) { return variable.first == name; });
  return found == variables.rend() ? std::string_view() : std::string_view(found->second);
}

/// Appends the meaning of the `$` at text[at] and moves `at` behind it.
void expand_dollar(std::string_view text, std::size_t& at, const Variables& variables, std::string& out) {
  if (++at >= text.size()) return;
  const char c = text[at];
  if (c == '{') {
    const auto end = text.find('}', at);
    out.append(value_of(variables, text.substr(at + 1, end - at - 1)));
    at = end == std::string_view::npos ? text.size() : end + 1;
  } else if (is_name_character(c)) {
    auto end = at;
    while (end < text.size() && is_name_character(text[end])) ++end;
    out.append(value_of(variables, text.substr(at, end - at)));
    at = end;
  } else {
    if (c != '\n') out.push_back(c);
    ++at;
    if (c == '\n') {
      while (at < text.size() && text[at] == ' ') ++at;
    }
  }
}

std::string expand(std::string_view text, const Variables& variables) {
  std::string out;
  std::size_t at = 0;
  while (at < text.size()) {
    if (text[at] == '$') {
      expand_dollar(text, at, variables, out);
    } else {
      out.push_back(text[at++]);
    }
  }
  return out;
}

struct BuildStatement {
  std::vector<std::string> outputs;
  std::string_view rule;
};

/// The outputs are the words up to the colon; `|` only parts the implicit ones.
BuildStatement statement_of(std::string_view line, const Variables& variables) {
  BuildStatement statement;
  auto& outputs = statement.outputs;
  std::string word;
  std::size_t at = 0;
  while (at < line.size() && line[at] != ':') {
    if (line[at] == '$') {
      expand_dollar(line, at, variables, word);
      continue;
    }
    if (line[at] == ' ' || line[at] == '|') {
      if (!word.empty()) outputs.push_back(std::move(word));
      word.clear();
    } else {
      word.push_back(line[at]);
    }
    ++at;
  }
  if (!word.empty()) outputs.push_back(std::move(word));
  line.remove_prefix(std::min(at + 1, line.size()));
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  statement.rule = line.substr(0, line.find_first_of(" |$"));
  return statement;
}

/// The logical line that begins at `at`: `$` before a line break continues it. Moves `at` behind it.
std::string_view take_line(std::string_view text, std::size_t& at) {
  const auto start = at;
  for (;;) {
    const auto end = text.find('\n', at);
    if (end == std::string_view::npos) {
      at = text.size();
      return text.substr(start);
    }
    at = end + 1;
    std::size_t dollars = 0;
    while (end > start + dollars && text[end - 1 - dollars] == '$') ++dollars;
    if (dollars % 2 == 0) return text.substr(start, end - start);
  }
}

/// Identity of a file's state as text.
std::string signature(os::FileSystem& files, const std::string& path) {
  const auto stat = files.stat(path);
  if (!stat.has_value() || !*stat) return "absent";
  digest::Encoder out;
  out.number((*stat)->device).number((*stat)->inode).number((*stat)->size_bytes);
  out.signed_number((*stat)->mtime_ns).signed_number((*stat)->ctime_ns);
  return to_hex(as_bytes(out.bytes()));
}

}  // namespace

bool NinjaOutputs::read(const std::string& manifest) {
  Variables variables;
  const auto text = os::read_file(files_, manifest, kManifestBytes);
  manifests_.push_back(manifest);
  if (!text.has_value()) return false;
  parse(*text, variables, 0);
  return true;
}

void NinjaOutputs::parse(const std::string& text, Variables& variables, int depth) {
  std::size_t at = 0;
  std::string_view rule;             // whose bindings follow
  std::vector<std::string> of_edge;  // outputs of the edge whose bindings follow
  while (at < text.size()) {
    const auto line = take_line(text, at);
    if (line.empty() || line.front() == '#') continue;
    if (line.front() == ' ') {  // a binding of a rule or an edge
      const auto binding = line.substr(std::min(line.find_first_not_of(' '), line.size()));
      if (binding.starts_with("rspfile")) has_response_files_ = true;
      if (binding.starts_with("generator")) {
        if (!rule.empty()) generators_.emplace(rule);
        for (const auto& output : of_edge) paths_.erase(output);
      }
      continue;
    }
    rule = line.starts_with("rule ") ? line.substr(5) : std::string_view();
    of_edge.clear();
    if (line.starts_with("build ")) {
      const auto statement = statement_of(line.substr(6), variables);
      const bool keep =
          keep_ == Keep::paths && statement.rule != "phony" && !generators_.contains(statement.rule);
      for (const auto& output : statement.outputs) {
        auto path = absolute_path(folder_, output);
        folders_.insert(std::string(path::parent(path)));
        if (keep && paths_.insert(path).second) of_edge.push_back(std::move(path));
      }
      continue;
    }
    const bool include = line.starts_with("include ");
    if (include || line.starts_with("subninja ")) {
      if (depth >= kIncludeDepth) continue;
      const auto name = absolute_path(folder_, expand(line.substr(line.find(' ') + 1), variables));
      manifests_.push_back(name);
      const auto inner = os::read_file(files_, name, kManifestBytes);
      if (!inner.has_value()) continue;
      auto scope = variables;
      parse(*inner, include ? variables : scope, depth + 1);
      continue;
    }
    const auto equals = line.find('=');
    if (equals == std::string_view::npos || line.starts_with("rule ") || line.starts_with("pool ") ||
        line.starts_with("default "))
      continue;
    auto name = line.substr(0, equals);
    while (name.ends_with(' ')) name.remove_suffix(1);
    auto value = line.substr(equals + 1);
    while (value.starts_with(' ')) value.remove_prefix(1);
    variables.emplace_back(name, expand(value, variables));
  }
}

BuildFolder::BuildFolder(os::FileSystem& files, const model::Command& command, std::string build_folder,
                         std::string cache, const std::vector<std::string>& own)
    : files_(files),
      build_folder_(std::move(build_folder)),
      cache_(std::move(cache)),
      temporary_folders_(temporary_folders(command.environment)),
      cwd_(command.cwd) {
  for (const auto& path : own) own_folders_.insert(std::string(path::parent(path)));
  for (const auto& folder : {cwd_, build_folder_}) {
    if (!folder.empty() && !ninja_folder_ && exists(path::join(folder, "build.ninja")))
      ninja_folder_ = folder;
    if (!folder.empty() && exists(path::join(folder, "CMakeCache.txt"))) made_by_cmake_ = true;
  }
}

bool BuildFolder::exists(const std::string& path) const {
  const auto stat = files_.lstat(path);
  return stat.has_value() && stat->has_value();
}

bool BuildFolder::writes_into(const std::string& folder, std::int64_t start_ns) {
  if (own_folders_.contains(folder) || folder == cwd_) return true;
  // The temporary folders themselves; what somebody keeps below them is a folder like any other.
  if (std::find(temporary_folders_.begin(), temporary_folders_.end(), folder) != temporary_folders_.end())
    return true;
  if (std::any_of(kBuildMarks.begin(), kBuildMarks.end(),
                  [&](std::string_view mark) { return exists(path::join(folder, mark)); }))
    return true;
  // A CMake build folder belongs to the build; scripts of its custom targets write where no build statement
  // says so. (A build in the source tree itself does not make that the build's.)
  if (made_by_cmake_ && path::is_within(folder, build_folder_) &&
      (!ninja_folder_ || !exists(path::join(build_folder_, "CMakeLists.txt"))))
    return true;
  if (ninja_folder_ && manifest().folders.contains(folder)) return true;
  const auto stat = files_.stat(folder);
  return stat.has_value() && *stat && (*stat)->mtime_ns >= start_ns;
}

bool BuildFolder::has_response_files() {
  return ninja_folder_ && manifest().has_response_files;
}

const BuildFolder::Manifest& BuildFolder::manifest() {
  if (manifest_) return *manifest_;
  const auto name = path::join(*ninja_folder_, "build.ninja");
  const auto kept = cache_.empty()
                        ? std::string()
                        : path::join(cache_, "ninja-" + digest::digest_of(name).hex().substr(0, 32));
  if (!kept.empty()) manifest_ = cached(kept);
  if (!manifest_) {
    NinjaOutputs outputs(files_, *ninja_folder_);
    outputs.read(name);
    manifest_ = Manifest{outputs.folders(), outputs.has_response_files()};
    if (!kept.empty()) keep(kept, outputs);
  }
  return *manifest_;
}

/// Lines: the mark, then "file <signature> <path>" for each manifest, then "folder <path>", and "rspfile" if
/// there is one.
std::optional<BuildFolder::Manifest> BuildFolder::cached(const std::string& path) const {
  const auto text = os::read_file(files_, path, kCacheBytes);
  if (!text.has_value() || !text->starts_with(kCacheMark) || !text->ends_with("\nend\n")) return std::nullopt;
  Manifest manifest;
  std::string_view rest = *text;
  rest.remove_prefix(rest.find('\n') + 1);
  while (!rest.empty()) {
    const auto end = rest.find('\n');
    const auto line = rest.substr(0, end);
    if (line.starts_with("file ")) {
      const auto blank = line.find(' ', 5);
      if (blank == std::string_view::npos) return std::nullopt;
      if (signature(files_, std::string(line.substr(blank + 1))) != line.substr(5, blank - 5))
        return std::nullopt;
    } else if (line.starts_with("folder ")) {
      manifest.folders.emplace(line.substr(7));
    } else if (line == "rspfile") {
      manifest.has_response_files = true;
    }
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  return manifest;
}

void BuildFolder::keep(const std::string& path, const NinjaOutputs& outputs) const {
  if (!exists(cache_)) return;  // made with the first sentinel
  std::string text(kCacheMark);
  text.append("\n");
  for (const auto& manifest : outputs.manifests())
    text.append("file ").append(signature(files_, manifest)).append(" ").append(manifest).append("\n");
  for (const auto& folder : outputs.folders()) text.append("folder ").append(folder).append("\n");
  if (outputs.has_response_files()) text.append("rspfile\n");
  text.append("end\n");
  static_cast<void>(os::write_file_atomically(files_, path, text, std::to_string(gettid()), false));
}

}  // namespace hallmark::engine
