#include "inspect/searchable.h"

#include <gelf.h>
#include <libelf.h>

#include <memory>
#include <string>

#include "inspect/archive.h"
#include "inspect/fat_binary.h"
#include "inspect/offload_bundle.h"

namespace hallmark::inspect {
namespace {

using Visit = std::function<void(std::string_view)>;

Visibility visit_inside(std::string_view bytes, const Visit& visit, int depth);

struct ElfCloser {
  void operator()(Elf* elf) const { elf_end(elf); }
};

bool is_text(std::string_view bytes) {
  // UTF-8 and Latin text never holds these control characters; packed data of more than a few bytes always
  // does.
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r' && byte != '\f' && byte != '\v' &&
        byte != 0x1b) {
      return false;
    }
  }
  return true;
}

Visibility worse(Visibility a, Visibility b) {
  return a == Visibility::opaque ? a : b;
}

Visibility visit_fat_binary(std::string_view bytes, const Visit& visit, int depth) {
  Visibility seen = Visibility::clear;
  const Status status = for_each_part(bytes, [&](const FatBinaryPart& part) {
    if (part.compressed) visit(part.bytes);
    if (part.kind == PartKind::cubin)
      seen = worse(seen, visit_inside(part.bytes, visit, depth + 1));
    else if (part.kind != PartKind::ptx)
      seen = Visibility::opaque;
  });
  return status ? seen : Visibility::opaque;
}

Visibility visit_section(std::string_view image, Elf_Scn* section, const GElf_Shdr& header,
                         std::string_view name, const Visit& visit, int depth) {
  if (header.sh_type == SHT_NOBITS || header.sh_size == 0) return Visibility::clear;
  if ((header.sh_flags & SHF_COMPRESSED) != 0) {
    GElf_Chdr compression;
    if (gelf_getchdr(section, &compression) == nullptr || compression.ch_size > kUnpackedSectionBytes ||
        elf_compress(section, 0, 0) < 0) {
      return Visibility::opaque;
    }
    const Elf_Data* data = elf_getdata(section, nullptr);
    if (data == nullptr) return Visibility::opaque;
    visit({static_cast<const char*>(data->d_buf), data->d_size});
    return Visibility::clear;
  }
  // GNU's older compressed debug sections, GCC's and clang's link-time code: packed without a flag.
  if (name.starts_with(".zdebug") || name.starts_with(".gnu.lto_") || name.starts_with(".llvm.lto") ||
      name.starts_with(".llvmbc")) {
    return Visibility::opaque;
  }
  if (header.sh_offset > image.size() || header.sh_size > image.size() - header.sh_offset)
    return Visibility::opaque;
  const auto content = image.substr(header.sh_offset, header.sh_size);
  if (name == ".nv_fatbin" || name == "__nv_relfatbin") return visit_fat_binary(content, visit, depth);
  if (name == ".hip_fatbin" || name == ".llvm.offloading") return visit_inside(content, visit, depth + 1);
  return Visibility::clear;
}

Visibility visit_elf(std::string_view bytes, const Visit& visit, int depth) {
  if (elf_version(EV_CURRENT) == EV_NONE) return Visibility::opaque;
  // libelf wants a writable image, since unpacking a section edits it in place.
  std::string copy(bytes);
  const std::unique_ptr<Elf, ElfCloser> elf(elf_memory(copy.data(), copy.size()));
  std::size_t names = 0;
  if (elf == nullptr || elf_kind(elf.get()) != ELF_K_ELF || elf_getshdrstrndx(elf.get(), &names) != 0) {
    return Visibility::opaque;
  }
  Visibility seen = Visibility::clear;
  for (Elf_Scn* section = elf_nextscn(elf.get(), nullptr); section != nullptr;
       section = elf_nextscn(elf.get(), section)) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr) return Visibility::opaque;
    const char* name = elf_strptr(elf.get(), names, header.sh_name);
    if (name == nullptr) return Visibility::opaque;
    seen = worse(seen, visit_section(bytes, section, header, name, visit, depth));
  }
  return seen;
}

Visibility visit_archive(std::string_view bytes, const Visit& visit, int depth) {
  Visibility seen = Visibility::clear;
  const Status status = for_each_member(bytes, [&](std::string_view, std::string_view member) {
    seen = worse(seen, visit_inside(member, visit, depth + 1));
  });
  return status ? seen : Visibility::opaque;
}

Visibility visit_offload_bundle(std::string_view bytes, const Visit& visit, int depth) {
  Visibility seen = Visibility::clear;
  const Status status = for_each_entry(bytes, [&](const BundleEntry& entry) {
    if (entry.compressed) visit(entry.bytes);
    if (!entry.bytes.empty()) seen = worse(seen, visit_inside(entry.bytes, visit, depth + 1));
  });
  return status ? seen : Visibility::opaque;
}

Visibility visit_inside(std::string_view bytes, const Visit& visit, int depth) {
  if (depth > kSearchableDepth) return Visibility::opaque;
  if (bytes.starts_with(std::string_view(ELFMAG, SELFMAG))) return visit_elf(bytes, visit, depth);
  if (is_archive(bytes)) return visit_archive(bytes, visit, depth);
  if (is_offload_bundle(bytes)) return visit_offload_bundle(bytes, visit, depth);
  if (is_fat_binary(bytes)) return visit_fat_binary(bytes, visit, depth);
  return is_text(bytes) ? Visibility::clear : Visibility::opaque;
}

}  // namespace

Visibility visit_searchable(std::string_view bytes, const Visit& visit) {
  visit(bytes);
  return visit_inside(bytes, visit, 0);
}

}  // namespace hallmark::inspect
