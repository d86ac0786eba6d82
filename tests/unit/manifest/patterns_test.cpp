#include "manifest/patterns.h"

#include <gmock/gmock.h>

#include "manifest/expand.h"
#include "support/fake_clock.h"
#include "support/fake_file_system.h"

namespace hallmark::manifest {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Matches, OnePart) {
  EXPECT_TRUE(matches("*.cu", "fwd.cu"));
  EXPECT_TRUE(matches("f?d.cu", "fwd.cu"));
  EXPECT_TRUE(matches("*", "a"));
  EXPECT_TRUE(matches("a*b*c", "aXbYbZc"));
  EXPECT_FALSE(matches("*.cu", "fwd.cuh"));
  EXPECT_FALSE(matches("f?d.cu", "fd.cu"));
  EXPECT_FALSE(matches("*.cu", "sub/fwd.cu"));
  EXPECT_FALSE(matches("*", ".hidden"));
  EXPECT_TRUE(matches(".*", ".hidden"));
  EXPECT_FALSE(matches("a", ""));
}

TEST(Matches, AnyParts) {
  EXPECT_TRUE(matches("**/*.cu", "fwd.cu"));
  EXPECT_TRUE(matches("**/*.cu", "a/b/fwd.cu"));
  EXPECT_TRUE(matches("a/**/b/*.cu", "a/b/x.cu"));
  EXPECT_TRUE(matches("a/**/b/*.cu", "a/1/2/b/x.cu"));
  EXPECT_TRUE(matches("**", "a/b"));
  EXPECT_FALSE(matches("a/**/b/*.cu", "a/1/2/x.cu"));
  EXPECT_FALSE(matches("**/*.cu", ".git/x.cu"));
  EXPECT_FALSE(matches("a/**", "a"));
}

TEST(Matches, NoExplosion) {
  const std::string many(2000, 'a');
  EXPECT_FALSE(matches("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", many));
}

class GlobberTest : public ::testing::Test {
 protected:
  GlobberTest() {
    for (const char* path : {"/p/src/b.cpp", "/p/src/a.cpp", "/p/src/a.cu", "/p/src/sub/c.cpp",
                             "/p/src/sub/deep/d.cpp", "/p/src/.hidden.cpp", "/p/src/.git/e.cpp", "/q/x.cpp"})
      files_.put(path, "");
  }
  std::vector<std::string> find(const std::string& pattern) {
    auto found = globber_.find(pattern);
    EXPECT_TRUE(found.has_value());
    return std::move(*found);
  }
  test::FakeClock clock_;
  test::FakeFileSystem files_{clock_};
  Globber globber_{files_};
};

TEST_F(GlobberTest, Files) {
  EXPECT_THAT(find("/p/src/*.cpp"), ElementsAre("/p/src/a.cpp", "/p/src/b.cpp"));
  EXPECT_THAT(find("/p/*/?.cu"), ElementsAre("/p/src/a.cu"));
  EXPECT_THAT(find("/p/src/**/*.cpp"),
              ElementsAre("/p/src/a.cpp", "/p/src/b.cpp", "/p/src/sub/c.cpp", "/p/src/sub/deep/d.cpp"));
  EXPECT_THAT(find("/p/**/deep/*"), ElementsAre("/p/src/sub/deep/d.cpp"));
  EXPECT_THAT(find("/p/src/a.cpp"), ElementsAre("/p/src/a.cpp"));
  EXPECT_THAT(find("/p/src"), IsEmpty()) << "a folder is no file";
  EXPECT_THAT(find("/p/src/*.c"), IsEmpty());
  EXPECT_THAT(find("/none/**"), IsEmpty());
}

TEST_F(GlobberTest, RemembersWhichFoldersItListed) {
  find("/p/src/*.cpp");
  find("/p/src/a.cu");
  EXPECT_THAT(globber_.listed_folders(), ElementsAre("/p/src"));
  find("/p/src/**/*.cpp");
  EXPECT_THAT(globber_.listed_folders(), ElementsAre("/p/src", "/p/src/sub", "/p/src/sub/deep"));
}

TEST_F(GlobberTest, LinksToFilesButNotRoundInCircles) {
  ASSERT_TRUE(files_.make_link("/q/x.cpp", "/p/src/l.cpp").has_value());
  ASSERT_TRUE(files_.make_link("/p", "/p/src/sub/up").has_value());
  ASSERT_TRUE(files_.make_link("/nowhere", "/p/src/broken.cpp").has_value());
  EXPECT_THAT(find("/p/src/*.cpp"), ElementsAre("/p/src/a.cpp", "/p/src/b.cpp", "/p/src/l.cpp"));
  EXPECT_EQ(find("/p/src/**/*.cpp").size(), 5U);
}

TEST(IsOutput, PatternsAndSuffixes) {
  Codegen codegen;
  EXPECT_TRUE(is_output(codegen, "a/b.cu"));
  EXPECT_FALSE(is_output(codegen, "a/b.h"));
  codegen.outputs = {{"**/*.cpp", {}}, {"!skip/*.cpp", {}}};
  EXPECT_TRUE(is_output(codegen, "a/b.cpp"));
  EXPECT_FALSE(is_output(codegen, "skip/b.cpp"));
  EXPECT_FALSE(is_output(codegen, "b.cu"));
}

TEST(Archs, Spellings) {
  for (const char* cpu : {"x86-64", "x86-64-v2", "x86-64-v4", "armv8-a", "armv8.2-a", "armv9-a"})
    EXPECT_EQ(toolchain_of_arch(cpu), ToolchainKind::cpu) << cpu;
  for (const char* cuda : {"sm_80", "sm_90a", "sm_120f", "compute_90", "compute_90a"})
    EXPECT_EQ(toolchain_of_arch(cuda), ToolchainKind::cuda) << cuda;
  for (const char* hip : {"gfx90a", "gfx942", "gfx1100", "gfx90a:xnack+", "gfx90a:sramecc-:xnack+"})
    EXPECT_EQ(toolchain_of_arch(hip), ToolchainKind::hip) << hip;
  for (const char* none : {"", "native", "sm_", "sm_9", "sm_90b", "sm_90aa", "compute_", "gfx", "gfx9",
                           "gfx90a:", "gfx90a:xnack", "gfx90A", "x86_64", "x86-64-v5"})
    EXPECT_EQ(toolchain_of_arch(none), std::nullopt) << none;
  EXPECT_EQ(arch_identifier("gfx90a:sramecc-:xnack+"), "gfx90a_sramecc__xnack_");
  EXPECT_EQ(arch_identifier("armv8.2-a"), "armv8_2_a");
}

}  // namespace
}  // namespace hallmark::manifest
