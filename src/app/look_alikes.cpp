#include "app/look_alikes.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/limits.h"
#include "base/path.h"
#include "engine/program_search.h"
#include "inspect/elf_facts.h"

namespace hallmark::app {
namespace {

using Folders = std::vector<std::string>;

void split_into(std::string_view text, std::string_view separators, const std::string& base,
                Folders& folders) {
  while (!text.empty()) {
    const auto end = std::min(text.find_first_of(separators), text.size());
    if (end > 0) folders.push_back(path::join(base, text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::string_view variable(const model::Command& command, const char* name) {
  const auto found = command.environment.find(name);
  return found == command.environment.end() ? std::string_view() : std::string_view(found->second);
}

/// Folders in which the files themselves tell the loader to look.
Folders told_by(os::FileSystem& files, const std::vector<std::string>& ours) {
  constexpr std::string_view kOrigin = "$ORIGIN";
  constexpr std::string_view kBracedOrigin = "${ORIGIN}";
  Folders folders;
  for (const auto& file : ours) {
    const auto bytes = os::read_file(files, file, limits::kTestProgramBytes);
    if (!bytes.has_value()) continue;
    const auto facts = inspect::read_loader_facts(*bytes);
    if (!facts.has_value()) continue;
    const auto& paths = facts->runpath ? facts->runpath : facts->rpath;
    if (!paths) continue;
    Folders raw;
    split_into(*paths, ":", "/", raw);
    for (auto& folder : raw) {
      for (const auto origin : {kOrigin, kBracedOrigin}) {
        if (const auto at = folder.find(origin); at != std::string::npos)
          folder = std::string(path::parent(file)) + folder.substr(at + origin.size());
      }
      folders.push_back(std::move(folder));
    }
  }
  return folders;
}

class Finder {
 public:
  Finder(os::FileSystem& files, const std::vector<std::string>& loaded)
      : files_(files), loaded_(loaded.begin(), loaded.end()) {}

  /// `path`: any spelling.
  void consider(const std::string& loaded, const std::string& path, prove::LookAlike::Place place) {
    const auto real = engine::real_path(files_, path);
    if (!real || loaded_.contains(*real) || !seen_.insert({loaded, *real}).second) return;
    const auto one = files_.stat(loaded);
    const auto other = files_.stat(*real);
    if (!one.has_value() || !*one || !other.has_value() || !*other || (*other)->kind != NodeKind::file)
      return;
    if (have_same_bytes(loaded, **one, *real, **other)) return;
    found_.push_back({loaded, *real, place, (*other)->mtime_ns > (*one)->mtime_ns});
  }

  /// Every file of the folder that is this module.
  void consider_modules(const std::string& loaded, const std::string& folder, std::string_view module,
                        prove::LookAlike::Place place) {
    const auto names = files_.list(folder);
    if (!names.has_value()) return;
    for (const auto& name : *names) {
      if (python_module_of(name) == module) consider(loaded, path::join(folder, name), place);
    }
  }

  std::vector<prove::LookAlike> result() && { return std::move(found_); }

 private:
  bool have_same_bytes(const std::string& one, const FileStat& one_stat, const std::string& other,
                       const FileStat& other_stat) {
    if (one_stat.size_bytes != other_stat.size_bytes) return false;
    const auto bytes = os::read_file(files_, one, limits::kTestProgramBytes);
    const auto other_bytes = os::read_file(files_, other, limits::kTestProgramBytes);
    return bytes.has_value() && other_bytes.has_value() && *bytes == *other_bytes;
  }

  os::FileSystem& files_;
  std::set<std::string> loaded_;
  std::set<std::pair<std::string, std::string>> seen_;
  std::vector<prove::LookAlike> found_;
};

/// "pkg/ops" of "/site/pkg/ops/_C.so" where pkg and ops are packages; empty: it lies in none.
std::string package_of(os::FileSystem& files, const std::string& file) {
  std::string package;
  for (auto folder = path::parent(file); folder.size() > 1; folder = path::parent(folder)) {
    const auto marker = files.stat(path::join(folder, "__init__.py"));
    if (!marker.has_value() || !*marker) break;
    package = package.empty() ? std::string(path::base_name(folder))
                              : std::string(path::base_name(folder)) + "/" + package;
  }
  return package;
}

bool is_loadable(std::string_view name) {
  return name.ends_with(".so") || name.find(".so.") != std::string_view::npos;
}

}  // namespace

std::string_view python_module_of(std::string_view file_name) {
  constexpr std::string_view kSuffix = ".so";
  if (!file_name.ends_with(kSuffix) || file_name.starts_with("lib")) return {};
  file_name.remove_suffix(kSuffix.size());
  const auto dot = file_name.find('.');
  const auto tag = dot == std::string_view::npos ? std::string_view() : file_name.substr(dot + 1);
  if (tag.empty() || tag == "abi3" || tag.starts_with("cpython-") || tag.starts_with("pypy"))
    return file_name.substr(0, dot);
  return {};
}

std::vector<prove::LookAlike> look_alikes(os::FileSystem& files, const model::Command& command,
                                          const std::vector<std::string>& loaded,
                                          const std::vector<std::string>& ours,
                                          const std::vector<std::string>& built) {
  using Place = prove::LookAlike::Place;
  Folders library_folders = told_by(files, ours);
  split_into(variable(command, "LD_LIBRARY_PATH"), ":;", command.cwd, library_folders);
  Folders module_folders;
  split_into(variable(command, "PYTHONPATH"), ":", command.cwd, module_folders);
  std::multimap<std::string_view, const std::string*> built_by_name;
  for (const auto& file : built) built_by_name.emplace(path::base_name(file), &file);

  Finder finder(files, loaded);
  for (const auto& file : loaded) {
    const auto name = path::base_name(file);
    if (!is_loadable(name)) continue;
    const auto module = python_module_of(name);
    const auto package = module.empty() ? std::string() : package_of(files, file);
    if (module.empty()) {
      for (const auto& folder : library_folders)
        finder.consider(file, path::join(folder, name), Place::searched);
    } else {
      finder.consider_modules(file, std::string(path::parent(file)), module, Place::beside);
      for (const auto& folder : module_folders)
        finder.consider_modules(file, path::join(folder, package), module, Place::searched);
    }
    // The same name in two packages is not the same module: many call theirs _C.
    const auto [first, last] = built_by_name.equal_range(name);
    for (auto other = first; other != last; ++other) {
      const bool is_same_module =
          package.empty() || path::base_name(path::parent(*other->second)) == path::base_name(package);
      if (is_same_module) finder.consider(file, *other->second, Place::elsewhere);
    }
  }
  return std::move(finder).result();
}

}  // namespace hallmark::app
