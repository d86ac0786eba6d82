#include "inspect/internal/device_elf.h"

#include <functional>

namespace hallmark::inspect {
namespace {

constexpr unsigned char kCudaAbiOfToolkit13 = 8;  ///< where the header says which device differs from then on
constexpr unsigned kFlagArchSpecific = 0x800;     ///< before that
constexpr unsigned char kCudaEntry = 0x10;        ///< of st_other: a function that the host may launch
constexpr std::string_view kDescriptorEnd = ".kd";

void for_each_symbol(const ElfImage& image, GElf_Word table_type,
                     const std::function<void(const GElf_Sym&, std::string_view)>& visit) {
  const auto* table = image.of_type(table_type);
  Elf_Data* data = table == nullptr ? nullptr : elf_getdata(table->handle, nullptr);
  GElf_Sym symbol;
  for (int i = 1; data != nullptr && gelf_getsym(data, i, &symbol) != nullptr; ++i) {
    if (symbol.st_shndx != SHN_UNDEF) visit(symbol, image.text(table->header.sh_link, symbol.st_name));
  }
}

/// The text of ptxas' note from `word` to the next blank.
std::string_view behind(std::string_view note, std::string_view word) {
  const auto at = note.find(word);
  if (at == std::string_view::npos) return {};
  const auto rest = note.substr(at + word.size());
  return rest.substr(0, rest.find_first_of(std::string_view(" \0", 2)));
}

/// A text of MessagePack that follows a key: up to 31 bytes, or with its length in one byte.
std::string_view text_behind_key(std::string_view packed, std::string_view key) {
  constexpr unsigned char kShortText = 0xa0;
  constexpr unsigned char kShortTextBits = 0x1f;
  constexpr unsigned char kText8 = 0xd9;
  const auto at = packed.find(key);
  if (at == std::string_view::npos) return {};
  auto rest = packed.substr(at + key.size());
  if (rest.size() < 2) return {};
  const auto first = static_cast<unsigned char>(rest[0]);
  if (first == kText8) return rest.substr(2, static_cast<unsigned char>(rest[1]));
  if ((first & ~kShortTextBits) == kShortText) return rest.substr(1, first & kShortTextBits);
  return {};
}

}  // namespace

bool is_cubin(const ElfImage& image) {
  return image.header().e_machine == EM_CUDA;
}

bool is_amd_code_object(const ElfImage& image) {
  return image.header().e_machine == EM_AMDGPU;
}

std::string arch_of_cubin(const ElfImage& image) {
  const auto flags = image.header().e_flags;
  if (image.header().e_ident[EI_ABIVERSION] < kCudaAbiOfToolkit13)
    return std::to_string(flags & 0xff) + ((flags & kFlagArchSpecific) != 0 ? "a" : "");
  const auto number = std::to_string(flags >> 8 & 0xff);
  for (const auto& section : image.sections()) {
    if (section.name != ".note.nv.tkinfo") continue;
    const auto named = behind(section.content, "-arch sm_");
    if (named == number + "a" || named == number + "f") return std::string(named);
  }
  return number;
}

std::string arch_of_code_object(const ElfImage& image) {
  constexpr std::string_view kTriple = "amdgcn-amd-amdhsa--";
  for (const auto& section : image.sections()) {
    if (section.header.sh_type != SHT_NOTE) continue;
    const auto target = text_behind_key(section.content, "amdhsa.target");
    if (target.starts_with(kTriple)) return std::string(target.substr(kTriple.size()));
  }
  return {};
}

std::vector<std::string> kernels_of_cubin(const ElfImage& image) {
  std::vector<std::string> kernels;
  for_each_symbol(image, SHT_SYMTAB, [&](const GElf_Sym& symbol, std::string_view name) {
    if (GELF_ST_TYPE(symbol.st_info) == STT_FUNC && (symbol.st_other & kCudaEntry) != 0)
      kernels.emplace_back(name);
  });
  return kernels;
}

std::vector<std::string> kernels_of_code_object(const ElfImage& image) {
  std::vector<std::string> kernels;
  const auto take = [&](const GElf_Sym&, std::string_view name) {
    if (name.ends_with(kDescriptorEnd))
      kernels.emplace_back(name.substr(0, name.size() - kDescriptorEnd.size()));
  };
  // A code object that is not linked yet has no dynamic symbols.
  for_each_symbol(image, image.of_type(SHT_DYNSYM) != nullptr ? SHT_DYNSYM : SHT_SYMTAB, take);
  return kernels;
}

}  // namespace hallmark::inspect
