#include "inspect/stamp.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "support/golden.h"

namespace hallmark::inspect {
namespace {

struct Part {
  std::string name;
  std::uint32_t type = SHT_PROGBITS;
  std::uint64_t flags = SHF_ALLOC;
  std::string bytes;
};

const std::vector<Part> kParts = {{".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, "code"},
                                  {".rodata", SHT_PROGBITS, SHF_ALLOC, "constants"},
                                  {".bss", SHT_NOBITS, SHF_ALLOC | SHF_WRITE, ""},
                                  {".comment", SHT_PROGBITS, 0, "a compiler"}};

/// An ELF file of these sections, with their names and the section table behind them, as `ld` lays it out.
std::string elf(std::vector<Part> parts, std::uint16_t type = ET_DYN, std::uint16_t machine = EM_X86_64) {
  std::string names(1, '\0');
  parts.push_back({".shstrtab", SHT_STRTAB, 0, ""});
  std::vector<Elf64_Shdr> table(1);
  for (const auto& part : parts) {
    Elf64_Shdr entry{};
    entry.sh_name = static_cast<Elf64_Word>(names.size());
    entry.sh_type = part.type;
    entry.sh_flags = part.flags;
    table.push_back(entry);
    names.append(part.name).append(1, '\0');
  }
  parts.back().bytes = names;
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = type;
  header.e_machine = machine;
  header.e_version = EV_CURRENT;
  header.e_ehsize = sizeof header;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = static_cast<Elf64_Half>(table.size());
  header.e_shstrndx = static_cast<Elf64_Half>(table.size() - 1);
  std::string file(sizeof header, '\0');
  for (std::size_t i = 0; i < parts.size(); ++i) {
    table[i + 1].sh_offset = file.size();
    table[i + 1].sh_size = parts[i].type == SHT_NOBITS ? 64 : parts[i].bytes.size();
    file += parts[i].bytes;
  }
  file.resize((file.size() + 7) / 8 * 8, '\0');
  header.e_shoff = file.size();
  file.append(reinterpret_cast<const char*>(table.data()), table.size() * sizeof(Elf64_Shdr));
  std::memcpy(file.data(), &header, sizeof header);
  return file;
}

digest::Key key(std::string_view text) {
  return {digest::digest_of(text).hash};
}

std::string stamp(const std::string& file, std::string_view run = "run") {
  auto result = stamped(file, key(run), key("inputs"));
  EXPECT_TRUE(result.has_value()) << result.error().what;
  return result.has_value() ? *result : std::string();
}

/// What is said of a file: "unstamped", "as stamped", the difference, or the error.
std::string told(const std::string& file) {
  const auto read = read_stamp(file);
  if (!read.has_value()) return read.error().what;
  if (!*read) return "unstamped";
  return difference_from_stamp(**read).value_or("as stamped");
}

std::string with(std::string file, std::string_view before, std::string_view after) {
  const auto at = file.find(before);
  EXPECT_NE(at, std::string::npos) << before;
  return file.replace(at, before.size(), after);
}

TEST(Stamp, SaysWhatItWasGiven) {
  const auto file = stamp(elf(kParts));
  const auto read = read_stamp(file);
  ASSERT_TRUE(read.has_value() && *read);
  EXPECT_EQ((*read)->stamp.strong, key("run"));
  EXPECT_EQ((*read)->stamp.inputs, key("inputs"));
  EXPECT_FALSE((*read)->is_relocatable);
  ASSERT_EQ((*read)->now.size(), 2u);
  EXPECT_EQ((*read)->now[0], (SectionDigest{".rodata", digest::digest_of("constants").hash}));
  EXPECT_EQ((*read)->now[1], (SectionDigest{".text", digest::digest_of("code").hash}));
  EXPECT_EQ(told(file), "as stamped");
}

TEST(Stamp, NoByteOfTheFileMovesButForTheHeader) {
  const auto before = elf(kParts);
  const auto after = stamp(before);
  ASSERT_GT(after.size(), before.size());
  EXPECT_EQ(after.substr(sizeof(Elf64_Ehdr), before.size() - sizeof(Elf64_Ehdr)),
            before.substr(sizeof(Elf64_Ehdr)));
  Elf64_Ehdr old_header;
  Elf64_Ehdr header;
  std::memcpy(&old_header, before.data(), sizeof old_header);
  std::memcpy(&header, after.data(), sizeof header);
  EXPECT_EQ(header.e_shnum, old_header.e_shnum + 1);
  header.e_shoff = old_header.e_shoff;
  header.e_shnum = old_header.e_shnum;
  EXPECT_EQ(std::memcmp(&header, &old_header, sizeof header), 0);
}

TEST(Stamp, OtherCodeUnderAnOldStampIsSeen) {
  const auto file = stamp(elf(kParts));
  EXPECT_EQ(told(with(file, "code", "evil")), "section .text differs");
  EXPECT_EQ(told(with(file, "constants", "Constants")), "section .rodata differs");
  EXPECT_EQ(told(with(file, "a compiler", "A compiler")), "as stamped") << "strip may remove it";
}

TEST(Stamp, AnotherSetOfSectionsIsSeen) {
  const auto note = encode((*read_stamp(stamp(elf(kParts))))->stamp);
  const Part stamp_section{".note.hallmark", SHT_NOTE, 0, note};
  const auto added =
      std::vector<Part>{kParts[0], kParts[1], {".text.more", SHT_PROGBITS, SHF_ALLOC, "more"}, stamp_section};
  EXPECT_EQ(told(elf({kParts[0], kParts[1], stamp_section})), "as stamped") << "as strip leaves it";
  EXPECT_EQ(told(elf(added)), "section .text.more was added");
  EXPECT_EQ(told(elf({kParts[0], stamp_section})), "section .rodata is gone");
}

TEST(Stamp, SectionsOfOneNameCountTogetherAndInOrder) {
  const Part one{".text", SHT_PROGBITS, SHF_ALLOC, "one"};
  const Part two{".text", SHT_PROGBITS, SHF_ALLOC, "two"};
  const auto note = encode((*read_stamp(stamp(elf({one, two}))))->stamp);
  const Part stamp_section{".note.hallmark", SHT_NOTE, 0, note};
  EXPECT_EQ(told(elf({one, two, stamp_section})), "as stamped");
  EXPECT_EQ(told(elf({two, one, stamp_section})), "section .text differs");
  EXPECT_EQ(told(elf({one, stamp_section})), "section .text differs");
}

TEST(Stamp, RelocationsAreBoundWhereStripLeavesThem) {
  std::vector<Part> parts = kParts;
  parts.push_back({".rela.dyn", SHT_RELA, SHF_ALLOC, "relocations"});
  EXPECT_EQ(told(with(stamp(elf(parts)), "relocations", "Relocations")), "section .rela.dyn differs");
  parts.back().flags = 0;
  const auto object = stamp(elf(parts, ET_REL));
  EXPECT_EQ(told(with(object, "relocations", "Relocations")), "as stamped");
  EXPECT_TRUE((*read_stamp(object))->is_relocatable);
}

TEST(Stamp, ASecondStampReplacesTheFirst) {
  const auto twice = stamp(stamp(elf(kParts), "first"), "second");
  const auto read = read_stamp(twice);
  ASSERT_TRUE(read.has_value() && *read);
  EXPECT_EQ((*read)->stamp.strong, key("second"));
  EXPECT_EQ(told(twice), "as stamped");
}

TEST(Stamp, SeveralStampsAreAnErrorUntilTheFileIsStampedAnew) {
  const auto note = encode((*read_stamp(stamp(elf(kParts))))->stamp);
  const Part one{".note.hallmark", SHT_NOTE, 0, note};
  const Part merged{".note.hallmark", SHT_NOTE, 0, note + note};
  for (const auto& parts :
       {std::vector<Part>{kParts[0], kParts[1], one, one}, std::vector<Part>{kParts[0], kParts[1], merged}}) {
    EXPECT_EQ(told(elf(parts)), "it bears several stamps: files were merged");
    EXPECT_EQ(told(stamp(elf(parts))), "as stamped");
  }
}

TEST(Stamp, ManySectionsAreBoundByOneDigest) {
  std::vector<Part> parts;
  for (int i = 0; i < 200; ++i)
    parts.push_back({".text.f" + std::to_string(i), SHT_PROGBITS, SHF_ALLOC, "f" + std::to_string(i)});
  const auto file = stamp(elf(parts, ET_REL));
  const auto read = read_stamp(file);
  ASSERT_TRUE(read.has_value() && *read);
  EXPECT_TRUE((*read)->stamp.sections.empty());
  EXPECT_LE(encode((*read)->stamp).size(), kStampBytes);
  EXPECT_EQ(told(file), "as stamped");
  EXPECT_EQ(told(with(file, "f199", "g199")), "its sections differ");
}

TEST(Stamp, MoreSectionsThanTheHeaderCanCount) {
  const std::vector<Part> parts(SHN_LORESERVE - 2, {".text", SHT_PROGBITS, SHF_ALLOC, "f"});
  const auto file = stamp(elf(parts, ET_REL));
  Elf64_Ehdr header;
  std::memcpy(&header, file.data(), sizeof header);
  EXPECT_EQ(header.e_shnum, 0);
  EXPECT_EQ(told(file), "as stamped");
}

TEST(Stamp, WhatCanBearNone) {
  EXPECT_EQ(told(stamp(elf(kParts, ET_REL))), "as stamped");
  EXPECT_EQ(told(stamp(elf(kParts, ET_EXEC))), "as stamped");
  const std::string empty;
  for (const auto& file : {empty, std::string("#!/bin/sh\n"), std::string("!<arch>\n"), elf(kParts, ET_CORE),
                           elf(kParts, ET_EXEC, EM_CUDA), elf(kParts, ET_DYN, EM_AMDGPU),
                           elf(kParts) + "a zip that the program looks for at its end"}) {
    EXPECT_FALSE(stamped(file, key("run"), key("inputs")).has_value());
    EXPECT_EQ(told(file), "unstamped");
  }
}

TEST(Stamp, WhatBindsItsOwnHeaderCanBearNone) {
  auto file = elf(kParts);
  Elf64_Ehdr header;
  std::memcpy(&header, file.data(), sizeof header);
  Elf64_Shdr text;
  const auto at = header.e_shoff + sizeof text;
  std::memcpy(&text, file.data() + at, sizeof text);
  text.sh_offset = 0;
  text.sh_size = sizeof header;
  std::memcpy(file.data() + at, &text, sizeof text);
  const auto result = stamped(file, key("run"), key("inputs"));
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().kind, ErrorKind::unsupported);
}

TEST(Stamp, ATruncatedFileIsNeverAsStamped) {
  const auto file = stamp(elf(kParts));
  for (std::size_t size = 0; size < file.size(); ++size) {
    const auto text = told(file.substr(0, size));
    EXPECT_NE(text, "as stamped") << size;
    EXPECT_EQ(text == "unstamped", size < sizeof(Elf64_Ehdr)) << size << ": " << text;
  }
}

TEST(Stamp, EveryChangedByteOfTheNoteIsSeenOrNamesAnotherRun) {
  const auto good = encode((*read_stamp(stamp(elf(kParts))))->stamp);
  for (std::size_t i = 0; i < good.size(); ++i) {
    auto note = good;
    note[i] = static_cast<char>(note[i] ^ 0x20);
    const auto file = elf({kParts[0], kParts[1], {".note.hallmark", SHT_NOTE, 0, note}});
    const auto read = read_stamp(file);
    if (!read.has_value() || !*read) continue;
    const auto& now = (*read)->stamp;
    EXPECT_TRUE(now.strong != key("run") || now.inputs != key("inputs") || told(file) != "as stamped") << i;
  }
}

TEST(Stamp, SectionsThatLieOverEachOtherAreRefused) {
  auto file = stamp(elf(kParts));
  Elf64_Ehdr header;
  std::memcpy(&header, file.data(), sizeof header);
  for (std::size_t i = 1; i < header.e_shnum; ++i) {
    const auto at = header.e_shoff + i * sizeof(Elf64_Shdr);
    Elf64_Shdr entry;
    std::memcpy(&entry, file.data() + at, sizeof entry);
    if (entry.sh_type != SHT_PROGBITS) continue;
    entry.sh_offset = 0;
    entry.sh_size = file.size();
    std::memcpy(file.data() + at, &entry, sizeof entry);
  }
  EXPECT_EQ(told(file), "ELF file: its sections lie over each other");
}

TEST(Stamp, Golden) {
  const auto read = read_stamp(stamp(elf(kParts)));
  ASSERT_TRUE(read.has_value() && *read);
  const auto note = encode((*read)->stamp);
  test::expect_golden(HALLMARK_SOURCE_DIR, "stamp", note);
  const auto back = decode_stamp(test::golden_bytes(HALLMARK_SOURCE_DIR, "stamp"));
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(*back, (*read)->stamp);
}

}  // namespace
}  // namespace hallmark::inspect
