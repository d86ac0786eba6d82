#include "cli/inspect_view.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>

#include "base/format.h"

namespace hallmark::cli {
namespace {

using inspect::Collision;
using inspect::CollisionKind;
using inspect::Harmless;

/// Longer lists are cut for people, unless they want all.
constexpr std::size_t kShownNames = 20;

/// Foreign names may hold what a terminal obeys.
std::string printable(std::string_view text) {
  std::string safe(text);
  for (char& c : safe) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return safe;
}

std::string targets_text(const std::set<inspect::CodeTarget>& targets) {
  std::string text;
  for (const auto& target : targets) text.append(text.empty() ? "" : ", ").append(printable(target.name()));
  return text.empty() ? "none" : text;
}

std::string field(std::string_view name, std::string_view value) {
  return formatted("  {:<10}{}\n", name, printable(value));
}

std::string number_of(std::size_t number, std::string_view what) {
  return formatted("{} {}{}", number, what, number == 1 ? "" : "s");
}

std::string elf_text(const inspect::ElfFacts& elf) {
  std::string text;
  if (elf.build_id) text += field("build-id", *elf.build_id);
  if (elf.soname) text += field("SONAME", *elf.soname);
  if (elf.rpath) text += field("RPATH", *elf.rpath + (elf.runpath ? " (RUNPATH beats it)" : ""));
  if (elf.runpath) text += field("RUNPATH", *elf.runpath);
  for (const auto& library : elf.needed) text += field("NEEDED", library);
  if (elf.is_symbolic) text += field("binding", "looks for symbols in itself first (-Bsymbolic)");
  std::size_t weak = 0;
  std::size_t unique = 0;
  for (const auto& symbol : elf.exports) {
    weak += symbol.binding == inspect::Binding::weak ? 1 : 0;
    unique += symbol.binding == inspect::Binding::unique ? 1 : 0;
  }
  if (!elf.exports.empty())
    text += field("exports", formatted("{}, of them {} weak, {} unique",
                                       number_of(elf.exports.size(), "symbol"), weak, unique));
  return text;
}

std::string kernel_list(const std::vector<std::string>& kernels, bool all) {
  std::string text;
  const auto shown = all ? kernels.size() : std::min(kernels.size(), kShownNames);
  for (std::size_t i = 0; i < shown; ++i) text += formatted("      {}\n", printable(kernels[i]));
  if (shown < kernels.size()) text += formatted("      and {} more (--all)\n", kernels.size() - shown);
  return text;
}

/// Kernels with the same code in one group; what a group lacks of what others in the file have.
std::string kernels_text(const inspect::DeviceCode& device, bool all) {
  std::map<std::set<inspect::CodeTarget>, std::vector<std::string>> groups;
  std::set<inspect::CodeTarget> any;
  for (const auto& [kernel, targets] : device.kernels()) {
    groups[targets].push_back(kernel);
    any.insert(targets.begin(), targets.end());
  }
  std::string text;
  for (const auto& [targets, kernels] : groups) {
    std::set<inspect::CodeTarget> lacking;
    std::set_difference(any.begin(), any.end(), targets.begin(), targets.end(),
                        std::inserter(lacking, lacking.end()));
    text += formatted("    {} for {}", number_of(kernels.size(), "kernel"), targets_text(targets));
    if (!lacking.empty()) text += formatted("; not for {}, as others", targets_text(lacking));
    text += "\n";
    if (all || !lacking.empty()) text += kernel_list(kernels, all);
  }
  return text;
}

/// Of an archive: the members whose code is for other devices than the rest's.
std::string members_text(const inspect::DeviceCode& device) {
  std::map<std::string, std::set<inspect::CodeTarget>> members;
  for (const auto& image : device.images) members[image.member].insert(image.target);
  const auto all = device.targets();
  std::string text;
  for (const auto& [member, targets] : members) {
    if (targets != all) text += formatted("    {} holds only {}\n", printable(member), targets_text(targets));
  }
  return text;
}

std::string file_text(const app::InspectedFile& file, bool all) {
  const auto& facts = *file.facts;
  std::string what;
  if (facts.elf) {
    what = formatted("{}, {}", name_of(facts.elf->type), facts.elf->machine);
  } else if (facts.form == inspect::FileForm::archive) {
    what = formatted("archive, {}", number_of(facts.members, "member"));
  } else {
    what = name_of(facts.form);
    std::replace(what.begin(), what.end(), '_', ' ');
  }
  std::string text = formatted("{}: {}\n", file.file, what);
  if (facts.elf) text += elf_text(*facts.elf);
  if (!facts.device.images.empty()) {
    text += field("device", targets_text(facts.device.targets()));
    text += kernels_text(facts.device, all) + members_text(facts.device);
  }
  for (const auto& doubt : facts.device.doubts) text += field("unread", doubt);
  return text;
}

std::string_view meaning_of(CollisionKind kind) {
  switch (kind) {
    case CollisionKind::kernel:
      return "kernels: the host side of the file loaded first serves all, so the others' kernels are never "
             "launched";
    case CollisionKind::strong:
      return "functions and data: whoever uses the name gets that of the file loaded first (with RTLD_LOCAL: "
             "of itself)";
    case CollisionKind::unique:
      return "STB_GNU_UNIQUE: one for the whole process, that of the file loaded first, even with RTLD_LOCAL";
    case CollisionKind::weak:
      return "inline code that differs: all use that of the file loaded first (with RTLD_LOCAL: their own)";
  }
  return "";
}

std::string collision_text(const app::Inspection& found, const Collision& collision) {
  std::string text = formatted("  {}", printable(collision.symbol));
  if (!collision.version.empty()) text += formatted(" ({})", printable(collision.version));
  for (std::size_t i = 0; i < collision.definitions.size(); ++i) {
    const auto& definition = collision.definitions[i];
    text += formatted("{} {}{}", i == 0 ? ":" : ",", found.files[definition.file].file,
                      i == 0              ? " wins"
                      : definition.is_own ? " (uses its own)"
                                          : "");
  }
  return text + "\n";
}

std::string harmful_text(const app::Inspection& found, bool all) {
  std::string text;
  std::map<CollisionKind, std::size_t> counts;
  for (const auto& collision : found.collisions) {
    if (collision.harmless != Harmless::no) continue;
    const auto number = ++counts[collision.kind];
    if (number == 1) text += formatted("defined twice, {}\n", meaning_of(collision.kind));
    if (all || number <= kShownNames) text += collision_text(found, collision);
  }
  for (const auto& [kind, number] : counts) {
    if (!all && number > kShownNames)
      text += formatted("and {} more of kind {} (--all)\n", number - kShownNames, name_of(kind));
  }
  return text;
}

std::string harmless_text(const app::Inspection& found, bool all) {
  constexpr std::array<std::pair<Harmless, std::string_view>, 3> kWhy = {
      {{Harmless::cxx_library, "of the C++ library's templates"},
       {Harmless::equal_code, "weak, with equal bytes"},
       {Harmless::own, "each file uses its own"}}};
  std::string text;
  for (const auto& [harmless, why] : kWhy) {
    std::size_t number = 0;
    std::string names;
    for (const auto& collision : found.collisions) {
      if (collision.harmless != harmless) continue;
      ++number;
      if (all) names += collision_text(found, collision);
    }
    if (number > 0)
      text += formatted("defined twice without harm, {}: {}{}\n", why, number_of(number, "symbol"),
                        all ? "" : " (--all)") +
              names;
  }
  return text;
}

std::string devices_text(const app::Inspection& found, bool all) {
  std::string text;
  std::map<std::string, std::size_t> counts;
  for (const auto& lack : found.lacks) {
    const auto number = ++counts[lack.device];
    if (all || number <= kShownNames)
      text += formatted("no code for {}: {} in {} (it has {})\n", lack.device, printable(lack.kernel),
                        found.files[lack.file].file, targets_text(lack.has));
  }
  for (const auto& [device, number] : counts) {
    if (!all && number > kShownNames)
      text += formatted("and {} more kernels without code for {} (--all)\n", number - kShownNames, device);
  }
  for (const auto& [device, why] : found.unknown)
    text += formatted("not known for {}: {}\n", device, printable(why));
  return text;
}

}  // namespace

std::string inspection_text(const app::Inspection& found, bool all) {
  std::string text;
  for (const auto& file : found.files) {
    if (file.facts) text += file_text(file, all);
  }
  return text + harmful_text(found, all) + harmless_text(found, all) + devices_text(found, all);
}

}  // namespace hallmark::cli
