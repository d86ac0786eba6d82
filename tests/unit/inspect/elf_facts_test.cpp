#include "inspect/elf_facts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace hallmark::inspect {
namespace {

/// A library made by the system's compiler, once for all tests.
class ElfFactsOfALibrary : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    std::string form = (std::filesystem::temp_directory_path() / "elf_facts.XXXXXX").string();
    ASSERT_NE(mkdtemp(form.data()), nullptr);
    const std::filesystem::path folder = form;
    std::ofstream(folder / "a.cpp") << R"(
extern "C" int puts(const char*);
int strong() { return 1; }
int caller() { return strong() + puts("x"); }
inline int weak() { return 3; }
template <int> int& counter() { static int value; return value; }
int (*take())() { counter<1>() = 1; return weak; }
__attribute__((visibility("hidden"))) int hidden() { return 4; }
__attribute__((visibility("protected"))) int shielded() { return 5; }
extern "C" int versioned() { return 6; }
)";
    std::ofstream(folder / "map") << "V1 { global: versioned; };\n";
    const std::string command =
        "cd " + form +
        " && g++ -O1 -shared -fPIC -Wl,--build-id=0x0badc0de -Wl,-soname,liba.so.2 -Wl,-rpath,'$ORIGIN/x'"
        " -Wl,--enable-new-dtags -Wl,--version-script=map a.cpp -o a.so";
    ASSERT_EQ(std::system(command.c_str()), 0);
    std::ostringstream text;
    text << std::ifstream(folder / "a.so", std::ios::binary).rdbuf();
    bytes_ = text.str();
    std::filesystem::remove_all(folder);
  }

  static const Export* find(const ElfFacts& facts, std::string_view name) {
    const auto found = std::find_if(facts.exports.begin(), facts.exports.end(),
                                    [&](const Export& symbol) { return symbol.name == name; });
    return found == facts.exports.end() ? nullptr : &*found;
  }

  static inline std::string bytes_;
};

TEST_F(ElfFactsOfALibrary, SaysWhatTheLoaderReads) {
  const auto facts = read_elf_facts(bytes_);
  ASSERT_TRUE(facts.has_value()) << facts.error().message();
  EXPECT_EQ(facts->type, ElfType::shared);
  EXPECT_EQ(facts->build_id, "0badc0de");
  EXPECT_EQ(facts->soname, "liba.so.2");
  EXPECT_EQ(facts->runpath, "$ORIGIN/x");
  EXPECT_EQ(facts->rpath, std::nullopt);
  EXPECT_FALSE(facts->is_symbolic);
  EXPECT_NE(std::find(facts->needed.begin(), facts->needed.end(), "libc.so.6"), facts->needed.end());
  EXPECT_NE(std::find(facts->imports.begin(), facts->imports.end(), "puts"), facts->imports.end());
}

TEST_F(ElfFactsOfALibrary, TellsSymbolsApart) {
  const auto facts = read_elf_facts(bytes_);
  ASSERT_TRUE(facts.has_value());
  const auto* strong = find(*facts, "_Z6strongv");
  ASSERT_NE(strong, nullptr);
  EXPECT_EQ(strong->binding, Binding::global);
  EXPECT_EQ(strong->kind, SymbolKind::function);
  EXPECT_TRUE(strong->is_used) << "called through the table of the loader";
  EXPECT_TRUE(strong->content.has_value());
  const auto* weak = find(*facts, "_Z4weakv");
  ASSERT_NE(weak, nullptr);
  EXPECT_EQ(weak->binding, Binding::weak);
  EXPECT_FALSE(find(*facts, "_Z6callerv")->is_used);
  const auto* unique = find(*facts, "_ZZ7counterILi1EERivE5value");
  ASSERT_NE(unique, nullptr);
  EXPECT_EQ(unique->binding, Binding::unique);
  EXPECT_FALSE(unique->content.has_value()) << "it may change";
  EXPECT_EQ(find(*facts, "_Z6hiddenv"), nullptr);
  EXPECT_TRUE(find(*facts, "_Z8shieldedv")->is_protected);
  ASSERT_NE(find(*facts, "versioned"), nullptr);
  EXPECT_EQ(find(*facts, "versioned")->version, "V1");
  EXPECT_EQ(find(*facts, "V1"), nullptr) << "the name of a version is no symbol";
}

TEST_F(ElfFactsOfALibrary, CutOffAnywhereIsSaidNeverACrash) {
  for (std::size_t size = 0; size < bytes_.size(); size += size < 200 ? 1 : 97) {
    const auto facts = read_elf_facts(std::string_view(bytes_).substr(0, size));
    ASSERT_FALSE(facts.has_value()) << size;
    EXPECT_EQ(facts.error().kind, size < 4 ? ErrorKind::invalid : ErrorKind::corrupt) << size;
  }
}

TEST_F(ElfFactsOfALibrary, DamagedAnywhereIsNeverACrash) {
  for (std::size_t at = 4; at < bytes_.size(); at += at < 100 ? 1 : 61) {
    auto damaged = bytes_;
    damaged[at] = static_cast<char>(damaged[at] ^ 0xff);
    (void)read_elf_facts(damaged);
  }
}

TEST(ElfFacts, NoElf) {
  EXPECT_EQ(read_elf_facts("").error().kind, ErrorKind::invalid);
  EXPECT_EQ(read_elf_facts("#!/bin/sh\n").error().kind, ErrorKind::invalid);
}

}  // namespace
}  // namespace hallmark::inspect
