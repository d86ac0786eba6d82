// Collision: one symbol that two or more files export that load together.
//
// The loader binds a use to the first definition in its search order; that one is weak and another strong
// makes no difference to it. So the definition of the file loaded first takes the place of the others: with
// DT_NEEDED, LD_PRELOAD and RTLD_GLOBAL; under RTLD_LOCAL each library finds its own, but for STB_GNU_UNIQUE
// symbols, of which a process has one whatever the flags. Load order is taken to be: programs, then the
// libraries as given.
//
// Contract: pure. Thread-safe.
#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "inspect/elf_facts.h"

namespace hallmark::inspect {

enum class CollisionKind {
  kernel,  ///< the host side of a kernel: the function that launches it, or its handle
  strong,  ///< one definition at least is strong
  unique,  ///< one is STB_GNU_UNIQUE: shared even under RTLD_LOCAL
  weak,    ///< inline code and templates, and they differ
};

/// Why a collision changes nothing.
enum class Harmless {
  no,
  cxx_library,  ///< a template or inline function of the C++ standard library
  equal_code,   ///< weak, and all have the same bytes
  own,          ///< the files that would lose bind to their own, and no other one imports it
};

struct Definition {
  std::size_t file = 0;  ///< index of what was given
  Binding binding = Binding::global;
  bool is_own = false;  ///< its file binds to this definition, whoever loads first
};

struct Collision {
  std::string symbol;
  std::string version;  ///< empty: none
  CollisionKind kind = CollisionKind::strong;
  Harmless harmless = Harmless::no;
  std::vector<Definition> definitions;  ///< in load order: the first wins
};

struct Together {
  const ElfFacts* facts = nullptr;
  std::set<std::string> kernels;  ///< of its device code
};

std::string_view name_of(CollisionKind kind);
std::string_view name_of(Harmless harmless);

/// What matters first, then by kind and name. Objects (ET_REL) are passed over, their linker sees to it, and
/// so is code of devices.
std::vector<Collision> find_collisions(std::span<const Together> files);

}  // namespace hallmark::inspect
