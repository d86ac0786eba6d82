#include <algorithm>
#include <set>

#include "base/format.h"
#include "manifest/expand.h"
#include "manifest/internal/parts.h"

namespace hallmark::manifest {
namespace {

template <class Things>
std::vector<std::string> names_of(const Things& things) {
  std::vector<std::string> names;
  for (const auto& thing : things) names.push_back(thing.name);
  return names;
}

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

class Checker {
 public:
  Checker(const Manifest& manifest, Problems& problems) : manifest_(manifest), problems_(problems) {}

  void check() {
    check_twice(manifest_.codegens, "[[codegen]]");
    archs(manifest_.build.archs, "[build]");
    for (const auto& library : manifest_.libraries) check_library(library);
    for (const auto& profile : manifest_.profiles) check_profile(profile);
    check_cycles();
  }

 private:
  template <class Things>
  void check_twice(const Things& things, std::string_view title) {
    for (std::size_t i = 0; i < things.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (things[i].name == things[j].name && !things[i].name.empty()) {
          problems_.add(things[i].place, formatted("{}: a second \"{}\"; the first is in line {}", title,
                                                   things[i].name, things[j].place.line));
          break;
        }
  }

  void archs(const Texts& archs, std::string_view title) {
    for (const auto& arch : archs)
      if (arch.text != "native" && !toolchain_of_arch(arch.text))
        problems_.add(arch.place, formatted("{}: \"{}\" is no known arch", title, arch.text),
                      "such as x86-64-v3, sm_90, compute_90, gfx90a or native");
  }

  void check_value(const Library& library, const std::string& axis, const Value& value, Place place,
                   std::string_view title) {
    const auto found = std::ranges::find(library.axes, axis, &Axis::name);
    if (found == library.axes.end()) {
      problems_.add(place, formatted("{}: library {} has no axis \"{}\"", title, library.name, axis),
                    suggestion(axis, names_of(library.axes)));
      return;
    }
    if (std::ranges::find(found->values, value) != found->values.end()) return;
    std::vector<std::string> known;
    for (const auto& one : found->values) known.push_back(one.text);
    problems_.add(place, formatted("{}: axis {} has no value {}", title, axis, value.text),
                  suggestion(value.text, known));
  }

  void check_choice(const Library& library, const AxisChoice& choice, Place place, std::string_view title) {
    for (const auto& [axis, values] : choice)
      for (const auto& value : values) check_value(library, axis, value, place, title);
  }

  void check_kernel(const Library& library, const Kernel& kernel) {
    const auto title = formatted("kernel {}", kernel.name);
    archs(kernel.archs, title);
    check_choice(library, kernel.axes, kernel.place, title);
    for (const auto& axis : kernel.without) {
      if (!contains(names_of(library.axes), axis))
        problems_.add(kernel.place, formatted("{}: library {} has no axis \"{}\"", title, library.name, axis),
                      suggestion(axis, names_of(library.axes)));
      if (kernel.axes.contains(axis))
        problems_.add(kernel.place, formatted("{}: axis {} is both in `axes` and in `without`", title, axis));
    }
    for (const auto& [choice, place] : kernel.skip) {
      check_choice(library, choice, place, title + " skip");
      check_absent(kernel, choice, place, title + " skip");
    }
    for (const auto& alias : kernel.alias) {
      check_choice(library, alias.when, alias.place, title + " alias");
      check_absent(kernel, alias.when, alias.place, title + " alias");
      for (const auto& [axis, value] : alias.set)
        check_value(library, axis, value, alias.place, title + " alias");
    }
  }

  void check_absent(const Kernel& kernel, const AxisChoice& choice, Place place, std::string_view title) {
    for (const auto& [axis, values] : choice)
      if (contains(kernel.without, axis))
        problems_.add(place, formatted("{}: the kernel is without axis {}", title, axis));
  }

  void check_library(const Library& library) {
    const auto title = formatted("[library.{}]", library.name);
    check_twice(library.kernels, title + " kernel");
    for (const auto& kernel : library.kernels) check_kernel(library, kernel);
    for (const auto& use : library.codegen)
      if (!contains(names_of(manifest_.codegens), use.text))
        problems_.add(use.place, formatted("{}: no [[codegen]] is named \"{}\"", title, use.text),
                      suggestion(use.text, names_of(manifest_.codegens)));
    for (const auto& link : library.links) {
      const bool is_other = link.text.starts_with("-") || link.text.find_first_of("/{.") != std::string::npos;
      if (!is_other && !contains(names_of(manifest_.libraries), link.text))
        problems_.add(link.place,
                      formatted("{}: links \"{}\", which is no library of this manifest", title, link.text),
                      formatted("for one of the system write -l{}", link.text));
    }
    for (const auto& other : manifest_.libraries) {
      if (&other == &library) break;
      if (other.output_name == library.output_name && other.kind == library.kind)
        problems_.add(
            library.place,
            formatted("{}: its file is that of library {}: {}", title, other.name, library.output_name),
            "give one an `output_name`");
    }
  }

  void check_profile(const Profile& profile) {
    const auto title = formatted("[profile.{}]", profile.name);
    if (profile.archs) archs(*profile.archs, title);
    const auto libraries = names_of(manifest_.libraries);
    for (const auto& name : profile.libraries.value_or(std::vector<std::string>()))
      if (!contains(libraries, name))
        problems_.add(profile.place, formatted("{}: no library \"{}\"", title, name),
                      suggestion(name, libraries));
    for (const auto& [name, value] : profile.namespaces)
      if (!contains(libraries, name))
        problems_.add(profile.place, formatted("{}: no library \"{}\"", title, name),
                      suggestion(name, libraries));
    for (const auto& [name, value] : profile.options) {
      const auto option = std::ranges::find(manifest_.options, name, &Option::name);
      if (option == manifest_.options.end()) {
        problems_.add(profile.place, formatted("{}: no option \"{}\"", title, name),
                      suggestion(name, names_of(manifest_.options)));
      } else if (std::ranges::find(option->values, value) == option->values.end()) {
        problems_.add(profile.place, formatted("{}: option {} cannot be {}", title, name, value.text));
      }
    }
    for (const auto& [axis, values] : profile.axes) {
      std::vector<std::string> known;
      std::vector<std::string> known_values;
      for (const auto& library : manifest_.libraries)
        for (const auto& one : library.axes) {
          known.push_back(one.name);
          if (one.name == axis)
            for (const auto& value : one.values) known_values.push_back(value.text);
        }
      if (!contains(known, axis)) {
        problems_.add(profile.place, formatted("{}: no library has an axis \"{}\"", title, axis),
                      suggestion(axis, known));
        continue;
      }
      for (const auto& value : values)
        if (!contains(known_values, value.text))
          problems_.add(profile.place, formatted("{}: axis {} has no value {}", title, axis, value.text),
                        suggestion(value.text, known_values));
    }
  }

  void check_cycles() {
    for (const auto& library : manifest_.libraries) {
      std::set<std::string> seen;
      if (reaches(library, library.name, seen))
        problems_.add(library.place,
                      formatted("[library.{}]: links itself, through its links", library.name));
    }
  }

  bool reaches(const Library& from, const std::string& name, std::set<std::string>& seen) {
    for (const auto& link : from.links) {
      if (link.text == name) return true;
      const auto next = std::ranges::find(manifest_.libraries, link.text, &Library::name);
      if (next != manifest_.libraries.end() && seen.insert(link.text).second && reaches(*next, name, seen))
        return true;
    }
    return false;
  }

  const Manifest& manifest_;
  Problems& problems_;
};

}  // namespace

void check_references(const Manifest& manifest, Problems& problems) {
  Checker(manifest, problems).check();
}

}  // namespace hallmark::manifest
