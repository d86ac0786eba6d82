#include "inspect/stamp.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "digest/encoding.h"
#include "inspect/internal/elf_sections.h"

namespace hallmark::inspect {
namespace {

using digest::Decoder;
using digest::Encoder;

constexpr std::string_view kSection = ".note.hallmark";
constexpr std::string_view kOwner{"hallmark\0\0\0", 12};  // with its NUL, padded to words
constexpr std::uint32_t kOwnerBytes = 9;                  // as a note counts it: with its NUL
constexpr std::uint32_t kSchema = 1;                      // the note's type
constexpr std::string_view kBoundDomain = "hallmark bound sections 1";
constexpr std::size_t kWordBytes = 4;
constexpr std::size_t kTableAlignment = 8;

Error malformed() {
  return Error{ErrorKind::corrupt, "its stamp is malformed", {}};
}

bool is_code_for_optimizer(std::string_view name) {
  return name.starts_with(".gnu.lto_") || name.starts_with(".llvm.lto") || name.starts_with(".llvmbc");
}

bool is_edited_by_patchelf(std::string_view name) {
  return name == ".interp" || name.starts_with(".got");
}

bool is_bound(const ElfSection& section, bool is_relocatable) {
  if (section.bytes.empty()) return false;
  if (is_code_for_optimizer(section.name)) return true;
  if ((section.header.sh_flags & SHF_ALLOC) == 0 || is_edited_by_patchelf(section.name)) return false;
  switch (section.header.sh_type) {
    case SHT_PROGBITS:
    case SHT_PREINIT_ARRAY:
    case SHT_INIT_ARRAY:
    case SHT_FINI_ARRAY:
    case SHT_X86_64_UNWIND:
      return true;
    case SHT_RELA:
    case SHT_REL:
      return !is_relocatable;
    default:
      return false;
  }
}

digest::Sha256 hash_of(const std::vector<SectionDigest>& sections) {
  Encoder out;
  out.text(kBoundDomain).number(sections.size());
  for (const auto& section : sections) out.text(section.name).hash(section.hash);
  return out.key().hash;
}

/// Errors: corrupt (sections that lie over each other could take any time to hash).
Result<std::vector<SectionDigest>> bound_sections(const ElfSections& elf, std::size_t file_bytes) {
  const bool is_relocatable = elf.header.e_type == ET_REL;
  std::vector<const ElfSection*> bound;
  std::size_t bytes = 0;
  for (const auto& section : elf.sections) {
    if (!is_bound(section, is_relocatable)) continue;
    bytes += section.bytes.size();
    if (bytes > file_bytes)
      return fail(Error{ErrorKind::corrupt, "ELF file: its sections lie over each other", {}});
    bound.push_back(&section);
  }
  // Stable: of equal names (functions of several groups) the file's order counts.
  std::stable_sort(bound.begin(), bound.end(),
                   [](const auto* a, const auto* b) { return a->name < b->name; });
  std::vector<SectionDigest> digests;
  for (auto first = bound.begin(); first != bound.end();) {
    const auto last =
        std::find_if(first, bound.end(), [&](const auto* other) { return other->name != (*first)->name; });
    SectionDigest digest{std::string((*first)->name), digest::digest_of((*first)->bytes).hash};
    if (last - first > 1) {
      digest::Hasher hasher;
      for (auto each = first; each != last; ++each) hasher.update(digest::digest_of((*each)->bytes).hash);
      digest.hash = hasher.finish().hash;
    }
    digests.push_back(std::move(digest));
    first = last;
  }
  return digests;
}

bool is_host_machine(std::uint16_t machine) {
  constexpr std::array<std::uint16_t, 2> kDevices = {EM_CUDA, EM_AMDGPU};
  return std::find(kDevices.begin(), kDevices.end(), machine) == kDevices.end();
}

bool can_bear_stamp(const ElfSections& elf, std::size_t file_bytes) {
  const auto& header = elf.header;
  const bool is_code = header.e_type == ET_REL || header.e_type == ET_EXEC || header.e_type == ET_DYN;
  // A program may look for what was appended to it at the end of its own file.
  const bool has_appendix = file_bytes > elf.end + kTableAlignment;
  return is_code && is_host_machine(header.e_machine) && elf.names != 0 && !has_appendix;
}

std::vector<const ElfSection*> notes_in(const ElfSections& elf) {
  std::vector<const ElfSection*> notes;
  for (const auto& section : elf.sections) {
    // One of no bytes is what stamping leaves of further ones.
    if (section.name == kSection && section.header.sh_size != 0) notes.push_back(&section);
  }
  return notes;
}

void align(std::string& bytes, std::size_t alignment) {
  bytes.resize((bytes.size() + alignment - 1) / alignment * alignment, '\0');
}

/// The section table of the stamped file, while `file` grows by what it points to.
std::vector<Elf64_Shdr> place_note(std::string& file, const ElfSections& elf, std::string_view note) {
  std::vector<Elf64_Shdr> table;
  table.reserve(elf.sections.size() + 1);
  for (const auto& section : elf.sections) table.push_back(section.header);
  std::size_t place = table.size();
  for (std::size_t i = 0; i < elf.sections.size(); ++i) {
    if (elf.sections[i].name != kSection) continue;
    if (place == table.size()) {
      place = i;
    } else {
      table[i].sh_size = 0;
    }
  }
  if (place == table.size()) {
    // Section names are shared with symbols in what LLVM writes: a longer copy serves both.
    const auto& names = elf.sections[elf.names];
    auto& moved = table[elf.names];
    moved.sh_offset = file.size();
    moved.sh_size = names.bytes.size() + kSection.size() + 1;
    table.emplace_back();
    table.back().sh_name = static_cast<Elf64_Word>(names.bytes.size());
    file.append(names.bytes).append(kSection).append(1, '\0');
  }
  align(file, kWordBytes);
  auto& entry = table[place];
  entry.sh_type = SHT_NOTE;
  // Linkers then leave out the notes of objects.
  entry.sh_flags = elf.header.e_type == ET_REL ? SHF_EXCLUDE : 0;
  entry.sh_addralign = kWordBytes;
  entry.sh_offset = file.size();
  entry.sh_size = note.size();
  file.append(note);
  return table;
}

}  // namespace

std::string encode(const Stamp& stamp) {
  const auto note_of = [&](const std::vector<SectionDigest>& sections) {
    Encoder out;
    out.hash(stamp.strong.hash).hash(stamp.inputs.hash).hash(stamp.bound).number(sections.size());
    for (const auto& section : sections) out.text(section.name).hash(section.hash);
    auto content = out.take();
    const Elf64_Nhdr header{kOwnerBytes, static_cast<Elf64_Word>(content.size()), kSchema};
    std::string note(reinterpret_cast<const char*>(&header), sizeof header);
    note.append(kOwner).append(content);
    align(note, kWordBytes);
    return note;
  };
  auto note = note_of(stamp.sections);
  return note.size() <= kStampBytes ? note : note_of({});
}

Result<Stamp> decode_stamp(std::string_view note) {
  Elf64_Nhdr header;
  if (note.size() > kStampBytes || note.size() < sizeof header + kOwner.size()) return fail(malformed());
  std::memcpy(&header, note.data(), sizeof header);
  note.remove_prefix(sizeof header);
  if (header.n_namesz != kOwnerBytes || !note.starts_with(kOwner)) return fail(malformed());
  if (header.n_type != kSchema)
    return fail(Error{ErrorKind::newer_format, "its stamp was written by another version of hallmark",
                      "use that version"});
  note.remove_prefix(kOwner.size());
  if (header.n_descsz > note.size()) return fail(malformed());
  if (note.size() - header.n_descsz >= kWordBytes)
    return fail(Error{ErrorKind::invalid, "it bears several stamps: files were merged", {}});
  if (note.find_first_not_of('\0', header.n_descsz) != std::string_view::npos) return fail(malformed());

  Decoder in(note.substr(0, header.n_descsz));
  Stamp stamp;
  stamp.strong.hash = in.hash();
  stamp.inputs.hash = in.hash();
  stamp.bound = in.hash();
  constexpr std::size_t kSmallestSectionBytes = 33;
  const auto count = in.count(kSmallestSectionBytes);
  stamp.sections.reserve(count);
  for (std::size_t i = 0; i < count && in.ok(); ++i) {
    SectionDigest section{std::string(in.text()), in.hash()};
    if (!stamp.sections.empty() && section.name <= stamp.sections.back().name) in.reject();
    stamp.sections.push_back(std::move(section));
  }
  if (!in.finished() || (count > 0 && hash_of(stamp.sections) != stamp.bound)) return fail(malformed());
  return stamp;
}

Result<std::optional<Stamped>> read_stamp(std::string_view file) {
  if (!is_elf64(file)) return std::nullopt;
  const auto elf = read_elf_sections(file);
  if (!elf.has_value()) {
    if (elf.error().kind == ErrorKind::unsupported) return std::nullopt;
    return fail(elf.error());
  }
  const auto notes = notes_in(*elf);
  if (notes.empty()) return std::nullopt;
  if (notes.size() > 1)
    return fail(Error{ErrorKind::invalid, "it bears several stamps: files were merged", {}});
  if (notes.front()->header.sh_type != SHT_NOTE) return fail(malformed());
  Stamped found;
  HALLMARK_TRY(found.stamp, decode_stamp(notes.front()->bytes));
  HALLMARK_TRY(found.now, bound_sections(*elf, file.size()));
  found.is_relocatable = elf->header.e_type == ET_REL;
  return found;
}

std::optional<std::string> difference_from_stamp(const Stamped& stamped) {
  const auto& [stamp, now, is_relocatable] = stamped;
  if (hash_of(now) == stamp.bound) return std::nullopt;
  const auto holds = [](const std::vector<SectionDigest>& sections, const std::string& name) {
    return std::any_of(sections.begin(), sections.end(),
                       [&](const auto& other) { return other.name == name; });
  };
  for (const auto& section : stamp.sections) {
    if (std::find(now.begin(), now.end(), section) != now.end()) continue;
    return "section " + section.name + (holds(now, section.name) ? " differs" : " is gone");
  }
  for (const auto& section : now) {
    if (!stamp.sections.empty() && !holds(stamp.sections, section.name))
      return "section " + section.name + " was added";
  }
  return "its sections differ";
}

Result<std::string> stamped(std::string_view file, const digest::Key& strong, const digest::Key& inputs) {
  HALLMARK_TRY(const auto elf, read_elf_sections(file));
  if (!can_bear_stamp(elf, file.size()))
    return fail(Error{ErrorKind::unsupported, "a file of this kind can bear no stamp", {}});
  Stamp stamp;
  stamp.strong = strong;
  stamp.inputs = inputs;
  HALLMARK_TRY(stamp.sections, bound_sections(elf, file.size()));
  stamp.bound = hash_of(stamp.sections);

  std::string result(file);
  result.reserve(file.size() + 2 * kStampBytes);
  auto table = place_note(result, elf, encode(stamp));
  align(result, kTableAlignment);
  auto header = elf.header;
  header.e_shoff = result.size();
  if (table.size() < SHN_LORESERVE) {
    header.e_shnum = static_cast<Elf64_Half>(table.size());
  } else {  // gABI: the null section then has the number
    header.e_shnum = 0;
    table.front().sh_size = table.size();
  }
  // The names keep their section's number, and so e_shstrndx its value.
  result.append(reinterpret_cast<const char*>(table.data()), table.size() * sizeof(Elf64_Shdr));
  std::memcpy(result.data(), &header, sizeof header);
  // Odd files bind what stamping must change: a section over the header, or the names.
  HALLMARK_TRY(const auto again, read_stamp(result));
  if (!again || difference_from_stamp(*again))
    return fail(Error{ErrorKind::unsupported, "a file of this layout can bear no stamp", {}});
  return result;
}

}  // namespace hallmark::inspect
