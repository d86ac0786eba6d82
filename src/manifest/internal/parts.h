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

/// What no table can say by itself: references between tables, and names that occur twice.
void check_references(const Manifest& manifest, Problems& problems);

}  // namespace hallmark::manifest
