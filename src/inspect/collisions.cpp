#include "inspect/collisions.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

namespace hallmark::inspect {
namespace {

struct Candidate {
  std::size_t file;
  const Export* symbol;
};

/// Mangled names of what lies in namespace std or __gnu_cxx, with what a compiler adds (vtables, guards).
bool is_of_cxx_library(std::string_view name) {
  if (!name.starts_with("_Z")) return false;
  name.remove_prefix(2);
  constexpr std::array<std::string_view, 5> kAdded = {"TV", "TT", "TI", "TS", "GV"};
  if (std::find(kAdded.begin(), kAdded.end(), name.substr(0, 2)) != kAdded.end()) name.remove_prefix(2);
  while (name.starts_with('Z')) name.remove_prefix(1);  // a static of a function
  while (name.starts_with('N')) name.remove_prefix(1);
  while (name.starts_with('K')) name.remove_prefix(1);
  // St: std::; Sa Sb Ss Si So Sd: its allocator, strings and streams.
  if (name.size() > 1 && name[0] == 'S' &&
      std::string_view("tabsiod").find(name[1]) != std::string_view::npos)
    return true;
  return name.starts_with("9__gnu_cxx") || name.starts_with("10__cxxabiv1");
}

bool is_own(const ElfFacts& facts, const Export& symbol) {
  // A unique symbol is looked for in the whole process, whatever its file prefers.
  if (symbol.binding == Binding::unique) return !symbol.is_used;
  return facts.is_symbolic || symbol.is_protected || !symbol.is_used;
}

class Finder {
 public:
  explicit Finder(std::span<const Together> files) : files_(files) {}

  std::vector<Collision> find() {
    for (const auto file : load_order()) {
      imports_.insert(files_[file].facts->imports.begin(), files_[file].facts->imports.end());
      kernels_.insert(files_[file].kernels.begin(), files_[file].kernels.end());
      for (const auto& symbol : files_[file].facts->exports) by_name_[symbol.name].push_back({file, &symbol});
    }
    for (const auto& [name, candidates] : by_name_) {
      if (candidates.size() > 1) take_versions(candidates);
    }
    std::sort(found_.begin(), found_.end(), [](const Collision& a, const Collision& b) {
      return std::tie(a.harmless, a.kind, a.symbol, a.version) <
             std::tie(b.harmless, b.kind, b.symbol, b.version);
    });
    return std::move(found_);
  }

 private:
  std::vector<std::size_t> load_order() const {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < files_.size(); ++i) {
      const auto type = files_[i].facts->type;
      if ((type == ElfType::executable || type == ElfType::shared) && !files_[i].facts->is_of_device)
        order.push_back(i);
    }
    std::stable_partition(order.begin(), order.end(),
                          [&](std::size_t file) { return files_[file].facts->type == ElfType::executable; });
    return order;
  }

  /// Different versions of a name are different symbols; one without a version answers for all.
  void take_versions(const std::vector<Candidate>& candidates) {
    std::set<std::string_view> versions;
    for (const auto& candidate : candidates) versions.insert(candidate.symbol->version);
    if (versions.size() > 1) versions.erase("");
    for (const auto version : versions) {
      std::vector<Candidate> same;
      for (const auto& candidate : candidates) {
        // Two versions of a name in one file are no collision.
        if ((candidate.symbol->version == version || candidate.symbol->version.empty()) &&
            (same.empty() || same.back().file != candidate.file))
          same.push_back(candidate);
      }
      if (same.size() > 1) add(same, version);
    }
  }

  void add(const std::vector<Candidate>& candidates, std::string_view version) {
    Collision collision;
    collision.symbol = candidates.front().symbol->name;
    collision.version = version;
    for (const auto& [file, symbol] : candidates)
      collision.definitions.push_back({file, symbol->binding, is_own(*files_[file].facts, *symbol)});
    collision.kind = kind_of(collision);
    collision.harmless = why_harmless(collision, candidates);
    found_.push_back(std::move(collision));
  }

  CollisionKind kind_of(const Collision& collision) const {
    if (kernels_.contains(collision.symbol) || collision.symbol.find("__device_stub__") != std::string::npos)
      return CollisionKind::kernel;
    const auto has = [&](Binding binding) {
      return std::any_of(collision.definitions.begin(), collision.definitions.end(),
                         [&](const Definition& each) { return each.binding == binding; });
    };
    if (has(Binding::unique)) return CollisionKind::unique;
    return has(Binding::global) ? CollisionKind::strong : CollisionKind::weak;
  }

  Harmless why_harmless(const Collision& collision, const std::vector<Candidate>& candidates) const {
    const auto& definitions = collision.definitions;
    const bool no_strong = std::none_of(definitions.begin(), definitions.end(), [](const Definition& each) {
      return each.binding == Binding::global;
    });
    if (no_strong && is_of_cxx_library(collision.symbol)) return Harmless::cxx_library;
    const auto& first = *candidates.front().symbol;
    if (collision.kind == CollisionKind::weak && first.content &&
        std::all_of(candidates.begin(), candidates.end(),
                    [&](const Candidate& each) { return each.symbol->content == first.content; }))
      return Harmless::equal_code;
    if (!imports_.contains(collision.symbol) &&
        std::all_of(definitions.begin() + 1, definitions.end(),
                    [](const Definition& each) { return each.is_own; }))
      return Harmless::own;
    return Harmless::no;
  }

  std::span<const Together> files_;
  std::unordered_map<std::string_view, std::vector<Candidate>> by_name_;  ///< in load order
  std::unordered_set<std::string_view> imports_;
  std::set<std::string> kernels_;
  std::vector<Collision> found_;
};

}  // namespace

std::string_view name_of(CollisionKind kind) {
  switch (kind) {
    case CollisionKind::kernel:
      return "kernel";
    case CollisionKind::strong:
      return "strong";
    case CollisionKind::unique:
      return "unique";
    case CollisionKind::weak:
      return "weak";
  }
  return "unknown";
}

std::string_view name_of(Harmless harmless) {
  switch (harmless) {
    case Harmless::no:
      return "no";
    case Harmless::cxx_library:
      return "cxx_library";
    case Harmless::equal_code:
      return "equal_code";
    case Harmless::own:
      return "own";
  }
  return "unknown";
}

std::vector<Collision> find_collisions(std::span<const Together> files) {
  return Finder(files).find();
}

}  // namespace hallmark::inspect
