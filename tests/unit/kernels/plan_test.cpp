#include "kernels/plan.h"

#include <gmock/gmock.h>

#include "manifest/parse.h"
#include "support/fake_clock.h"
#include "support/fake_file_system.h"

namespace hallmark::kernels {
namespace {

using manifest::ToolchainKind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class PlanTest : public ::testing::Test {
 protected:
  PlanTest() {
    files_.put("/p/k.cu", "");
    files_.put("/p/h.hip", "");
    files_.put("/p/w.cpp", "");
    files_.put("/p/t.cpp.in", "int @HALLMARK_NAME@;");
  }

  /// The manifest is `head` behind schema and project.
  Result<Plan> plan(const std::string& rest) {
    auto parsed = manifest::parse("schema = 1\n[project]\nname = \"p\"\n" + rest, "/p/hallmark.toml");
    EXPECT_EQ(manifest::rendered(parsed.problems, "F"), "");
    manifest_ = std::move(parsed.manifest);
    auto expanded = manifest::expand(manifest_, {}, {}, {}, files_, manifest::MissingSources::are_problems);
    EXPECT_TRUE(expanded.has_value());
    EXPECT_EQ(manifest::rendered(expanded->problems, "F"), "");
    expansion_ = std::move(expanded->expansion);
    return make_plan(
        {manifest_, expansion_, tools_, {}, generated_, "/h/hallmark", "", {"/p/hallmark.toml"}, memory_mb_},
        files_);
  }

  manifest::Manifest manifest_;
  manifest::Expansion expansion_;
  std::vector<Tool> tools_ = {{ToolchainKind::cpu, "c++", "", "", {}},
                              {ToolchainKind::cuda, "nvcc", "", "", {"sm_80", "sm_90", "sm_90a"}},
                              {ToolchainKind::hip, "hipcc", "", "", {}}};
  std::map<std::string, std::vector<std::string>> generated_;
  std::uint64_t memory_mb_ = 0;
  test::FakeClock clock_;
  test::FakeFileSystem files_{clock_};
};

constexpr const char* kCuda =
    "[build]\narchs = [\"sm_80\", \"compute_90\"]\n[library.l]\nexports = [\"f_*\"]\nsoversion = \"2\"\n"
    "[[library.l.kernel]]\nname = \"k\"\nsource = \"k.cu\"\n";

TEST_F(PlanTest, CudaIsToldItsArchsAndHandsHostWordsOn) {
  const auto made = plan(kCuda);
  ASSERT_TRUE(made.has_value()) << made.error().message();
  EXPECT_THAT(made->ninja,
              HasSubstr("-- nvcc -std=c++17 -Xcompiler -fPIC -Xcompiler -ffile-prefix-map=/p=. -O2"));
  EXPECT_THAT(
      made->ninja,
      HasSubstr("unit = -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=compute_90"));
  EXPECT_THAT(made->ninja, HasSubstr("-Xlinker -soname=libl.so.2"));
  EXPECT_THAT(made->ninja, HasSubstr("-Xlinker --version-script=gen/hallmark/units/l/exports.map"));
  ASSERT_EQ(made->libraries.size(), 1u);
  EXPECT_EQ(made->libraries[0].file, "lib/libl.so.2");
  EXPECT_EQ(made->libraries[0].link, "lib/libl.so");
}

TEST_F(PlanTest, PathsOfTheTreeAreRelative) {
  const auto made = plan(kCuda);
  ASSERT_TRUE(made.has_value());
  EXPECT_THAT(made->ninja, HasSubstr("build obj/l/k.o: compile_l_k_cuda ../../k.cu\n"));
}

TEST_F(PlanTest, TheSameRequestGivesTheSameBytes) {
  const auto one = plan(kCuda);
  const auto other = plan(kCuda);
  ASSERT_TRUE(one.has_value() && other.has_value());
  EXPECT_EQ(one->ninja, other->ninja);
}

TEST_F(PlanTest, SeveralProcessorsWithoutOwnObjectsGetTheDefault) {
  const auto made = plan(
      "[build]\narchs = [\"x86-64-v2\", \"x86-64-v3\"]\n[library.l]\nsources = [\"w.cpp\"]\n"
      "[[library.l.kernel]]\nname = \"t\"\ntemplate = \"t.cpp.in\"\nper_arch = true\n");
  ASSERT_TRUE(made.has_value()) << made.error().message();
  EXPECT_THAT(made->ninja,
              HasSubstr("unit = -march=x86-64-v3 -DHALLMARK_NAME=t_x86_64_v3 -DHALLMARK_ARCH=x86_64_v3"));
  EXPECT_THAT(made->ninja, HasSubstr("build obj/l/w.cpp.o: compile_l_sources_cpu ../../w.cpp\n  unit = \n"));
  std::vector<std::string> paths;
  for (const auto& file : made->files) paths.push_back(file.path);
  EXPECT_THAT(paths, ElementsAre("include/hallmark/l_namespace.h", "include/hallmark/l_variants.inc",
                                 "units/l/t_x86_64_v2.cpp", "units/l/t_x86_64_v3.cpp"));
  EXPECT_EQ(made->files[2].text, "int t_x86_64_v2;");
}

TEST_F(PlanTest, NvccAndHipccDoNotShareALibrary) {
  const auto made =
      plan("[build]\narchs = [\"sm_80\", \"gfx90a\"]\n[library.l]\nsources = [\"k.cu\", \"h.hip\"]\n");
  ASSERT_FALSE(made.has_value());
  EXPECT_THAT(made.error().what, HasSubstr("/p/hallmark.toml:6:1: library l has units of nvcc and of hipcc"));
}

TEST_F(PlanTest, AMissingCompilerIsToldAndARequiredOneRefused) {
  tools_[1].missing = "nvcc is not installed";
  auto made = plan(kCuda);
  ASSERT_TRUE(made.has_value());
  ASSERT_EQ(made->not_built.size(), 2u);
  EXPECT_EQ(made->not_built[0].why, "nvcc is not installed");
  EXPECT_TRUE(made->libraries.empty());
  made = plan(std::string(kCuda) + "[toolchain.cuda]\nrequired = true\n");
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().kind, ErrorKind::unsupported);
  EXPECT_THAT(made.error().what, HasSubstr("toolchain cuda is required: nvcc is not installed"));
}

TEST_F(PlanTest, AnArchThatTheCompilerCannotMakeIsRefusedWithItsPlace) {
  const auto made = plan("[build]\narchs = [\"sm_75\"]\n[library.l]\nsources = [\"k.cu\"]\n");
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().what,
            "/p/hallmark.toml:5:10: nvcc cannot make code for \"sm_75\"; it can for sm_80, sm_90, sm_90a");
}

TEST_F(PlanTest, MemoryLimitsHowManyRunAtOnce) {
  memory_mb_ = 10'000;
  const auto made = plan(std::string(kCuda) + "memory_mb = 3000\n");
  ASSERT_TRUE(made.has_value());
  EXPECT_THAT(made->ninja, HasSubstr("pool memory_l_k\n  depth = 3\n"));
}

TEST_F(PlanTest, ManyObjectsGoThroughAGeneratedResponseFile) {
  std::string values;
  for (int i = 0; i < 4000; ++i) values += (i == 0 ? "" : ", ") + std::to_string(i);
  const auto made = plan("[build]\narchs = [\"x86-64\"]\n[library.l]\naxes = { i = [" + values +
                         "] }\n[[library.l.kernel]]\nname = \"a_kernel\"\nsource = \"w.cpp\"\n");
  ASSERT_TRUE(made.has_value());
  EXPECT_THAT(made->ninja, HasSubstr("-o $out @gen/hallmark/units/l/objects.rsp"));
  EXPECT_THAT(made->ninja, HasSubstr(" | gen/hallmark/units/l/objects.rsp\n"));
  EXPECT_THAT(made->files.back().text, HasSubstr("obj/l/a_kernel_3999.o\n"));
}

TEST_F(PlanTest, ALibraryAwaitsItsGenerator) {
  const std::string rest =
      "[build]\narchs = [\"x86-64\"]\n[[codegen]]\nname = \"g\"\ngenerate = [\"g.py\", \"{out}\"]\n"
      "[library.l]\nsources = [\"w.cpp\"]\ncodegen = [\"g\"]\n";
  auto made = plan(rest);
  ASSERT_TRUE(made.has_value());
  EXPECT_TRUE(made->libraries.empty());
  EXPECT_THAT(made->ninja, HasSubstr("build build.ninja: hallmark_plan gen/g.list gen/hallmark.list"));
  generated_ = {{"g", {"a.cpp", "table.h"}}};
  made = plan(rest);
  ASSERT_TRUE(made.has_value());
  EXPECT_THAT(made->ninja, HasSubstr("build obj/l/g/a.cpp.o: compile_l_sources_cpu gen/g/a.cpp\n"));
  EXPECT_THAT(made->ninja, Not(HasSubstr("table.h")));
  EXPECT_EQ(made->libraries.size(), 1u);
}

}  // namespace
}  // namespace hallmark::kernels
