#include "inspect/device_target.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>
#include <vector>

namespace hallmark::inspect {
namespace {

/// "90a" as 90 and 'a'.
struct Sm {
  unsigned number = 0;
  char suffix = '\0';

  unsigned major() const { return number / 10; }
};

std::optional<Sm> parse_sm(std::string_view text) {
  Sm sm;
  const auto* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, sm.number);
  if (parsed.ec != std::errc() || end - parsed.ptr > 1 || sm.number < 10 || sm.number > 999)
    return std::nullopt;
  if (parsed.ptr != end) sm.suffix = *parsed.ptr;
  return sm.suffix == '\0' || sm.suffix == 'a' || sm.suffix == 'f' ? std::optional(sm) : std::nullopt;
}

/// Systems on a chip: their machine code and that of the others do not run on one another.
bool is_tegra(unsigned sm) {
  constexpr std::array<unsigned, 7> kTegra = {32, 53, 62, 72, 87, 101, 110};
  return std::find(kTegra.begin(), kTegra.end(), sm) != kTegra.end();
}

bool runs_on_sm(const CodeTarget& target, unsigned device) {
  const auto code = parse_sm(target.arch);
  if (!code) return false;
  if (code->suffix == 'a') return code->number == device;
  const bool same_major = code->major() == device / 10;
  if (code->number > device || (code->suffix == 'f' && !same_major)) return false;
  if (target.form == CodeForm::ptx) return true;
  return same_major && (code->number == device || (!is_tegra(code->number) && !is_tegra(device)));
}

/// The targets that stand for a family, as LLVM's AMDGPU page lists them.
bool generic_runs_on(std::string_view generic, std::string_view gfx) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kFamilies = {
      {{"gfx9-generic", " gfx900 gfx902 gfx904 gfx906 gfx909 gfx90c "},
       {"gfx9-4-generic", " gfx940 gfx941 gfx942 gfx950 "},
       {"gfx10-1-generic", " gfx1010 gfx1011 gfx1012 gfx1013 "},
       {"gfx10-3-generic", " gfx1030 gfx1031 gfx1032 gfx1033 gfx1034 gfx1035 gfx1036 "},
       {"gfx11-generic", " gfx1100 gfx1101 gfx1102 gfx1103 gfx1150 gfx1151 gfx1152 gfx1153 "},
       {"gfx12-generic", " gfx1200 gfx1201 "}}};
  return std::any_of(kFamilies.begin(), kFamilies.end(), [&](const auto& family) {
    return family.first == generic &&
           family.second.find(" " + std::string(gfx) + " ") != std::string_view::npos;
  });
}

/// "gfx90a" and ":sramecc+:xnack-" of "gfx90a:sramecc+:xnack-".
std::pair<std::string_view, std::string_view> split(std::string_view target) {
  const auto colon = std::min(target.find(':'), target.size());
  return {target.substr(0, colon), target.substr(colon)};
}

/// '+', '-', or 0: not told.
char setting(std::string_view features, std::string_view name) {
  const auto at = features.find(":" + std::string(name));
  if (at == std::string_view::npos || at + 1 + name.size() >= features.size()) return '\0';
  return features[at + 1 + name.size()];
}

constexpr std::array<std::string_view, 2> kFeatures = {"sramecc", "xnack"};

/// A list of ":sramecc+" and ":xnack-", each at most once.
bool are_features(std::string_view text) {
  std::string rest(text);
  for (const auto feature : kFeatures) {
    const char value = setting(rest, feature);
    if (value == '\0') continue;
    if (value != '+' && value != '-') return false;
    rest.erase(rest.find(":" + std::string(feature)), feature.size() + 2);
  }
  return rest.empty();
}

}  // namespace

std::string CodeTarget::name() const {
  switch (form) {
    case CodeForm::cubin:
      return "sm_" + arch;
    case CodeForm::ptx:
      return "compute_" + arch;
    case CodeForm::lto:
      return "lto_" + arch;
    case CodeForm::amd:
      return arch;
    case CodeForm::bitcode:
      return arch + " (bitcode)";
    case CodeForm::other:
      break;
  }
  return arch + " (unknown form)";
}

Result<Device> Device::parse(std::string_view text) {
  Device device;
  const auto [gfx, features] = split(text);
  if (gfx.starts_with("gfx") && gfx.size() > 3 && gfx.find("generic") == std::string_view::npos &&
      are_features(features)) {
    device.name_ = text;
    device.gfx_ = gfx;
    device.features_ = features;
    return device;
  }
  std::string number(text.starts_with("sm_") ? text.substr(3) : text);
  if (const auto dot = number.find('.'); dot != std::string::npos && dot + 2 == number.size())
    number.erase(dot, 1);
  const auto sm = parse_sm(number);
  if (!sm)
    return fail({ErrorKind::invalid, "`" + std::string(text) + "` names no device",
                 "say sm_90 or 9.0, or gfx90a, or gfx90a:xnack+"});
  device.sm_ = sm->number;
  device.name_ = "sm_" + std::to_string(sm->number);
  return device;
}

bool Device::runs(const CodeTarget& target, std::string_view features) const {
  if (sm_)
    return (target.form == CodeForm::cubin || target.form == CodeForm::ptx) && runs_on_sm(target, *sm_);
  if (target.form != CodeForm::amd) return false;
  const auto [gfx, wanted] = split(target.arch);
  if (gfx != gfx_ && !generic_runs_on(gfx, gfx_)) return false;
  return std::all_of(kFeatures.begin(), kFeatures.end(), [&, wants = wanted](std::string_view feature) {
    const char value = setting(wants, feature);
    return value == '\0' || value == setting(features, feature);
  });
}

bool Device::runs_one_of(const std::set<CodeTarget>& targets) const {
  std::vector<std::string> variants = {features_};
  for (const auto feature : kFeatures) {
    if (sm_ || setting(features_, feature) != '\0') continue;
    const auto known = variants;
    variants.clear();
    for (const auto& each : known) {
      for (const char value : {'+', '-'}) variants.push_back(each + ":" + std::string(feature) + value);
    }
  }
  return std::all_of(variants.begin(), variants.end(), [&](const std::string& features) {
    return std::any_of(targets.begin(), targets.end(),
                       [&](const CodeTarget& target) { return runs(target, features); });
  });
}

}  // namespace hallmark::inspect
