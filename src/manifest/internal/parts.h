// The parts of parse(): one function for each group of tables.
#pragma once

#include <map>
#include <string>

#include "manifest/internal/table_reader.h"
#include "manifest/manifest.h"

namespace hallmark::manifest {

Source source_of(const std::string& name, const Node& table, Problems& problems);
Library library_of(const std::string& name, const Node& table, Problems& problems);
/// The `toolchain` of a kernel is set if `file` has a suffix that one compiles, or by its key.
Codegen codegen_of(const Node& table, Problems& problems);

/// Options and libraries are read already: profiles speak of them.
Profile profile_of(const std::string& name, const Node& table, const Manifest& manifest, Problems& problems);
Option option_of(const std::string& name, const Node& table, Problems& problems);

/// A problem if no toolchain has this arch. `title` stands in the message.
void check_arch(const Text& arch, std::string_view title, Problems& problems);
/// What to do about an arch that is not known: its nearest known spelling.
std::string arch_hint(std::string_view arch);
/// A problem if it is no C++ namespace.
void check_namespace(const Text& text, std::string_view title, Problems& problems);

/// What no table can say by itself: references between tables, and names that occur twice.
void check_references(const Manifest& manifest, Problems& problems);

}  // namespace hallmark::manifest
