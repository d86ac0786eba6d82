#include <algorithm>
#include <set>

#include "base/format.h"
#include "base/path.h"
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
    for (const auto& codegen : manifest_.codegens)
      if (codegen.name == "hallmark")
        problems_.add(codegen.place, "[[codegen]]: the name \"hallmark\" is reserved",
                      "name it after what it makes");
    for (const auto& library : manifest_.libraries) check_library(library);
    check_sources();
    check_options();
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

  void check_library(const Library& library) {
    const auto title = formatted("[library.{}]", library.name);
    check_twice(library.kernels, title + " kernel");
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

  /// A checkout in another's would be that one's untracked files.
  void check_sources() {
    for (const auto& source : manifest_.sources)
      for (const auto& other : manifest_.sources) {
        if (&other == &source) break;
        if (path::is_within(source.path, other.path) || path::is_within(other.path, source.path))
          problems_.add(source.place,
                        formatted("[source.{}]: {} and {}, of source {}, lie in each other", source.name,
                                  source.path, other.path, other.name),
                        "give one another `path`");
      }
  }

  void check_options() {
    for (const auto& option : manifest_.options)
      for (const auto& other : manifest_.options) {
        if (&other == &option) break;
        if (option.define == other.define && !option.define.empty())
          problems_.add(option.place, formatted("[option.{}]: {} is defined by option {}, too", option.name,
                                                option.define, other.name));
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
