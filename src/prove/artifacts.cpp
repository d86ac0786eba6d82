#include "prove/artifacts.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/limits.h"
#include "base/path.h"
#include "inspect/fat_binary.h"
#include "prove/internal/ninja_outputs.h"

namespace hallmark::prove {
namespace {

/// CMakeFiles/3.25.1, CMakeFiles/CMakeScratch, CMakeFiles/CMakeTmp.
bool is_cmakes_own(std::string_view folder) {
  if (path::base_name(path::parent(folder)) != "CMakeFiles") return false;
  const auto name = path::base_name(folder);
  return name == "CMakeScratch" || name == "CMakeTmp" ||
         std::isdigit(static_cast<unsigned char>(name.empty() ? 'x' : name.front())) != 0;
}

Status walk(os::FileSystem& files, const std::string& folder, std::size_t depth,
            std::vector<std::string>& found) {
  if (depth > limits::kFolderDepth) return {};
  HALLMARK_TRY(const auto names, files.list(folder));
  for (const auto& name : names) {
    const auto path = path::join(folder, name);
    HALLMARK_TRY(const auto stat, files.lstat(path));
    if (!stat) continue;
    if (stat->kind == NodeKind::directory && !is_cmakes_own(path) && name != ".git" && name != ".hallmark") {
      HALLMARK_CHECK(walk(files, path, depth + 1, found));
    } else if (stat->kind == NodeKind::file &&
               (has_artifact_name(path) || (stat->executable() && has_artifact_bytes(files, path)))) {
      found.push_back(path);
    }
  }
  return {};
}

bool exists(os::FileSystem& files, const std::string& path) {
  const auto stat = files.stat(path);
  return stat.has_value() && stat->has_value();
}

}  // namespace

bool has_artifact_name(std::string_view path) {
  constexpr std::array<std::string_view, 17> kEnds = {".o",   ".obj", ".lo",    ".a",    ".la",    ".so",
                                                      ".pyd", ".gch", ".pch",   ".pcm",  ".cubin", ".fatbin",
                                                      ".bc",  ".co",  ".hsaco", ".rlib", ".dylib"};
  const auto name = path::base_name(path);
  return std::any_of(kEnds.begin(), kEnds.end(), [&](std::string_view end) { return name.ends_with(end); }) ||
         name.find(".so.") != std::string_view::npos;
}

bool has_artifact_bytes(os::FileSystem& files, const std::string& path) {
  constexpr std::string_view kElf =
      "\x7f"
      "ELF";
  constexpr std::string_view kArchive = "!<arch>\n";
  constexpr std::string_view kThinArchive = "!<thin>\n";
  constexpr std::string_view kBitcode = "BC\xc0\xde";
  constexpr std::string_view kOffloadBundle = "__CLANG_OFFLOAD_BUNDLE__";
  std::array<std::uint8_t, kOffloadBundle.size()> start{};
  const auto file = files.open_read(path);
  if (!file.has_value()) return false;
  const auto got = (*file)->read(start);
  if (!got.has_value()) return false;
  const auto text = as_text(ByteView(start).first(*got));
  return text.starts_with(kElf) || text.starts_with(kArchive) || text.starts_with(kThinArchive) ||
         text.starts_with(kBitcode) || text == kOffloadBundle || inspect::is_fat_binary(text);
}

Result<std::vector<std::string>> artifacts_below(os::FileSystem& files, const std::string& folder) {
  std::vector<std::string> found;
  HALLMARK_CHECK(walk(files, folder, 0, found));
  std::sort(found.begin(), found.end());
  return found;
}

Result<std::vector<std::string>> artifacts_of_build(os::FileSystem& files, const std::string& folder) {
  std::vector<std::string> found;
  if (const auto ninja = inspect::NinjaManifest::read(files, folder); ninja.has_value()) {
    for (const auto& path : outputs_of_commands(*ninja, folder)) {
      HALLMARK_TRY(const auto stat, files.lstat(path));
      if (stat && stat->kind == NodeKind::file) found.push_back(path);
    }
    return found;
  }
  constexpr std::array kMakefiles = {"Makefile", "makefile", "GNUmakefile"};
  if (std::none_of(kMakefiles.begin(), kMakefiles.end(),
                   [&](const char* name) { return exists(files, path::join(folder, name)); })) {
    return fail({ErrorKind::invalid,
                 folder + " is no build folder: it has neither a build.ninja nor a Makefile",
                 "name the folder in which ninja or make runs"});
  }
  return artifacts_below(files, folder);
}

}  // namespace hallmark::prove
