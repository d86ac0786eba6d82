// ElfImage: an ELF file in memory, opened with libelf and checked for being whole.
//
// Contract: reads bytes of any origin, which must outlive it. libelf only reads them: they may lie in memory
// that cannot be written. One thread at a time.
#pragma once

#include <gelf.h>
#include <libelf.h>

#include <memory>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hallmark::inspect {

struct ImageSection {
  Elf_Scn* handle = nullptr;
  GElf_Shdr header{};
  std::string_view name;
  std::string_view content;  ///< as it stands in the file; empty if it takes no bytes there
};

/// A sane file's sections lie side by side, and its names in it once: the sums of both are at most so many
/// times its size.
inline constexpr std::size_t kElfOverlap = 8;

/// True if the bytes begin as ELF.
bool is_elf(std::string_view bytes);

class ElfImage {
 public:
  /// Errors: invalid (no ELF), corrupt (truncated or malformed), unsupported (its section headers are gone).
  static Result<ElfImage> open(std::string_view bytes);

  Elf* handle() const { return elf_.get(); }
  const GElf_Ehdr& header() const { return header_; }
  const std::vector<ImageSection>& sections() const { return sections_; }
  /// The first of this type; nullptr: none.
  const ImageSection* of_type(GElf_Word type) const;
  /// The section at this index of the file, or nullptr.
  const ImageSection* at(std::size_t index) const;
  /// A text of the string table with this index; empty if there is none.
  std::string_view text(std::size_t table, std::size_t offset) const;
  /// Of the whole file.
  std::size_t size_bytes() const { return size_bytes_; }
  /// Corrupt if more texts were asked for than a sane file has: a hostile one lets each of its symbols have
  /// all of its bytes as name.
  Status check_texts() const;

 private:
  struct Closer {
    void operator()(Elf* elf) const { elf_end(elf); }
  };
  std::unique_ptr<Elf, Closer> elf_;
  std::size_t size_bytes_ = 0;
  mutable std::size_t text_bytes_ = 0;  ///< given out so far
  GElf_Ehdr header_{};
  std::vector<ImageSection> sections_;  ///< by their index, the first (which is none) left out
};

}  // namespace hallmark::inspect
