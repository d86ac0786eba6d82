#include "kernels/ninja_file.h"

#include <gmock/gmock.h>

namespace hallmark::kernels {
namespace {

TEST(NinjaFileTest, EscapesWhatNinjaTakesForSyntax) {
  EXPECT_EQ(ninja_value("a $ORIGIN b"), "a $$ORIGIN b");
  NinjaFile file;
  file.edges.push_back({{"o ut:1"}, "cc", {"a$b"}, {"i"}, {"o"}, {{"name", "x"}}});
  EXPECT_THAT(text_of(file), ::testing::HasSubstr("build o$ ut$:1: cc a$$b | i || o\n  name = x\n"));
}

TEST(NinjaFileTest, WritesAllParts) {
  NinjaFile file;
  file.variables = {{"builddir", "."}};
  file.pools = {{"heavy", 2}};
  file.rules = {{"cc", {{"command", "cc $in"}, {"pool", "heavy"}}}};
  file.edges = {{{"a.o"}, "cc", {"a.c"}}};
  file.defaults = {"a.o"};
  EXPECT_EQ(text_of(file),
            "# Made by `hallmark build` from hallmark.toml, and made again when that changes: edits here are "
            "lost.\n"
            "ninja_required_version = 1.8\n"
            "builddir = .\n"
            "\npool heavy\n  depth = 2\n"
            "\nrule cc\n  command = cc $in\n  pool = heavy\n"
            "\nbuild a.o: cc a.c\n"
            "\ndefault a.o\n");
}

}  // namespace
}  // namespace hallmark::kernels
