#include "observe/internal/hints.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/limits.h"

namespace hallmark::observe {
namespace {

FileStat program(std::uint64_t inode, std::int64_t mtime_ns = 5) {
  FileStat stat;
  stat.device = 2049;
  stat.inode = inode;
  stat.size_bytes = 1000 + inode;
  stat.mtime_ns = mtime_ns;
  stat.kind = NodeKind::file;
  return stat;
}

Hints three_programs() {
  Hints hints;
  hints.learn(program(1), 1, 5000);
  hints.learn(program(2), 10, 30);
  hints.learn(program(3, -7), 4, 4 * Hints::kPaysFrom);
  return hints;
}

TEST(Hints, TriesTheAgentOnAnUnknownProgram) {
  EXPECT_TRUE(Hints().pays(program(1)));
}

TEST(Hints, KnowsWhichProgramsAreWorthIt) {
  const Hints hints = three_programs();
  EXPECT_TRUE(hints.pays(program(1)));
  EXPECT_FALSE(hints.pays(program(2)));
  EXPECT_TRUE(hints.pays(program(3, -7)));
  EXPECT_TRUE(hints.pays(program(2, 6)));  // replaced by another build: unknown again
}

TEST(Hints, ChangesItsMindSlowlyAndSaysThatItDid) {
  Hints hints = Hints::decode(three_programs().encode()).value();
  EXPECT_FALSE(hints.worth_saving());
  hints.learn(program(2), 1, 100);
  EXPECT_FALSE(hints.pays(program(2)));
  EXPECT_FALSE(hints.worth_saving());
  for (int i = 0; i < 10; ++i) hints.learn(program(2), 1, 400);
  EXPECT_TRUE(hints.pays(program(2)));
  EXPECT_TRUE(hints.worth_saving());
}

TEST(Hints, ComesBackFromItsBytes) {
  const std::string bytes = three_programs().encode();
  const auto back = Hints::decode(bytes);
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->size(), 3u);
  EXPECT_EQ(back->encode(), bytes);
  EXPECT_FALSE(back->pays(program(2)));
}

TEST(Hints, RemembersTheSitesOfALibrary) {
  Hints hints;
  EXPECT_FALSE(hints.sites_of(program(9)).has_value());
  hints.learn_sites(program(9), {{0x1000, 21, 0}, {0x2000, 257, 1}});
  EXPECT_TRUE(hints.worth_saving());
  const Hints back = Hints::decode(hints.encode()).value();
  const auto sites = back.sites_of(program(9));
  ASSERT_TRUE(sites.has_value());
  ASSERT_EQ(sites->size(), 2u);
  EXPECT_EQ((*sites)[1].offset, 0x2000u);
  EXPECT_EQ((*sites)[1].number, 257u);
  EXPECT_EQ((*sites)[1].form, ring::SharedSite::kSetsFolder);
  EXPECT_FALSE(back.sites_of(program(9, 6)).has_value());  // another libc in its place
  for (std::uint64_t i = 10; i < 40; ++i) hints.learn_sites(program(i), {});
  EXPECT_TRUE(Hints::decode(hints.encode()).has_value());  // bounded
}

TEST(Hints, IgnoresAFileWithAnyBitTurned) {
  Hints hints = three_programs();
  hints.learn_sites(program(9), {{0x1000, 21, 0}});
  const std::string whole = hints.encode();
  for (std::size_t i = 0; i < whole.size() * 8; ++i) {
    std::string damaged = whole;
    damaged[i / 8] = static_cast<char>(damaged[i / 8] ^ (1 << i % 8));
    EXPECT_FALSE(Hints::decode(damaged).has_value()) << "bit " << i;
  }
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    EXPECT_FALSE(Hints::decode(std::string_view(whole).substr(0, bytes)).has_value()) << bytes;
  }
  EXPECT_FALSE(Hints::decode(whole + '\0').has_value());
}

RC_GTEST_PROP(Hints, NeverFallsOverAnyBytes, (const std::string& bytes)) {
  (void)Hints::decode(bytes);
  (void)Hints::decode("hallmark hints 1\n" + bytes);
}

TEST(Hints, ForgetsTheProgramsNotUsedForLongest) {
  Hints hints;
  for (std::uint64_t i = 0; i < limits::kHintPrograms; ++i) hints.learn(program(i), 1, 1);
  const std::string path = testing::TempDir() + "hallmark_hints_test";
  ASSERT_TRUE(hints.save(os::linux_file_system(), path, "1").has_value());
  Hints later = Hints::load(os::linux_file_system(), path);  // a later run
  later.learn(program(0), 1, 1);
  later.learn(program(999'999), 1, 1);
  EXPECT_EQ(later.size(), limits::kHintPrograms);
  EXPECT_FALSE(later.pays(program(0)));
  EXPECT_FALSE(later.pays(program(999'999)));
  std::filesystem::remove(path);
}

TEST(Hints, CountsACorruptOrMissingFileAsEmpty) {
  const std::string path = testing::TempDir() + "hallmark_hints_corrupt";
  std::ofstream(path) << "hallmark hints 1\nnonsense";
  EXPECT_EQ(Hints::load(os::linux_file_system(), path).size(), 0u);
  std::filesystem::remove(path);
  EXPECT_EQ(Hints::load(os::linux_file_system(), path).size(), 0u);
  EXPECT_EQ(Hints::load(os::linux_file_system(), "").size(), 0u);
}

}  // namespace
}  // namespace hallmark::observe
