#include "inspect/internal/elf_exports.h"

#include <algorithm>
#include <array>
#include <map>

#include "base/bytes.h"

namespace hallmark::inspect {
namespace {

Error corrupt(const char* what) {
  return Error{ErrorKind::corrupt, std::string("a malformed ELF file: ") + what, {}};
}

/// Made by every linker in every file; nobody binds to them.
bool is_linkers_own(std::string_view name) {
  constexpr std::array<std::string_view, 8> kNames = {"_init",  "_fini",       "_edata",       "_end",
                                                      "_start", "__bss_start", "__data_start", "data_start"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

/// Version index -> name, of the versions that the file defines (.gnu.version_d).
std::map<unsigned, std::string> defined_versions(const ElfImage& image) {
  std::map<unsigned, std::string> names;
  const auto* section = image.of_type(SHT_GNU_verdef);
  Elf_Data* data = section == nullptr ? nullptr : elf_getdata(section->handle, nullptr);
  GElf_Verdef definition;
  for (std::uint64_t at = 0; data != nullptr && at < data->d_size;) {
    GElf_Verdaux name;
    if (gelf_getverdef(data, static_cast<int>(at), &definition) == nullptr ||
        gelf_getverdaux(data, static_cast<int>(at + definition.vd_aux), &name) == nullptr)
      break;
    // The base version names the file itself, not a version of a symbol.
    if ((definition.vd_flags & VER_FLG_BASE) == 0)
      names[definition.vd_ndx] = std::string(image.text(section->header.sh_link, name.vda_name));
    if (definition.vd_next == 0) break;
    at += definition.vd_next;
  }
  return names;
}

/// By index in .dynsym: whether a relocation names it.
Result<std::vector<bool>> used_symbols(const ElfImage& image, std::size_t dynsym, std::size_t count) {
  std::vector<bool> used(count, false);
  for (const auto& section : image.sections()) {
    const auto type = section.header.sh_type;
    if ((type != SHT_RELA && type != SHT_REL) || section.header.sh_link != dynsym) continue;
    Elf_Data* data = elf_getdata(section.handle, nullptr);
    if (data == nullptr) return fail(corrupt("its relocations cannot be read"));
    const auto take = [&](GElf_Xword info) {
      if (GELF_R_SYM(info) < count) used[GELF_R_SYM(info)] = true;
    };
    GElf_Rela with_addend;
    GElf_Rel without;
    for (int i = 0; type == SHT_RELA && gelf_getrela(data, i, &with_addend) != nullptr; ++i)
      take(with_addend.r_info);
    for (int i = 0; type == SHT_REL && gelf_getrel(data, i, &without) != nullptr; ++i) take(without.r_info);
  }
  return used;
}

SymbolKind kind_of(const GElf_Sym& symbol) {
  switch (GELF_ST_TYPE(symbol.st_info)) {
    case STT_FUNC:
    case STT_GNU_IFUNC:
      return SymbolKind::function;
    case STT_OBJECT:
    case STT_COMMON:
      return SymbolKind::object;
    case STT_TLS:
      return SymbolKind::tls;
    default:
      return SymbolKind::other;
  }
}

std::optional<Binding> binding_of(const GElf_Sym& symbol) {
  switch (GELF_ST_BIND(symbol.st_info)) {
    case STB_GLOBAL:
      return Binding::global;
    case STB_WEAK:
      return Binding::weak;
    case STB_GNU_UNIQUE:
      return Binding::unique;
    default:
      return std::nullopt;
  }
}

/// Of what cannot change: code, constants, and tables of constant pointers (.data.rel.ro: vtables, type
/// information). The loader fills in the latter's pointers by name, so that of them only the size is told.
std::optional<digest::Sha256> content_of(const ElfImage& image, const GElf_Sym& symbol) {
  const auto* section = image.at(symbol.st_shndx);
  if (section == nullptr || symbol.st_size == 0) return std::nullopt;
  if (section->name.starts_with(".data.rel.ro"))
    return digest::digest_of("pointers " + std::to_string(symbol.st_size)).hash;
  if ((section->header.sh_flags & (SHF_TLS | SHF_WRITE)) != 0) return std::nullopt;
  const auto start = symbol.st_value - section->header.sh_addr;
  if (start > section->content.size() || symbol.st_size > section->content.size() - start)
    return std::nullopt;
  return digest::digest_of(section->content.substr(start, symbol.st_size)).hash;
}

}  // namespace

Status read_exports(const ElfImage& image, ElfFacts& facts) {
  const auto* table = image.of_type(SHT_DYNSYM);
  if (table == nullptr) return {};
  Elf_Data* data = elf_getdata(table->handle, nullptr);
  const std::size_t index = elf_ndxscn(table->handle);
  if (data == nullptr) return fail(corrupt("its dynamic symbols cannot be read"));
  const auto* version_section = image.of_type(SHT_GNU_versym);
  Elf_Data* versions = version_section == nullptr ? nullptr : elf_getdata(version_section->handle, nullptr);
  const auto version_names = defined_versions(image);
  // A symbol takes 16 bytes or more, whatever the header says.
  HALLMARK_TRY(const auto used, used_symbols(image, index, data->d_size / 16));
  std::uint64_t hashed_bytes = 0;
  GElf_Sym symbol;
  for (int i = 1; gelf_getsym(data, i, &symbol) != nullptr; ++i) {
    const auto binding = binding_of(symbol);
    const auto visibility = GELF_ST_VISIBILITY(symbol.st_other);
    const auto name = image.text(table->header.sh_link, symbol.st_name);
    if (!binding || name.empty() || visibility == STV_HIDDEN || visibility == STV_INTERNAL) continue;
    if (symbol.st_shndx == SHN_UNDEF) {
      facts.imports.emplace_back(name);
      continue;
    }
    // SHN_ABS: the name of a version, or a constant of the linker; nothing that can be taken over.
    if (symbol.st_shndx == SHN_ABS || is_linkers_own(name)) continue;
    Export found;
    found.name = name;
    found.binding = *binding;
    found.kind = kind_of(symbol);
    found.is_protected = visibility == STV_PROTECTED;
    found.is_used = used[static_cast<std::size_t>(i)];
    found.size_bytes = symbol.st_size;
    GElf_Versym version;
    if (versions != nullptr && gelf_getversym(versions, i, &version) != nullptr) {
      const auto named = version_names.find(version & 0x7fffU);  // the highest bit: not the default one
      if (named != version_names.end()) found.version = named->second;
    }
    hashed_bytes += std::min<std::uint64_t>(symbol.st_size, image.size_bytes());
    if (hashed_bytes / kElfOverlap > image.size_bytes()) return fail(corrupt("its symbols overlap"));
    found.content = content_of(image, symbol);
    facts.exports.push_back(std::move(found));
  }
  return {};
}

}  // namespace hallmark::inspect
