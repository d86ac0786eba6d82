// ElfFacts: what an ELF file says of itself to linkers and loaders.
//
// An *export* is a symbol that other files may bind to: defined in .dynsym, not local, hidden or internal. A
// *use* is a reference that the loader resolves by name (a relocation against the symbol): only what is used
// so can be taken over by another file's definition.
//
// Contract: pure, reads bytes of any origin. Thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "digest/digest.h"

namespace hallmark::inspect {

enum class ElfType { relocatable, executable, shared, core, other };
enum class Binding { global, weak, unique };
enum class SymbolKind { function, object, tls, other };

struct Export {
  std::string name;
  std::string version;  ///< "GLIBC_2.2.5"; empty: none
  Binding binding = Binding::global;
  SymbolKind kind = SymbolKind::other;
  bool is_protected = false;  ///< its own file always binds to it
  bool is_used = false;       ///< by its own file, through the loader
  std::uint64_t size_bytes = 0;
  /// Equal if the contents are the same: code or constants; nullopt: they may change, or are not in the file.
  std::optional<digest::Sha256> content;
};

struct Section {
  std::string name;
  std::uint64_t size_bytes = 0;
};

/// What a file tells the loader.
struct LoaderFacts {
  std::optional<std::string> soname;
  std::vector<std::string> needed;
  std::optional<std::string> rpath;    ///< as it stands, with $ORIGIN
  std::optional<std::string> runpath;  ///< beats rpath
  bool is_symbolic = false;            ///< -Bsymbolic: it looks for symbols in itself first
};

struct ElfFacts : LoaderFacts {
  ElfType type = ElfType::other;
  std::string machine;                  ///< "x86-64"; "machine 123" if it has no name here
  bool is_of_device = false;            ///< machine code of a GPU
  std::optional<std::string> build_id;  ///< hex
  std::vector<Export> exports;
  std::vector<std::string> imports;  ///< undefined symbols of .dynsym
  std::vector<Section> sections;
};

std::string_view name_of(ElfType type);
std::string_view name_of(Binding binding);

/// Errors: invalid (no ELF), corrupt (truncated or malformed), unsupported (no section headers).
Result<ElfFacts> read_elf_facts(std::string_view bytes);
/// Only this much of them, which takes no time in a large file. Errors: as read_elf_facts().
Result<LoaderFacts> read_loader_facts(std::string_view bytes);

}  // namespace hallmark::inspect
