#include "prove/internal/sources.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/path.h"
#include "engine/program_search.h"
#include "prove/artifacts.h"
#include "prove/internal/ninja_outputs.h"

namespace hallmark::prove {
namespace {

constexpr std::size_t kMakefileBytes = 64u << 20;

/// Files of which nobody need look at the first bytes.
bool has_source_name(std::string_view path) {
  constexpr std::array<std::string_view, 36> kEnds = {
      "h",    "hh",   "hpp",  "hxx", "cuh",   "inl", "inc", "ipp", "tcc", "tpp", "c",   "cc",
      "cpp",  "cxx",  "cu",   "hip", "cl",    "s",   "S",   "asm", "py",  "pyi", "txt", "in",
      "json", "toml", "yaml", "yml", "cmake", "def", "map", "lds", "ver", "md",  "ptx", "td"};
  const auto name = path::base_name(path);
  const auto dot = name.rfind('.');
  return dot != std::string_view::npos &&
         std::find(kEnds.begin(), kEnds.end(), name.substr(dot + 1)) != kEnds.end();
}

/// The names in the set() commands of CMakeFiles/Makefile.cmake that list what CMake writes, absolute.
std::set<std::string> written_by_cmake(std::string_view text, const std::string& build_folder) {
  std::set<std::string> names;
  for (const std::string_view list : {"CMAKE_MAKEFILE_OUTPUTS", "CMAKE_MAKEFILE_PRODUCTS"}) {
    auto at = text.find(list);
    if (at == std::string_view::npos) continue;
    const auto end = text.find("\n  )", at);
    while ((at = text.find('"', at)) < end) {
      const auto close = text.find('"', at + 1);
      if (close == std::string_view::npos) break;
      names.insert(path::join(build_folder, text.substr(at + 1, close - at - 1)));
      at = close + 1;
    }
  }
  return names;
}

}  // namespace

bool Sources::read_ninja(const std::string& folder) {
  const auto names = files_.list(folder);
  if (!names.has_value()) return false;
  engine::RealPaths real(files_);
  bool found = false;
  for (const auto& name : *names) {
    if (!name.ends_with(".ninja")) continue;
    const auto ninja = inspect::NinjaManifest::read(files_, folder, name);
    if (!ninja.has_value()) continue;
    found = true;
    // Observed paths have no links in them; the manifest's may.
    for (const auto& output : outputs_of_commands(*ninja, folder)) {
      const std::string parent(path::parent(output));
      named_.insert(path::join(real.of(parent).value_or(parent), path::base_name(output)));
    }
  }
  return found;
}

void Sources::read_build_folder() {
  if (is_read_) return;
  is_read_ = true;
  const bool in_source = build_folder_.empty();  // the tree is its own build folder, if it is one
  if (in_source && root_.empty()) return;
  if (read_ninja(in_source ? root_ : build_folder_)) {
    builder_ = Builder::ninja;
    return;
  }
  if (in_source) return;  // then what CMake did not write is mostly sources
  const auto make =
      os::read_file(files_, path::join(build_folder_, "CMakeFiles/Makefile.cmake"), kMakefileBytes);
  if (!make.has_value()) return;
  builder_ = Builder::cmake_make;
  named_ = written_by_cmake(*make, build_folder_);
}

std::optional<std::string> Sources::why_made(const std::string& path) {
  read_build_folder();
  const bool unseen = builder_ == Builder::ninja ? named_.contains(path)
                      : builder_ == Builder::cmake_make
                          ? path::is_within(path, build_folder_) && !named_.contains(path)
                          : false;
  if (unseen) return "a step of the build made it that hallmark did not run";
  if (root_.empty() || !path::is_within(path, root_)) return std::nullopt;
  if (has_artifact_name(path) || (!has_source_name(path) && has_artifact_bytes(files_, path)))
    return "it lies in the tree, and no command that hallmark recorded made it";
  return std::nullopt;
}

}  // namespace hallmark::prove
