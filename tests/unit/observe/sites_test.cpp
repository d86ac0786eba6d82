#include "observe/internal/sites.h"

#include <elf.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "observe/internal/syscall_table.h"

namespace hallmark::observe {
namespace {

/// A shared library with nothing but one segment of code.
std::string library_with(const std::string& code, std::uint64_t address = 0x1000) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_type = ET_DYN;
  header.e_machine = EM_X86_64;
  header.e_phoff = sizeof(header);
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 1;
  Elf64_Phdr part{};
  part.p_type = PT_LOAD;
  part.p_flags = PF_R | PF_X;
  part.p_offset = sizeof(header) + sizeof(part);
  part.p_vaddr = address;
  part.p_filesz = code.size();
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof(header));
  bytes.append(reinterpret_cast<const char*>(&part), sizeof(part));
  return bytes + code;
}

std::string site(std::uint8_t number) {
  return std::string("\xb8", 1) + static_cast<char>(number) + std::string("\0\0\0\x0f\x05", 5);
}

const std::string kNops(40, '\x90');

std::vector<ring::SharedSite> find(const std::string& code) {
  auto sites = find_sites(as_bytes(library_with(code)));
  EXPECT_TRUE(sites.has_value());
  return sites ? *sites : std::vector<ring::SharedSite>{};
}

TEST(Sites, FindsTheMovBeforeTheSyscall) {
  const auto sites = find(kNops + site(SYS_access) + kNops);
  ASSERT_EQ(sites.size(), 1u);
  EXPECT_EQ(sites[0].offset, 0x1000 + kNops.size());
  EXPECT_EQ(sites[0].number, static_cast<std::uint32_t>(SYS_access));
}

TEST(Sites, FindsTheOpenWithoutCancellation) {
  const std::string idiom("\xb8\x01\x01\0\0\x48\x89\xfe\xbf\x9c\xff\xff\xff\x0f\x05", 15);
  const auto sites = find(kNops + idiom + kNops);
  ASSERT_EQ(sites.size(), 1u);
  EXPECT_EQ(sites[0].offset, 0x1000 + kNops.size() + 8);  // the mov of the folder is what is replaced
  EXPECT_EQ(sites[0].number, static_cast<std::uint32_t>(SYS_openat));
  EXPECT_EQ(sites[0].form, ring::SharedSite::kSetsFolder);
  // A jump between the two movs would come with another number in eax.
  EXPECT_TRUE(
      find("\xeb" + std::string(1, static_cast<char>(kNops.size() + 5)) + kNops + idiom + kNops).empty());
}

TEST(Sites, FindsOneAtEitherEndOfTheCode) {
  const auto sites = find(site(SYS_access) + kNops + site(SYS_stat));
  ASSERT_EQ(sites.size(), 2u);
  EXPECT_EQ(sites[0].offset, 0x1000u);
  EXPECT_EQ(sites[1].offset, 0x1000 + 7 + kNops.size());
}

TEST(Sites, LeavesOtherCallsAlone) {
  EXPECT_TRUE(find(kNops + site(SYS_read)).empty());
  EXPECT_TRUE(find(kNops + site(SYS_unlink)).empty());  // a change: always the slow path
  EXPECT_TRUE(find(kNops + site(SYS_rename)).empty());
  EXPECT_TRUE(find(kNops + site(SYS_execve)).empty());
}

TEST(Sites, LeavesAMovOfAnotherRegisterAlone) {
  EXPECT_TRUE(find(kNops + "\x41" + site(SYS_access)).empty());  // mov $21,%r8d
  EXPECT_TRUE(find(kNops + "\x48" + site(SYS_access)).empty());  // first half of a movabs
}

TEST(Sites, LeavesASiteAloneThatMayBeJumpedInto) {
  // jmp rel8 to the second byte of the mov; then the same to the mov itself and to the syscall, which are
  // fine.
  const auto with_jump_to = [](int offset_in_site) {
    std::string code = kNops;
    const int distance = static_cast<int>(kNops.size()) + offset_in_site;
    return "\xeb" + std::string(1, static_cast<char>(distance)) + code + site(SYS_access) + kNops;
  };
  EXPECT_TRUE(find(with_jump_to(1)).empty());
  EXPECT_TRUE(find(with_jump_to(4)).empty());
  EXPECT_EQ(find(with_jump_to(0)).size(), 1u);
  EXPECT_EQ(find(with_jump_to(5)).size(), 1u);
  // jne rel32 from behind, to the third byte.
  std::string code = kNops + site(SYS_access) + kNops;
  const auto distance =
      static_cast<std::int32_t>(kNops.size() + 2) - static_cast<std::int32_t>(code.size() + 6);
  code += "\x0f\x85";
  code.append(reinterpret_cast<const char*>(&distance), sizeof(distance));
  EXPECT_TRUE(find(code + kNops).empty());
}

TEST(Sites, LeavesAnOpenAloneInWhichAThreadMayBeCancelled) {
  const std::string call("\xe8\x40\x30\x20\x10", 5);
  EXPECT_TRUE(find(kNops + call + site(SYS_open) + call + kNops).empty());
  EXPECT_EQ(find(kNops + call + site(SYS_open) + kNops).size(), 1u);
  EXPECT_EQ(find(kNops + site(SYS_open) + call + kNops).size(), 1u);
  EXPECT_EQ(find(kNops + call + site(SYS_access) + call + kNops).size(), 1u);  // no cancellation point
}

TEST(Sites, KeepsTheFrequentCallsWhenThereAreTooMany) {
  std::string code;
  for (std::size_t i = 0; i < ring::kSitesPerLibrary; ++i) code += site(SYS_llistxattr) + kNops;
  code += site(SYS_access);
  const auto sites = find(code);
  ASSERT_EQ(sites.size(), ring::kSitesPerLibrary);
  EXPECT_EQ(sites.back().number, static_cast<std::uint32_t>(SYS_access));
}

TEST(Sites, RefusesWhatIsNoLibrary) {
  EXPECT_FALSE(find_sites(as_bytes("")).has_value());
  EXPECT_FALSE(find_sites(as_bytes("#!/bin/sh\n")).has_value());
  const std::string whole = library_with(kNops + site(SYS_access));
  EXPECT_TRUE(find_sites(as_bytes(whole)).has_value());
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    EXPECT_FALSE(find_sites(as_bytes(std::string_view(whole).substr(0, bytes))).has_value()) << bytes;
  }
}

/// The libc that this test itself runs with, if it is not linked statically.
TEST(Sites, FindsTheFrequentCallsOfTheRealLibc) {
  const char* path = "/lib/x86_64-linux-gnu/libc.so.6";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "SKIPPED: no glibc at " << path;
  const auto sites = find_sites_in_file(path);
  ASSERT_TRUE(sites.has_value());
  std::ifstream file(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  std::vector<std::uint32_t> found;
  for (const ring::SharedSite& one : *sites) {
    // Debian's and Ubuntu's libc have file offsets equal to addresses in the code segment.
    const std::string_view code = std::string_view(bytes).substr(one.offset, 7);
    EXPECT_EQ(code.substr(5), "\x0f\x05") << std::hex << one.offset;
    if (one.form == ring::SharedSite::kSetsNumber) {
      EXPECT_EQ(static_cast<std::uint8_t>(code[1]), one.number & 0xff);
    }
    found.push_back(one.number);
  }
  for (const long number : {SYS_openat, SYS_newfstatat, SYS_access, SYS_readlink}) {
    EXPECT_NE(std::ranges::find(found, static_cast<std::uint32_t>(number)), found.end()) << number;
  }
}

}  // namespace
}  // namespace hallmark::observe
