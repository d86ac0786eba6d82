#include "app/native_archs.h"

#include <algorithm>
#include <string_view>

#include "app/captured_run.h"

namespace hallmark::app {
namespace {

using manifest::ToolchainKind;

constexpr std::string_view kNative = "native";
/// A line for each device.
constexpr std::size_t kDeviceListBytes = 64 << 10;

template <class Take>
void each_line(std::string_view text, Take take) {
  while (!text.empty()) {
    const auto end = text.find('\n');
    auto line = text.substr(0, end);
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
    take(line);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
}

void add_once(std::vector<std::string>& archs, std::string arch) {
  if (std::ranges::find(archs, arch) == archs.end()) archs.push_back(std::move(arch));
}

bool is_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

/// Whether the manifest can have anything for the toolchain. Generated units are known to nobody yet.
bool has_work_for(const manifest::Manifest& manifest, ToolchainKind kind) {
  if (!manifest.codegens.empty()) return true;
  for (const auto& library : manifest.libraries) {
    for (const auto& kernel : library.kernels)
      if (kernel.toolchain == kind) return true;
    for (const auto& pattern : library.sources) {
      const auto suffix = manifest::toolchain_of_file(pattern.text);
      if (!suffix || *suffix == kind) return true;  // "src/*" may be anything
    }
  }
  return false;
}

bool says_native(const manifest::Texts& archs) {
  return std::ranges::find(archs, kNative, &manifest::Text::text) != archs.end();
}

/// In the order of precedence (docs/formats/manifest.md).
bool asks_for_native(const manifest::Manifest& manifest, const manifest::Selection& selection) {
  if (!selection.archs.empty()) return std::ranges::find(selection.archs, kNative) != selection.archs.end();
  const auto name = selection.profile.empty() ? std::string("default") : selection.profile;
  const auto profile = std::ranges::find(manifest.profiles, name, &manifest::Profile::name);
  if (profile != manifest.profiles.end() && profile->archs) return says_native(*profile->archs);
  if (!manifest.build.archs.empty()) return says_native(manifest.build.archs);
  return selection.environment_archs.empty() ||
         selection.environment_archs.find(kNative) != std::string::npos;
}

/// What a program prints; empty if there is none or it fails, as nvidia-smi does without a driver.
std::string told_by(const Session& session, const std::vector<std::string>& argv) {
  auto run = run_captured(argv, session.environment, "/", kDeviceListBytes, Complaints::dropped);
  return run.has_value() && run->exit_code == 0 ? std::move(run->out) : std::string();
}

std::vector<std::string> cuda_archs(const Session& session) {
  return archs_of_nvidia_smi(
      told_by(session, {"nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"}));
}

std::vector<std::string> hip_archs(const Session& session) {
  auto told = told_by(session, {"rocm_agent_enumerator"});
  if (told.empty()) told = told_by(session, {"/opt/rocm/bin/rocm_agent_enumerator"});
  return archs_of_rocm_agents(told);
}

}  // namespace

std::vector<std::string> archs_of_nvidia_smi(std::string_view text) {
  std::vector<std::string> archs;
  each_line(text, [&archs](std::string_view line) {
    const auto dot = line.find('.');
    if (dot == std::string_view::npos) return;
    const auto major = line.substr(0, dot);
    const auto minor = line.substr(dot + 1);
    if (is_digits(major) && is_digits(minor)) add_once(archs, std::string("sm_").append(major).append(minor));
  });
  return archs;
}

std::vector<std::string> archs_of_rocm_agents(std::string_view text) {
  std::vector<std::string> archs;
  each_line(text, [&archs](std::string_view line) {
    if (line != "gfx000" && manifest::toolchain_of_arch(line) == ToolchainKind::hip)
      add_once(archs, std::string(line));
  });
  return archs;
}

NativeArchs native_archs(const Session& session, const manifest::Manifest& manifest) {
  NativeArchs native;
  native[ToolchainKind::cpu] = {std::string(kNative)};
  if (has_work_for(manifest, ToolchainKind::cuda)) native[ToolchainKind::cuda] = cuda_archs(session);
  if (has_work_for(manifest, ToolchainKind::hip)) native[ToolchainKind::hip] = hip_archs(session);
  return native;
}

NativeArchs native_archs(const Session& session, const manifest::Manifest& manifest,
                         const manifest::Selection& selection) {
  if (asks_for_native(manifest, selection)) return native_archs(session, manifest);
  return {{ToolchainKind::cpu, {std::string(kNative)}}};
}

}  // namespace hallmark::app
