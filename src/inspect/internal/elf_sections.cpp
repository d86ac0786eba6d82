#include "inspect/internal/elf_sections.h"

#include <libelf.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

namespace hallmark::inspect {
namespace {

struct ElfCloser {
  void operator()(Elf* elf) const { elf_end(elf); }
};

Error corrupt(std::string what) {
  return Error{ErrorKind::corrupt, "ELF file: " + std::move(what), {}};
}

bool lies_within(std::string_view image, std::uint64_t offset, std::uint64_t size) {
  return offset <= image.size() && size <= image.size() - offset;
}

/// Entry `index` of a table that lies within the image, wherever it begins: nothing aligns it in a hostile
/// file, and libelf gives pointers into the image.
template <class Entry>
Entry entry_of(std::string_view image, std::uint64_t table, std::size_t index) {
  Entry entry;
  std::memcpy(&entry, image.data() + table + index * sizeof entry, sizeof entry);
  return entry;
}

/// The bytes of a section that the file holds.
Result<std::string_view> bytes_of(std::string_view image, const Elf64_Shdr& header) {
  if (header.sh_type == SHT_NOBITS || header.sh_type == SHT_NULL) return std::string_view();
  if (!lies_within(image, header.sh_offset, header.sh_size))
    return fail(corrupt("a section reaches beyond the end (truncated?)"));
  return image.substr(header.sh_offset, header.sh_size);
}

/// Segments account for bytes, too: what patchelf moved to the end need not lie in a section.
Status count_segments(std::string_view image, Elf* elf, const Elf64_Ehdr& header, std::size_t& end) {
  std::size_t count = 0;
  if (elf_getphdrnum(elf, &count) != 0 || count == 0) return {};
  if (header.e_phentsize != sizeof(Elf64_Phdr) ||
      !lies_within(image, header.e_phoff, count * sizeof(Elf64_Phdr)))
    return fail(corrupt("its program headers cannot be read (truncated?)"));
  for (std::size_t i = 0; i < count; ++i) {
    const auto segment = entry_of<Elf64_Phdr>(image, header.e_phoff, i);
    if (!lies_within(image, segment.p_offset, segment.p_filesz))
      return fail(corrupt("a segment reaches beyond the end (truncated?)"));
    end = std::max<std::size_t>(end, segment.p_offset + segment.p_filesz);
  }
  return {};
}

/// Not by elf_strptr: its answer dies with the Elf where somebody compressed the names.
Status name_sections(ElfSections& found) {
  const auto names = found.sections[found.names].bytes;
  for (auto& section : found.sections) {
    const auto begin = section.header.sh_name;
    const auto end = begin < names.size() ? names.find('\0', begin) : std::string_view::npos;
    if (end == std::string_view::npos) return fail(corrupt("a section's name cannot be read"));
    section.name = names.substr(begin, end - begin);
  }
  return {};
}

}  // namespace

bool is_elf64(std::string_view image) {
  return image.size() >= sizeof(Elf64_Ehdr) && image.starts_with(std::string_view(ELFMAG, SELFMAG)) &&
         image[EI_CLASS] == ELFCLASS64 && image[EI_DATA] == ELFDATA2LSB;
}

Result<ElfSections> read_elf_sections(std::string_view image) {
  if (!is_elf64(image)) return fail(corrupt("its first bytes are not those of a 64-bit one"));
  if (elf_version(EV_CURRENT) == EV_NONE) return fail(corrupt("its version is unknown"));
  // libelf asks for a writable image and never writes to one that is only read.
  const std::unique_ptr<Elf, ElfCloser> elf(elf_memory(const_cast<char*>(image.data()), image.size()));
  std::size_t count = 0;
  ElfSections found;
  found.header = entry_of<Elf64_Ehdr>(image, 0, 0);
  const auto& header = found.header;
  if (elf == nullptr || elf_getshdrnum(elf.get(), &count) != 0)
    return fail(corrupt("its headers cannot be read (truncated?)"));
  if (header.e_shoff == 0)
    return fail(Error{ErrorKind::unsupported, "ELF file: it has no section table", {}});
  // Of a table beyond the end libelf says that it has no entries.
  if (count == 0 || header.e_shentsize != sizeof(Elf64_Shdr) ||
      !lies_within(image, header.e_shoff, count * sizeof(Elf64_Shdr)) ||
      elf_getshdrstrndx(elf.get(), &found.names) != 0 || found.names >= count)
    return fail(corrupt("its section table cannot be read (truncated?)"));

  found.end = header.e_shoff + count * sizeof(Elf64_Shdr);
  found.sections.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto entry = entry_of<Elf64_Shdr>(image, header.e_shoff, i);
    HALLMARK_TRY(const auto bytes, bytes_of(image, entry));
    found.sections.push_back({entry, {}, bytes});
    if (!bytes.empty()) found.end = std::max<std::size_t>(found.end, entry.sh_offset + bytes.size());
  }
  HALLMARK_CHECK(name_sections(found));
  HALLMARK_CHECK(count_segments(image, elf.get(), header, found.end));
  return found;
}

}  // namespace hallmark::inspect
