// Cubins (NVIDIA) and code objects (AMD): ELF files for a GPU. Read here: what they were made for, and their
// kernels.
#pragma once

#include <string>
#include <vector>

#include "inspect/internal/elf_image.h"

namespace hallmark::inspect {

bool is_cubin(const ElfImage& image);
bool is_amd_code_object(const ElfImage& image);

/// "90a". The suffix, which newer cubins do not have in their header, is taken from ptxas' note.
std::string arch_of_cubin(const ElfImage& image);
/// "gfx90a:xnack-" from its metadata; empty: it has none.
std::string arch_of_code_object(const ElfImage& image);

std::vector<std::string> kernels_of_cubin(const ElfImage& image);
std::vector<std::string> kernels_of_code_object(const ElfImage& image);

}  // namespace hallmark::inspect
