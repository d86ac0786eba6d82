#include "engine/build_folder.h"

#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/path.h"
#include "digest/digest.h"
#include "digest/encoding.h"
#include "engine/environment.h"
#include "engine/outputs.h"
#include "inspect/ninja_manifest.h"

namespace hallmark::engine {
namespace {

constexpr std::size_t kCacheBytes = 64u << 20;
constexpr std::string_view kCacheMark = "hallmark ninja folders 2";
constexpr std::array<std::string_view, 4> kBuildMarks = {".ninja_log", ".ninja_deps", "build.ninja",
                                                         "CMakeCache.txt"};

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
  if (!manifest_) manifest_ = read_manifest(kept);
  return *manifest_;
}

BuildFolder::Manifest BuildFolder::read_manifest(const std::string& kept) const {
  Manifest found;
  const auto ninja = inspect::NinjaManifest::read(files_, *ninja_folder_);
  if (!ninja.has_value()) return found;
  for (const auto& edge : ninja->edges()) {
    for (const auto& output : edge.outputs)
      found.folders.emplace(path::parent(absolute_path(*ninja_folder_, output)));
    found.has_response_files = found.has_response_files || !ninja->value(edge, "rspfile").empty();
  }
  if (!kept.empty()) keep(kept, found, ninja->files());
  return found;
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

void BuildFolder::keep(const std::string& path, const Manifest& manifest,
                       const std::vector<std::string>& files) const {
  if (!exists(cache_)) return;  // made with the first sentinel
  std::string text(kCacheMark);
  text.append("\n");
  for (const auto& file : files)
    text.append("file ").append(signature(files_, file)).append(" ").append(file).append("\n");
  for (const auto& folder : manifest.folders) text.append("folder ").append(folder).append("\n");
  if (manifest.has_response_files) text.append("rspfile\n");
  text.append("end\n");
  static_cast<void>(os::write_file_atomically(files_, path, text, std::to_string(gettid()), false));
}

}  // namespace hallmark::engine
