#include "prove/internal/sources.h"

#include <string_view>

#include "base/path.h"
#include "engine/build_folder.h"
#include "prove/artifacts.h"

namespace hallmark::prove {
namespace {

constexpr std::size_t kMakefileBytes = 64u << 20;

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

void Sources::read_build_folder() {
  if (is_read_) return;
  is_read_ = true;
  const bool in_source = build_folder_.empty();  // the tree is its own build folder, if it is one
  if (in_source) build_folder_ = root_;
  engine::NinjaOutputs ninja(files_, build_folder_, engine::NinjaOutputs::Keep::paths);
  if (ninja.read(path::join(build_folder_, "build.ninja"))) {
    builder_ = Builder::ninja;
    named_ = ninja.paths();
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
  if (build_folder_.empty() && root_.empty()) return std::nullopt;
  if (path::is_within(path, build_folder_.empty() ? root_ : build_folder_)) {
    read_build_folder();
    const bool named = named_.contains(path);
    if ((builder_ == Builder::ninja && named) || (builder_ == Builder::cmake_make && !named))
      return "a step of the build made it that hallmark did not run";
  }
  if (!root_.empty() && path::is_within(path, root_) && has_artifact_name(path))
    return "it lies in the tree, and no command that hallmark recorded made it";
  return std::nullopt;
}

}  // namespace hallmark::prove
