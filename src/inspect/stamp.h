// Stamp: an ELF note that says which recorded run made a file, and binds the file's code to it.
//
// A file is **stamped** if it has one section `.note.hallmark`, which holds one note: the run's strong key, a
// digest of the run's inputs, and digests of the **bound sections**. These are what a program or library
// executes and computes with, and what strip, objcopy and patchelf keep byte for byte: allocated sections of
// program bits, of initialisers and finalisers, and (but in relocatable objects, where strip renumbers
// symbols) of relocations, without .interp and the global offset table, which patchelf edits; and code for
// the linker's optimizer. docs/formats/stamp.md has the bytes and the measurements.
//
// Only 64-bit little-endian ELF objects, libraries and executables of a host can bear a stamp; device code,
// archives and everything else cannot. Stamping appends: no byte of the file moves, and of what is there only
// the header's three members that describe the section table change.
//
// Contract: pure; bytes of any origin; time and memory are linear in the file's length. Thread-safe.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "digest/digest.h"

namespace hallmark::inspect {

/// Of the whole note, with its header.
inline constexpr std::size_t kStampBytes = 4096;

struct SectionDigest {
  std::string name;
  digest::Sha256 hash{};  ///< SHA-256 of the bytes; of several sections of this name, of their SHA-256s
  bool operator==(const SectionDigest&) const = default;
};

/// What a stamp says.
struct Stamp {
  digest::Key strong;                   ///< of the run
  digest::Key inputs;                   ///< of what it read
  digest::Sha256 bound{};               ///< of all bound sections
  std::vector<SectionDigest> sections;  ///< sorted; empty where they would not fit
  bool operator==(const Stamp&) const = default;
};

/// A stamped file, looked at again.
struct Stamped {
  Stamp stamp;
  std::vector<SectionDigest> now;  ///< the bound sections as they are, sorted
  /// A relocatable object: what its code calls stands in its relocations and symbols, which are not bound.
  bool is_relocatable = false;
};

/// nullopt: it bears no stamp (it may be anything). Errors: corrupt (a damaged ELF file or note), invalid
/// (several notes: their files were merged).
Result<std::optional<Stamped>> read_stamp(std::string_view file);

/// Why its code is not what was stamped, for a person ("section .text differs"); nullopt: it is.
std::optional<std::string> difference_from_stamp(const Stamped& stamped);

/// The file with this stamp, in place of one that it may bear. Errors: unsupported (it can bear none),
/// corrupt.
Result<std::string> stamped(std::string_view file, const digest::Key& strong, const digest::Key& inputs);

/// The note's bytes, and back. Errors: corrupt.
std::string encode(const Stamp& stamp);
Result<Stamp> decode_stamp(std::string_view note);

}  // namespace hallmark::inspect
