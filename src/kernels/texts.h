// The files that a plan generates beside build.ninja. Pure: the same arguments give the same text.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "manifest/expand.h"

namespace hallmark::kernels {

/// hallmark/LIB_namespace.h: HALLMARK_NAMESPACE is the library's namespace.
std::string namespace_header(std::string_view library, std::string_view name_space);

/// hallmark/LIB_variants.inc: a line HALLMARK_KERNEL(kernel, name, toolchain, arch, axes...) for each unit of
/// a kernel, in the order of the units; `_` for an axis that a kernel does not have, and for the arch of a
/// unit that is compiled for all archs at once.
std::string variants_table(const manifest::ExpandedLibrary& library,
                           const std::vector<manifest::Unit>& units);

/// The text of a template with `@AXIS@`, `@HALLMARK_NAME@` and `@HALLMARK_ARCH@` replaced. Error: invalid (a
/// word between at signs that is none of them), as "LINE: what".
Result<std::string> instance_of(std::string_view text, const manifest::Unit& unit);

/// The values that a unit of a kernel is compiled with: HALLMARK_NAME, HALLMARK_ARCH if it has one arch of
/// its own, HALLMARK_AXIS_x for each axis.
std::vector<std::pair<std::string, std::string>> unit_definitions(const manifest::Unit& unit);

/// A linker's version script: all but the patterns is local.
std::string version_script(const std::vector<std::string>& exports);

/// Assembly (GNU as, for ELF) that holds the bytes of files as read-only data: SYMBOL, SYMBOL_end, and
/// SYMBOL_size, 64 bits wide. `files` pairs the path for `.incbin` with the symbol.
std::string embedding(const std::vector<std::pair<std::string, std::string>>& files);
/// hallmark/LIB_embedded.h: its declarations, for C and C++.
std::string embedding_header(std::string_view library, const std::vector<manifest::EmbeddedFile>& files);

}  // namespace hallmark::kernels
