#include "inspect/elf_facts.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/bytes.h"
#include "inspect/internal/elf_exports.h"
#include "inspect/internal/elf_image.h"

namespace hallmark::inspect {
namespace {

ElfType type_of(const ElfImage& image) {
  switch (image.header().e_type) {
    case ET_REL:
      return ElfType::relocatable;
    case ET_EXEC:
      return ElfType::executable;
    case ET_DYN:
      // A position-independent program is a shared object with an interpreter.
      return std::any_of(image.sections().begin(), image.sections().end(),
                         [](const ImageSection& section) { return section.name == ".interp"; })
                 ? ElfType::executable
                 : ElfType::shared;
    case ET_CORE:
      return ElfType::core;
    default:
      return ElfType::other;
  }
}

std::string machine_of(GElf_Half machine) {
  constexpr std::array<std::pair<GElf_Half, const char*>, 9> kNames = {{{EM_X86_64, "x86-64"},
                                                                        {EM_386, "x86"},
                                                                        {EM_AARCH64, "AArch64"},
                                                                        {EM_ARM, "Arm"},
                                                                        {EM_PPC64, "PowerPC64"},
                                                                        {EM_RISCV, "RISC-V"},
                                                                        {EM_S390, "S/390"},
                                                                        {EM_CUDA, "NVIDIA CUDA"},
                                                                        {EM_AMDGPU, "AMD GPU"}}};
  const auto* found =
      std::find_if(kNames.begin(), kNames.end(), [&](const auto& known) { return known.first == machine; });
  return found == kNames.end() ? "machine " + std::to_string(machine) : found->second;
}

/// In a section of notes, so that a file without program headers has it, too.
std::optional<std::string> build_id_of(const ElfImage& image) {
  for (const auto& section : image.sections()) {
    if (section.header.sh_type != SHT_NOTE) continue;
    Elf_Data* data = elf_getdata(section.handle, nullptr);
    if (data == nullptr || data->d_buf == nullptr) continue;
    GElf_Nhdr note;
    std::size_t name_at = 0;
    std::size_t content_at = 0;
    for (std::size_t at = 0; (at = gelf_getnote(data, at, &note, &name_at, &content_at)) > 0;) {
      const std::string_view bytes(static_cast<const char*>(data->d_buf), data->d_size);
      if (note.n_type == NT_GNU_BUILD_ID &&
          bytes.substr(name_at, note.n_namesz) == std::string_view(ELF_NOTE_GNU, sizeof ELF_NOTE_GNU))
        return to_hex(as_bytes(bytes.substr(content_at, note.n_descsz)));
    }
  }
  return std::nullopt;
}

void read_dynamic(const ElfImage& image, LoaderFacts& facts) {
  const auto* section = image.of_type(SHT_DYNAMIC);
  if (section == nullptr) return;
  Elf_Data* data = elf_getdata(section->handle, nullptr);
  GElf_Dyn entry;
  for (int i = 0; data != nullptr && gelf_getdyn(data, i, &entry) != nullptr; ++i) {
    const auto text = [&] { return std::string(image.text(section->header.sh_link, entry.d_un.d_val)); };
    switch (entry.d_tag) {
      case DT_NULL:
        return;
      case DT_NEEDED:
        facts.needed.push_back(text());
        break;
      case DT_SONAME:
        facts.soname = text();
        break;
      case DT_RPATH:
        facts.rpath = text();
        break;
      case DT_RUNPATH:
        facts.runpath = text();
        break;
      case DT_SYMBOLIC:
        facts.is_symbolic = true;
        break;
      case DT_FLAGS:
        facts.is_symbolic = facts.is_symbolic || (entry.d_un.d_val & DF_SYMBOLIC) != 0;
        break;
      default:
        break;
    }
  }
}

}  // namespace

std::string_view name_of(ElfType type) {
  switch (type) {
    case ElfType::relocatable:
      return "object";
    case ElfType::executable:
      return "program";
    case ElfType::shared:
      return "shared library";
    case ElfType::core:
      return "core dump";
    case ElfType::other:
      break;
  }
  return "other";
}

std::string_view name_of(Binding binding) {
  switch (binding) {
    case Binding::global:
      return "strong";
    case Binding::weak:
      return "weak";
    case Binding::unique:
      return "unique";
  }
  return "unknown";
}

Result<ElfFacts> read_elf_facts(std::string_view bytes) {
  HALLMARK_TRY(const auto image, ElfImage::open(bytes));
  ElfFacts facts;
  facts.type = type_of(image);
  facts.is_of_device = image.header().e_machine == EM_CUDA || image.header().e_machine == EM_AMDGPU;
  facts.machine = machine_of(image.header().e_machine);
  facts.build_id = build_id_of(image);
  read_dynamic(image, facts);
  HALLMARK_CHECK(read_exports(image, facts));
  for (const auto& section : image.sections())
    facts.sections.push_back({std::string(section.name), section.header.sh_size});
  HALLMARK_CHECK(image.check_texts());
  return facts;
}

Result<LoaderFacts> read_loader_facts(std::string_view bytes) {
  HALLMARK_TRY(const auto image, ElfImage::open(bytes));
  LoaderFacts facts;
  read_dynamic(image, facts);
  HALLMARK_CHECK(image.check_texts());
  return facts;
}

}  // namespace hallmark::inspect
