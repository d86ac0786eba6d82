#include "inspect/make_trace.h"

#include <gtest/gtest.h>

namespace hallmark::inspect {
namespace {

using Words = std::vector<std::string>;

TEST(MakeTrace, TargetsOfMakeAndItsSubMakes) {
  // As GNU Make 4.3 wrote it.
  const auto targets = parse_make_trace(
      "make: Entering directory '/m k'\n"
      "Makefile:12: target 'dir' does not exist\n"
      "mkdir dir\n"
      "Makefile:5: update target 'a.o' due to: a.c inc/k.h /usr/include/stdc-predef.h\n"
      "gcc -Iinc -MD -c a.c -o a.o && \\\n"
      "  echo done\n"
      "Makefile:3: update target 'all' due to: a.o prog\n"
      "make -C sub\n"
      "make[1]: Entering directory '/m k/sub'\n"
      "Makefile:2: update target 'x.o' due to: x.c\n"
      "gcc -c x.c -o x.o\n"
      "make[1]: Leaving directory '/m k/sub'\n"
      "echo not of x.o\n"
      "Makefile:9: update target 'none' due to: a.o\n"
      "make: Leaving directory '/m k'\n");
  ASSERT_EQ(targets.size(), 3U);
  EXPECT_EQ(targets[0].name, "a.o");
  EXPECT_EQ(targets[0].folder, "/m k");
  EXPECT_EQ(targets[0].prerequisites, (Words{"a.c", "inc/k.h", "/usr/include/stdc-predef.h"}));
  EXPECT_EQ(targets[0].recipe, "gcc -Iinc -MD -c a.c -o a.o && \\\n  echo done");
  EXPECT_EQ(targets[1].recipe, "make -C sub");
  EXPECT_EQ(targets[2].name, "x.o");
  EXPECT_EQ(targets[2].folder, "/m k/sub");
  EXPECT_EQ(targets[2].recipe, "gcc -c x.c -o x.o");
}

TEST(MakeTrace, OtherTextIsPassedOver) {
  EXPECT_TRUE(parse_make_trace("").empty());
  EXPECT_TRUE(parse_make_trace("Makefile:5: update target 'a' due to: b\ncc\n").empty()) << "in no folder";
  EXPECT_TRUE(
      parse_make_trace("make: Entering directory '/b'\necho: update target 'a' due to: b\ncc\n").empty());
  EXPECT_TRUE(parse_make_trace("make: Entering directory '/b'\nM:1: update target 'a' due to\ncc\n").empty());
  EXPECT_TRUE(parse_make_trace("make: Entering directory '\nmake: Leaving directory '").empty());
}

}  // namespace
}  // namespace hallmark::inspect
