#include "kernels/tools.h"

#include <algorithm>

#include "base/format.h"

namespace hallmark::kernels {
namespace {

/// "compute_90a" is made by whoever makes "sm_90a".
std::string made_as(std::string_view arch) {
  constexpr std::string_view kVirtual = "compute_";
  if (arch.starts_with(kVirtual)) return "sm_" + std::string(arch.substr(kVirtual.size()));
  return std::string(arch.substr(0, arch.find(':')));  // features of gfx are no archs of their own
}

std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text.append(text.empty() ? "" : ", ").append(word);
  return text;
}

}  // namespace

const Tool* find_tool(const std::vector<Tool>& tools, manifest::ToolchainKind kind) {
  const auto found = std::ranges::find(tools, kind, &Tool::kind);
  return found == tools.end() ? nullptr : &*found;
}

std::vector<manifest::Problem> unsupported_archs(const manifest::Expansion& expansion,
                                                 const std::vector<Tool>& tools) {
  std::vector<manifest::Problem> problems;
  for (const auto& arch : expansion.archs) {
    const auto* tool = find_tool(tools, arch.toolchain);
    if (tool == nullptr || tool->archs.empty() || arch.name == "native") continue;
    if (std::ranges::find(tool->archs, made_as(arch.name)) != tool->archs.end()) continue;
    problems.push_back({arch.place, formatted("{} cannot make code for \"{}\"", tool->program, arch.name),
                        formatted("it can for {}", listed(tool->archs))});
  }
  return problems;
}

}  // namespace hallmark::kernels
