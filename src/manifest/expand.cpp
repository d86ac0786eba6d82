#include "manifest/expand.h"

#include <algorithm>
#include <set>

#include "base/format.h"
#include "base/limits.h"
#include "base/path.h"
#include "manifest/internal/files_of.h"
#include "manifest/internal/parts.h"
#include "manifest/internal/variants.h"

namespace hallmark::manifest {
namespace {

constexpr std::string_view kDefaultProfile = "default";

template <class Things>
std::vector<std::string> names_of(const Things& things) {
  std::vector<std::string> names;
  for (const auto& thing : things) names.push_back(thing.name);
  return names;
}

template <class List, class Thing>
bool contains(const List& list, const Thing& thing) {
  return std::ranges::find(list, thing) != list.end();
}

std::string stem_of(std::string_view file) {
  auto stem = path::base_name(file);
  return arch_identifier(stem.substr(0, stem.rfind('.')));
}

class Expander {
 public:
  Expander(const Manifest& manifest, const Selection& selection,
           std::map<std::string, std::string> source_folders,
           const std::map<ToolchainKind, std::vector<std::string>>& native, os::FileSystem& files)
      : manifest_(manifest),
        selection_(selection),
        native_(native),
        globber_(files),
        files_of_(manifest, std::move(source_folders), globber_, result_.problems) {}

  FilesOf& files_of() { return files_of_; }

  Result<Expanded> operator()() {
    choose_profile();
    choose_archs();
    choose_toolchains();
    choose_options();
    for (const auto* library : chosen_libraries()) HALLMARK_CHECK(add(*library));
    check_installed();
    auto& expansion = result_.expansion;
    const auto& listed = globber_.listed_folders();
    expansion.listed_folders.assign(listed.begin(), listed.end());
    for (const auto kind : {ToolchainKind::cpu, ToolchainKind::cuda, ToolchainKind::hip})
      if (needed_.contains(kind)) expansion.toolchains.push_back(kind);
    return std::move(result_);
  }

 private:
  Expansion& made() { return result_.expansion; }
  void problem(Place place, std::string what, std::string hint = {}) {
    result_.problems.push_back({place, std::move(what), std::move(hint)});
  }

  void choose_profile() {
    made().profile = selection_.profile.empty() ? std::string(kDefaultProfile) : selection_.profile;
    const auto found = std::ranges::find(manifest_.profiles, made().profile, &Profile::name);
    if (found != manifest_.profiles.end()) {
      profile_ = &*found;
    } else if (made().profile != kDefaultProfile) {
      problem({}, formatted("no profile \"{}\"", made().profile),
              suggestion(made().profile, names_of(manifest_.profiles)));
    }
    made().folder =
        selection_.folder.empty() ? path::join(manifest_.root, manifest_.build.folder) : selection_.folder;
    if (selection_.folder.empty() && made().profile != kDefaultProfile) made().folder += "-" + made().profile;
    made().defines = manifest_.build.defines;
    if (profile_ != nullptr)
      made().defines.insert(made().defines.end(), profile_->defines.begin(), profile_->defines.end());
  }

  void choose_archs() {
    Texts archs;
    if (!selection_.archs.empty()) {
      for (const auto& arch : selection_.archs) archs.push_back({arch, {}});
      made().archs_origin = Origin::command_line;
    } else if (profile_ != nullptr && profile_->archs) {
      archs = *profile_->archs;
      made().archs_origin = Origin::profile;
    } else if (!manifest_.build.archs.empty()) {
      archs = manifest_.build.archs;
      made().archs_origin = Origin::manifest;
    } else if (!selection_.environment_archs.empty()) {
      std::string_view rest = selection_.environment_archs;
      while (!rest.empty()) {
        const auto end = std::min(rest.find(','), rest.size());
        if (end > 0) archs.push_back({std::string(rest.substr(0, end)), {}});
        rest.remove_prefix(std::min(end + 1, rest.size()));
      }
      made().archs_origin = Origin::environment;
    } else {
      archs = {{"native", {}}};
      made().archs_origin = Origin::machine;
    }
    for (const auto& arch : archs) add_arch(arch);
  }

  void add_arch(const Text& arch) {
    const auto add = [this](ToolchainKind kind, const std::string& name, Place place) {
      const Arch made_arch{kind, name, place};
      if (!contains(made().archs, made_arch)) made().archs.push_back(made_arch);
    };
    if (arch.text == "native") {
      is_native_ = true;
      for (const auto& [kind, names] : native_)
        for (const auto& name : names) add(kind, name, arch.place);
      return;
    }
    if (const auto kind = toolchain_of_arch(arch.text)) return add(*kind, arch.text, arch.place);
    const std::string from = made().archs_origin == Origin::environment ? "HALLMARK_ARCHS: " : "--arch: ";
    problem(arch.place, formatted("{}\"{}\" is no known arch", from, arch.text), arch_hint(arch.text));
  }

  void choose_toolchains() {
    const std::vector<ToolchainKind> all = {ToolchainKind::cpu, ToolchainKind::cuda, ToolchainKind::hip};
    toolchains_ = manifest_.build.toolchains.value_or(all);
    if (profile_ != nullptr && profile_->toolchains) toolchains_ = *profile_->toolchains;
  }

  void choose_options() {
    for (const auto& [name, value] : selection_.options)
      if (!contains(names_of(manifest_.options), name))
        problem({}, formatted("no option \"{}\"", name), suggestion(name, names_of(manifest_.options)));
    for (const auto& option : manifest_.options) {
      ChosenOption chosen{option.name, option.chosen_by_default, Origin::built_in, option.define,
                          option.toolchains.value_or(toolchains_)};
      if (profile_ != nullptr)
        if (const auto said = profile_->options.find(option.name); said != profile_->options.end()) {
          chosen.value = said->second;
          chosen.origin = Origin::profile;
        }
      for (const auto& [name, text] : selection_.options) {
        if (name != option.name) continue;
        const auto value = std::ranges::find(option.values, text, &Value::text);
        std::vector<std::string> known;
        for (const auto& one : option.values) known.push_back(one.text);
        if (value == option.values.end()) {
          problem({}, formatted("option {} cannot be \"{}\"", name, text), suggestion(text, known));
          continue;
        }
        chosen.value = *value;
        chosen.origin = Origin::command_line;
      }
      made().options.push_back(std::move(chosen));
    }
  }

  /// Those asked for and those that they link, each behind what it links.
  std::vector<const Library*> chosen_libraries() {
    std::vector<std::string> names = selection_.libraries;
    if (names.empty() && profile_ != nullptr && profile_->libraries) names = *profile_->libraries;
    if (names.empty()) names = names_of(manifest_.libraries);
    std::vector<const Library*> chosen;
    for (const auto& name : names) {
      const auto found = std::ranges::find(manifest_.libraries, name, &Library::name);
      if (found == manifest_.libraries.end()) {
        problem({}, formatted("no library \"{}\"", name), suggestion(name, names_of(manifest_.libraries)));
      } else {
        add_with_links(*found, chosen);
      }
    }
    return chosen;
  }

  void add_with_links(const Library& library, std::vector<const Library*>& chosen) {
    if (contains(chosen, &library)) return;
    for (const auto& link : library.links) {
      const auto other = std::ranges::find(manifest_.libraries, link.text, &Library::name);
      if (other != manifest_.libraries.end()) add_with_links(*other, chosen);
    }
    chosen.push_back(&library);
  }

  std::vector<std::string> archs_of(ToolchainKind kind) const {
    std::vector<std::string> archs;
    for (const auto& arch : result_.expansion.archs)
      if (arch.toolchain == kind) archs.push_back(arch.name);
    return archs;
  }

  /// Why nothing of this toolchain is built; empty: it is.
  std::string left_out(ToolchainKind kind) const {
    if (!contains(toolchains_, kind)) return formatted("toolchain {} is not chosen", name_of(kind));
    if (kind == ToolchainKind::cpu || !archs_of(kind).empty()) return {};
    return is_native_
               ? formatted("this machine has no {} device that says what is native here", name_of(kind))
               : formatted("no arch of {} is among those asked for", name_of(kind));
  }

  Status add(const Library& library) {
    ExpandedLibrary expanded;
    expanded.library = &library;
    expanded.name_space = library.name_space;
    if (profile_ != nullptr)
      if (const auto said = profile_->namespaces.find(library.name); said != profile_->namespaces.end())
        expanded.name_space = said->second;
    for (const auto& folder : library.include)
      if (auto path = files_of_.path(folder)) expanded.include.push_back(std::move(*path));
    HALLMARK_CHECK(add_sources(library, expanded));
    for (const auto& kernel : library.kernels) HALLMARK_CHECK(add_kernel(library, kernel, expanded));
    HALLMARK_CHECK(add_embedded(library, expanded));
    HALLMARK_CHECK(add_headers(library, expanded));
    for (const auto& use : library.codegen) {
      const auto codegen = std::ranges::find(manifest_.codegens, use.text, &Codegen::name);
      if (codegen == manifest_.codegens.end()) continue;
      if (!contains(made().codegens, &*codegen)) made().codegens.push_back(&*codegen);
      // What it makes is not known yet.
      for (const auto kind : toolchains_)
        if (left_out(kind).empty()) needed_.insert(kind);
    }
    check_names(library, expanded);
    made().libraries.push_back(std::move(expanded));
    return {};
  }

  Status add_sources(const Library& library, ExpandedLibrary& expanded) {
    HALLMARK_TRY(const auto files, files_of_.find(library.sources));
    std::set<ToolchainKind> told;
    for (const auto& file : files) {
      const auto kind = toolchain_of_file(file);
      const auto name = path::is_within(file, manifest_.root) ? path::relative_below(file, manifest_.root)
                                                              : "external" + file;
      if (!kind) {
        problem(library.sources.front().place,
                formatted("[library.{}]: no toolchain compiles {}", library.name, name),
                "take it away with a pattern that begins with !");
        continue;
      }
      if (const auto why = left_out(*kind); !why.empty()) {
        if (told.insert(*kind).second) made().not_built.push_back({library.name, "sources", *kind, why});
        continue;
      }
      needed_.insert(*kind);
      expanded.units.push_back({name, nullptr, *kind, file, {}, archs_of(*kind)});
    }
    return {};
  }

  Status add_kernel(const Library& library, const Kernel& kernel, ExpandedLibrary& expanded) {
    HALLMARK_TRY(const auto files, files_of_.find({kernel.file}));
    if (files.size() > 1)
      problem(kernel.file.place, formatted("kernel {}: \"{}\" matches {} files; it must be one", kernel.name,
                                           kernel.file.text, files.size()));
    const auto leave_out = [&](std::string why) {
      made().not_built.push_back({library.name, kernel.name, kernel.toolchain, std::move(why)});
      return Status();
    };
    if (files.empty()) return leave_out("its file is not there");
    if (files.size() > 1) return {};
    if (auto why = left_out(kernel.toolchain); !why.empty()) return leave_out(std::move(why));
    auto archs = archs_of(kernel.toolchain);
    if (!kernel.archs.empty()) {
      std::erase_if(archs, [&](const auto& arch) {
        return std::ranges::find(kernel.archs, arch, &Text::text) == kernel.archs.end();
      });
      if (archs.empty()) return leave_out("none of its archs is among those asked for");
    }
    const auto filter = profile_ == nullptr ? AxisChoice() : profile_->axes;
    if (points_of(library, kernel, filter) > limits::kVariants) {
      problem(kernel.place,
              formatted("the axes of kernel {} have more than {} points (kVariants)", kernel.name,
                        limits::kVariants),
              "`skip` does not lessen them: give it fewer values by `axes`, or make several kernels");
      return {};
    }
    const auto variants = variants_of(library, kernel, filter);
    if (variants.empty()) return leave_out("`skip` and the profile leave no variant of it");
    needed_.insert(kernel.toolchain);
    for (const auto& axes : variants) {
      const auto name = variant_name(kernel, axes);
      if (!kernel.per_arch || archs.empty()) {
        expanded.units.push_back({name, &kernel, kernel.toolchain, files.front(), axes, archs});
        continue;
      }
      for (const auto& arch : archs)
        expanded.units.push_back(
            {name + "_" + arch_identifier(arch), &kernel, kernel.toolchain, files.front(), axes, {arch}});
    }
    return {};
  }

  Status add_embedded(const Library& library, ExpandedLibrary& expanded) {
    std::map<std::string, std::string> symbols;
    for (const auto& embed : library.embed) {
      HALLMARK_TRY(const auto files, files_of_.find(embed.files));
      for (const auto& file : files) {
        auto symbol = filled_in(embed.symbol.text, manifest_, {}, {{"stem", stem_of(file)}});
        if (!symbol.has_value()) {
          problem(embed.symbol.place, symbol.error().what, symbol.error().hint);
          break;
        }
        if (!is_name(*symbol, false) && !symbol->starts_with('_'))
          problem(embed.symbol.place, formatted("\"{}\" is no name of a symbol", *symbol));
        const auto [first, is_new] = symbols.emplace(*symbol, file);
        if (!is_new)
          problem(embed.symbol.place,
                  formatted("{} and {} would both be embedded as {}", first->second, file, *symbol),
                  "let the symbol hold {stem}");
        expanded.embedded.push_back({file, std::move(*symbol)});
      }
      needed_.insert(ToolchainKind::cpu);
    }
    return {};
  }

  Status add_headers(const Library& library, ExpandedLibrary& expanded) {
    HALLMARK_TRY(const auto files, files_of_.find(library.headers));
    const Place place = library.headers.empty() ? library.place : library.headers.front().place;
    const auto root = files_of_.path({library.header_root, place});
    if (!root) return {};
    for (const auto& file : files) {
      if (!path::is_within(file, *root) || file == *root) {
        problem(place,
                formatted("[library.{}]: the header {} does not lie below header_root {}", library.name, file,
                          *root),
                "name another `header_root`");
        continue;
      }
      expanded.headers.push_back({file, path::relative_below(file, *root)});
    }
    return {};
  }

  void check_names(const Library& library, const ExpandedLibrary& expanded) {
    std::map<std::string_view, const Unit*> names;
    for (const auto& unit : expanded.units) {
      const auto [first, is_new] = names.emplace(unit.name, &unit);
      if (is_new) continue;
      const auto place_of = [&](const Unit& one) {
        return one.kernel == nullptr ? library.place : one.kernel->place;
      };
      problem(place_of(unit),
              formatted("[library.{}]: two units are named {}; the other is of line {}", library.name,
                        unit.name, place_of(*first->second).line),
              "rename a kernel, or values of an axis that differ only in signs");
    }
  }

  void check_installed() {
    std::map<std::string_view, std::string_view> installed;
    for (const auto& library : made().libraries)
      for (const auto& header : library.headers) {
        const auto [first, is_new] = installed.emplace(header.installed, header.file);
        if (!is_new && first->second != header.file)
          problem(library.library->headers.front().place,
                  formatted("{} and {} would both be installed as include/{}", first->second, header.file,
                            header.installed));
      }
  }

  const Manifest& manifest_;
  const Selection& selection_;
  const std::map<ToolchainKind, std::vector<std::string>>& native_;
  Expanded result_;
  Globber globber_;
  FilesOf files_of_;
  const Profile* profile_ = nullptr;
  std::vector<ToolchainKind> toolchains_;
  std::set<ToolchainKind> needed_;
  bool is_native_ = false;
};

}  // namespace

Result<Expanded> expand(const Manifest& manifest, const Selection& selection,
                        const std::map<std::string, std::string>& source_folders,
                        const std::map<ToolchainKind, std::vector<std::string>>& native,
                        os::FileSystem& files, MissingSources missing) {
  Expander expander(manifest, selection, source_folders, native, files);
  for (const auto& [name, folder] : source_folders) {
    if (missing == MissingSources::are_problems) break;
    HALLMARK_TRY(const auto stat, files.stat(folder));
    if (!stat) expander.files_of().pass_over(folder);
  }
  HALLMARK_TRY(auto expanded, expander());
  Problems problems;
  problems.list() = std::move(expanded.problems);
  expanded.problems = problems.take();
  return expanded;
}

bool is_output(const Codegen& codegen, std::string_view file) {
  if (codegen.outputs.empty()) return toolchain_of_file(file).has_value();
  bool is = false;
  for (const auto& pattern : codegen.outputs) {
    const std::string_view text = pattern.text;
    if (text.starts_with('!')) {
      is = is && !matches(text.substr(1), file);
    } else {
      is = is || matches(text, file);
    }
  }
  return is;
}

}  // namespace hallmark::manifest
