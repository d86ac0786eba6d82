#include "inspect/internal/elf_image.h"

#include <algorithm>
#include <string>

namespace hallmark::inspect {
namespace {

Error corrupt(std::string what) {
  return Error{ErrorKind::corrupt, std::move(what), "it was cut off or damaged: make it again"};
}

Status check_whole(const GElf_Ehdr& header, std::size_t file_bytes) {
  if (header.e_shoff == 0) return fail({ErrorKind::unsupported, "an ELF file without section headers", {}});
  // libelf takes headers beyond the end for none.
  const std::size_t headers_bytes =
      std::size_t{header.e_shentsize} * std::max<std::size_t>(header.e_shnum, 1);
  if (header.e_shoff > file_bytes || headers_bytes > file_bytes - header.e_shoff)
    return fail(corrupt("a truncated ELF file: its section headers lie beyond its end"));
  return {};
}

}  // namespace

bool is_elf(std::string_view bytes) {
  return bytes.starts_with(std::string_view(ELFMAG, SELFMAG));
}

Result<ElfImage> ElfImage::open(std::string_view bytes) {
  if (!is_elf(bytes)) return fail({ErrorKind::invalid, "no ELF file", {}});
  if (elf_version(EV_CURRENT) == EV_NONE) return fail({ErrorKind::unsupported, "this libelf is too old", {}});
  ElfImage image;
  image.size_bytes_ = bytes.size();
  std::size_t content_bytes = 0;
  image.elf_.reset(elf_memory(const_cast<char*>(bytes.data()), bytes.size()));
  std::size_t names = 0;
  if (image.elf_ == nullptr || elf_kind(image.handle()) != ELF_K_ELF ||
      gelf_getehdr(image.handle(), &image.header_) == nullptr)
    return fail(corrupt("a truncated or malformed ELF file: its header cannot be read"));
  HALLMARK_CHECK(check_whole(image.header_, bytes.size()));
  if (elf_getshdrstrndx(image.handle(), &names) != 0)
    return fail(corrupt("a malformed ELF file: its section headers cannot be read"));
  for (Elf_Scn* each = elf_nextscn(image.handle(), nullptr); each != nullptr;
       each = elf_nextscn(image.handle(), each)) {
    ImageSection section;
    section.handle = each;
    if (gelf_getshdr(each, &section.header) == nullptr)
      return fail(corrupt("a malformed ELF file: a section header cannot be read"));
    const auto& [offset, size] = std::pair(section.header.sh_offset, section.header.sh_size);
    if (section.header.sh_type != SHT_NOBITS && section.header.sh_type != SHT_NULL && size != 0) {
      if (offset > bytes.size() || size > bytes.size() - offset)
        return fail(corrupt("a truncated ELF file: a section lies beyond its end"));
      section.content = bytes.substr(offset, size);
      content_bytes += size;
      if (content_bytes / kElfOverlap > bytes.size())
        return fail(corrupt("a malformed ELF file: its sections overlap"));
    }
    section.name = image.text(names, section.header.sh_name);
    image.sections_.push_back(section);
  }
  return image;
}

const ImageSection* ElfImage::of_type(GElf_Word type) const {
  const auto found = std::find_if(sections_.begin(), sections_.end(), [&](const ImageSection& section) {
    return section.header.sh_type == type;
  });
  return found == sections_.end() ? nullptr : &*found;
}

const ImageSection* ElfImage::at(std::size_t index) const {
  return index == 0 || index > sections_.size() ? nullptr : &sections_[index - 1];
}

std::string_view ElfImage::text(std::size_t table, std::size_t offset) const {
  if (!check_texts()) return {};
  const char* found = elf_strptr(handle(), table, offset);
  const auto text = found == nullptr ? std::string_view() : std::string_view(found);
  text_bytes_ += text.size();
  return text;
}

Status ElfImage::check_texts() const {
  if (text_bytes_ / kElfOverlap > size_bytes_)
    return fail(corrupt("a malformed ELF file: its names overlap"));
  return {};
}

}  // namespace hallmark::inspect
