#include "kernels/texts.h"

#include <gmock/gmock.h>

namespace hallmark::kernels {
namespace {

using manifest::ToolchainKind;
using manifest::Value;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

class TextsTest : public ::testing::Test {
 protected:
  TextsTest() {
    declared_.name = "fmha";
    declared_.axes = {{"dtype", {}, {}}, {"causal", {}, {}}};
    kernel_.name = "fwd";
    kernel_.per_arch = true;
    plain_.name = "zero";
    library_.library = &declared_;
  }

  manifest::Unit unit(std::string name, const manifest::Kernel* kernel) const {
    manifest::Unit unit{std::move(name), kernel, ToolchainKind::cuda, "/k.cu", {}, {"sm_90a"}};
    unit.axes = {{"dtype", {Value::Kind::text, "f16"}}};
    return unit;
  }

  manifest::Library declared_;
  manifest::Kernel kernel_;
  manifest::Kernel plain_;
  manifest::ExpandedLibrary library_;
};

TEST_F(TextsTest, TheTableHasALineForEachUnitOfAKernel) {
  const auto text = variants_table(
      library_, {unit("fwd_f16_sm_90a", &kernel_), unit("zero_f16", &plain_), unit("wrapper", nullptr)});
  EXPECT_THAT(text, HasSubstr("HALLMARK_KERNEL(fwd, fwd_f16_sm_90a, cuda, sm_90a, f16, _)\n"
                              "HALLMARK_KERNEL(zero, zero_f16, cuda, _, f16, _)\n"));
  EXPECT_THAT(text, Not(HasSubstr("wrapper")));
}

TEST_F(TextsTest, DefinitionsNameTheVariant) {
  EXPECT_THAT(unit_definitions(unit("fwd_f16_sm_90a", &kernel_)),
              ElementsAre(Pair("HALLMARK_NAME", "fwd_f16_sm_90a"), Pair("HALLMARK_ARCH", "sm_90a"),
                          Pair("HALLMARK_AXIS_dtype", "f16")));
  EXPECT_THAT(unit_definitions(unit("zero_f16", &plain_)),
              ElementsAre(Pair("HALLMARK_NAME", "zero_f16"), Pair("HALLMARK_AXIS_dtype", "f16")));
}

TEST_F(TextsTest, AnInstanceHasItsValues) {
  const auto made = instance_of("void @HALLMARK_NAME@(@dtype@*); // a@b @p bra;", unit("fwd_f16", &kernel_));
  ASSERT_TRUE(made.has_value());
  EXPECT_EQ(*made, "void fwd_f16(f16*); // a@b @p bra;");
}

TEST_F(TextsTest, AnUnknownPlaceholderIsNamedWithItsLine) {
  const auto made = instance_of("x\n@dtpye@ y", unit("fwd_f16", &kernel_));
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().what, "2: @dtpye@ is no axis of this kernel");
  EXPECT_EQ(made.error().hint, "known are @HALLMARK_NAME@, @HALLMARK_ARCH@, @dtype@");
}

TEST_F(TextsTest, TheVersionScriptPartsCFromCxx) {
  const auto text = version_script({"fmha_*", "acme::fmha::*"});
  EXPECT_THAT(text, HasSubstr("{\n  global:\n    fmha_*;\n    extern \"C++\" {\n    acme::fmha::*;\n    };\n"
                              "  local:\n    *;\n};\n"));
}

TEST_F(TextsTest, EmbeddingQuotesItsPath) {
  EXPECT_THAT(embedding({{"a\"b\\c.co", "blob"}}), HasSubstr(".incbin \"a\\\"b\\\\c.co\""));
}

}  // namespace
}  // namespace hallmark::kernels
