// What an ELF file exports and imports: .dynsym, the versions of its symbols, and which of them it uses
// through the loader.
#pragma once

#include "inspect/elf_facts.h"
#include "inspect/internal/elf_image.h"

namespace hallmark::inspect {

/// Fills exports and imports. Nothing to do in a file without .dynsym. Errors: corrupt.
Status read_exports(const ElfImage& image, ElfFacts& facts);

}  // namespace hallmark::inspect
