#include "engine/sentinels.h"

#include <unistd.h>

#include <algorithm>
#include <map>

#include "base/path.h"
#include "digest/digest.h"

namespace hallmark::engine {
namespace {

constexpr std::size_t kNamesBytes = 16u << 20;
/// Older than every output. Not 0: Ninja takes that for "missing".
constexpr std::int64_t kLongAgo_ns = 1'000'000'000;
constexpr std::size_t kShownDigits = 32;

std::set<std::string, std::less<>> read_names(os::FileSystem& files, const std::string& path) {
  std::set<std::string, std::less<>> names;
  const auto text = os::read_file(files, path, kNamesBytes);
  if (!text.has_value()) return names;
  std::string_view rest = *text;
  while (!rest.empty()) {
    const auto end = rest.find('\n');
    if (end == std::string_view::npos) break;  // a line that a killed writer did not finish
    names.emplace(rest.substr(0, end));
    rest.remove_prefix(end + 1);
  }
  return names;
}

bool exists(os::FileSystem& files, const std::string& path) {
  const auto stat = files.lstat(path);
  return stat.has_value() && stat->has_value();
}

}  // namespace

Sentinels::Sentinels(os::FileSystem& files, os::Clock& clock, const std::string& root)
    : files_(files), clock_(clock), folder_(path::join(root, ".hallmark/watch")) {}

std::string Sentinels::place_of(const std::string& folder) const {
  return path::join(folder_, digest::digest_of(folder).hex().substr(0, kShownDigits));
}

bool Sentinels::make_folder() {
  if (exists(files_, folder_)) return true;
  if (!os::make_folders(files_, folder_).has_value()) return false;
  // Not for version control. A failure costs a line in somebody's status.
  static_cast<void>(os::write_file_atomically(files_, path::join(folder_, ".gitignore"), "*\n",
                                              std::to_string(gettid()), false));
  return true;
}

std::optional<std::string> Sentinels::watch(const std::string& folder, const std::set<std::string>& names,
                                            bool& appeared) {
  if (!make_folder()) return std::nullopt;
  const auto sentinel = place_of(folder);
  if (!exists(files_, sentinel)) {
    auto made = files_.create(sentinel, 0644);
    if (made.has_value()) {
      static_cast<void>((*made)->close());
      static_cast<void>(files_.touch(sentinel, kLongAgo_ns));
    } else if (!exists(files_, sentinel)) {
      return std::nullopt;
    }
  }
  const auto list = sentinel + ".names";
  const auto known = read_names(files_, list);
  std::string lines;
  for (const auto& name : names) {
    if (!known.contains(name) && name.find('\n') == std::string::npos) lines.append(name).append("\n");
  }
  if (!lines.empty()) {
    // One write: lines of several processes do not mix.
    auto file = files_.append(list, 0644);
    if (!file.has_value() || !(*file)->write(as_bytes(lines)).has_value() || !(*file)->close().has_value())
      return std::nullopt;
  }
  appeared = std::any_of(names.begin(), names.end(),
                         [&](const std::string& name) { return exists(files_, path::join(folder, name)); });
  // Its maker may have looked for us before we registered.
  if (appeared) static_cast<void>(files_.touch(sentinel, clock_.now_ns()));
  return sentinel;
}

void Sentinels::announce(const std::vector<std::string>& created) {
  std::map<std::string, std::vector<std::string_view>> by_folder;
  for (const auto& path : created)
    by_folder[std::string(path::parent(path))].push_back(path::base_name(path));
  for (const auto& [folder, names] : by_folder) {
    const auto sentinel = place_of(folder);
    if (!exists(files_, sentinel)) continue;
    const auto wanted = read_names(files_, sentinel + ".names");
    const bool somebody_looked =
        std::any_of(names.begin(), names.end(), [&](std::string_view name) { return wanted.contains(name); });
    if (somebody_looked) static_cast<void>(files_.touch(sentinel, clock_.now_ns()));
  }
}

}  // namespace hallmark::engine
