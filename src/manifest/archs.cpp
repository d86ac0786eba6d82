#include <algorithm>
#include <array>

#include "base/format.h"
#include "manifest/expand.h"
#include "manifest/internal/parts.h"

namespace hallmark::manifest {
namespace {

constexpr std::array<std::string_view, 7> kCpuArchs = {"x86-64",  "x86-64-v2", "x86-64-v3", "x86-64-v4",
                                                       "armv8-a", "armv8.2-a", "armv9-a"};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// "90", "90a", "120f".
bool is_cuda_number(std::string_view text) {
  if (!text.empty() && (text.back() == 'a' || text.back() == 'f')) text.remove_suffix(1);
  return (text.size() == 2 || text.size() == 3) && std::ranges::all_of(text, is_digit);
}

/// "90a", "942", "1100", with features behind: "90a:xnack+:sramecc-".
bool is_gfx_number(std::string_view text) {
  const auto number = text.substr(0, text.find(':'));
  const auto is_hex = [](char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); };
  if (number.size() < 3 || number.size() > 4 || !std::ranges::all_of(number, is_hex)) return false;
  for (auto rest = text.substr(number.size()); !rest.empty();) {
    rest.remove_prefix(1);
    const auto feature = rest.substr(0, rest.find(':'));
    if (feature.size() < 2 || (feature.back() != '+' && feature.back() != '-')) return false;
    rest.remove_prefix(feature.size());
  }
  return true;
}

}  // namespace

std::optional<ToolchainKind> toolchain_of_arch(std::string_view arch) {
  if (std::ranges::find(kCpuArchs, arch) != kCpuArchs.end()) return ToolchainKind::cpu;
  for (const std::string_view prefix : {"sm_", "compute_"})
    if (arch.starts_with(prefix))
      return is_cuda_number(arch.substr(prefix.size())) ? std::optional(ToolchainKind::cuda) : std::nullopt;
  if (arch.starts_with("gfx"))
    return is_gfx_number(arch.substr(3)) ? std::optional(ToolchainKind::hip) : std::nullopt;
  return std::nullopt;
}

std::string arch_hint(std::string_view arch) {
  std::vector<std::string> known(kCpuArchs.begin(), kCpuArchs.end());
  for (const std::string_view word : {"native", "gfx908", "gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1200"})
    known.emplace_back(word);
  for (const std::string_view number :
       {"70", "75", "80", "86", "87", "89", "90", "90a", "100", "100a", "103", "120", "120a"})
    for (const std::string_view prefix : {"sm_", "compute_"})
      known.push_back(std::string(prefix).append(number));
  if (const auto near = nearest(arch, known)) return formatted("did you mean \"{}\"?", *near);
  return "such as x86-64-v3, sm_90, compute_90, gfx90a or native";
}

void check_arch(const Text& arch, std::string_view title, Problems& problems) {
  if (arch.text != "native" && !toolchain_of_arch(arch.text))
    problems.add(arch.place, formatted("{}: \"{}\" is no known arch", title, arch.text),
                 arch_hint(arch.text));
}

std::string arch_identifier(std::string_view arch) {
  std::string identifier;
  for (const char c : arch) {
    const bool is_word = is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    identifier += is_word ? c : '_';
  }
  return identifier;
}

std::optional<ToolchainKind> toolchain_of_file(std::string_view path) {
  const auto dot = path.rfind('.');
  const auto suffix = dot == std::string_view::npos ? std::string_view() : path.substr(dot);
  for (const std::string_view cpu : {".c", ".cc", ".cpp", ".cxx"})
    if (suffix == cpu) return ToolchainKind::cpu;
  if (suffix == ".cu") return ToolchainKind::cuda;
  if (suffix == ".hip") return ToolchainKind::hip;
  return std::nullopt;
}

const char* name_of(Origin origin) {
  switch (origin) {
    case Origin::command_line:
      return "command line";
    case Origin::profile:
      return "profile";
    case Origin::manifest:
      return "manifest";
    case Origin::environment:
      return "environment";
    case Origin::machine:
      return "machine";
    case Origin::built_in:
      break;
  }
  return "built-in";
}

}  // namespace hallmark::manifest
