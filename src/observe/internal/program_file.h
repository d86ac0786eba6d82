// What the kernel opens by itself when a file is executed: the interpreter of a script, the loader of an ELF
// program.
#pragma once

#include <string>

#include "os/file_system.h"

namespace hallmark::observe {

struct ProgramFile {
  enum class Kind { elf, script, other };
  Kind kind = Kind::other;
  bool foreign = false;     ///< an ELF program of another architecture than x86-64
  std::string interpreter;  ///< behind #!, or PT_INTERP; empty: none
};

/// Reads the head of a file. A file that cannot be read is Kind::other.
ProgramFile read_program_file(os::FileSystem& files, const std::string& path);

}  // namespace hallmark::observe
