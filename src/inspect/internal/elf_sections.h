// ElfSections: the section table of a 64-bit little-endian ELF file, checked against the file's size.
#pragma once

#include <elf.h>

#include <cstddef>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hallmark::inspect {

/// Views point into the image that was read.
struct ElfSection {
  Elf64_Shdr header{};
  std::string_view name;
  std::string_view bytes;  ///< empty if the file holds none (SHT_NOBITS)
};

struct ElfSections {
  Elf64_Ehdr header{};
  std::size_t names = 0;             ///< index of the section that holds the names
  std::vector<ElfSection> sections;  ///< in order, the null section first
  std::size_t end = 0;               ///< behind the last byte that a header accounts for
};

/// Whether a file begins as such an ELF file does.
bool is_elf64(std::string_view image);

/// Errors: corrupt (no ELF file, or truncated), unsupported (it has no section table). Pure, bytes of any
/// origin.
Result<ElfSections> read_elf_sections(std::string_view image);

}  // namespace hallmark::inspect
