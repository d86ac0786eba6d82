#include "inspect/includes.h"

#include <gtest/gtest.h>

namespace hallmark::inspect {
namespace {

/// "x.h" for one that is always read, "x.h?A,!B" with conditions, "x.h??" undecided.
std::vector<std::string> lines(std::string_view text) {
  std::vector<std::string> shown;
  for (const auto& include : includes_in(text).lines) {
    auto line = include.spelled;
    if (!include.conditions.empty()) line += "?";
    for (const auto& condition : include.conditions)
      line += (line.ends_with('?') ? "" : ",") + std::string(condition.defined ? "" : "!") + condition.macro;
    if (include.undecided) line += "??";
    shown.push_back(line);
  }
  return shown;
}

using Lines = std::vector<std::string>;

TEST(Includes, Forms) {
  const auto found = includes_in(
                         "#include \"a.h\"\n"
                         "  #  include <dir/b.h>  // why\n"
                         "\n"
                         "#include_next <c.h>\n"
                         "#/* x */include MACRO\n"
                         "#import \"d.h\"\n"
                         "#include\n#include <\n#include \"\"\nint include;\n# 12 \"x.h\"\n")
                         .lines;
  ASSERT_EQ(found.size(), 5U);
  EXPECT_EQ(found[0].spelled, "a.h");
  EXPECT_EQ(found[0].form, Include::Form::quoted);
  EXPECT_EQ(found[0].line, 1U);
  EXPECT_EQ(found[1].spelled, "dir/b.h");
  EXPECT_EQ(found[1].form, Include::Form::angled);
  EXPECT_TRUE(found[2].next);
  EXPECT_EQ(found[2].line, 4U);
  EXPECT_EQ(found[3].form, Include::Form::computed);
  EXPECT_EQ(found[3].spelled, "MACRO");
  EXPECT_EQ(found[4].spelled, "d.h");
}

TEST(Includes, CommentsStringsAndContinuedLines) {
  EXPECT_EQ(lines("/* #include \"no1.h\"\n#include \"no2.h\"\n*/ #include \"yes1.h\"\n"
                  "// \\\n#include \"no3.h\"\n"
                  "const char* t = \"/*\"; // \"\n"
                  "#include \"yes2.h\"\n"
                  "auto r = R\"x(\n#include \"no4.h\"\n)\" )x\";\n"
                  "#inc\\\nlude \"yes3.h\"\n"
                  "int n = 1'000; char q = '\"'; char e = '\\'';\n"
                  "#include \"yes4.h\"\n"
                  "x #include \"no5.h\"\n"
                  "#define f(x) \\\n#include \"no6.h\"\n"),
            (Lines{"yes1.h", "yes2.h", "yes3.h", "yes4.h"}));
}

TEST(Includes, Conditions) {
  EXPECT_EQ(lines("#ifdef A\n#include \"a.h\"\n#else\n#include \"b.h\"\n#endif\n#include \"c.h\"\n"),
            (Lines{"a.h?A", "b.h?!A", "c.h"}));
  EXPECT_EQ(lines("#if defined(A) && !defined B\n#include \"a.h\"\n#else\n#include \"b.h\"\n#endif\n"),
            (Lines{"a.h?A,!B", "b.h??"}));
  EXPECT_EQ(lines("#if A > 3\n#include \"a.h\"\n#else\n#include \"b.h\"\n#endif\n"),
            (Lines{"a.h??", "b.h??"}));
  EXPECT_EQ(lines("#if 0\n#include \"a.h\"\n#elif 1\n#include \"b.h\"\n#else\n#include \"c.h\"\n#endif\n"),
            Lines{"b.h"});
  EXPECT_EQ(lines("#if 1\n#include \"a.h\"\n#elif X\n#include \"b.h\"\n#else\n#include \"c.h\"\n#endif\n"),
            Lines{"a.h"});
  EXPECT_EQ(lines("#ifdef A\n#include \"a.h\"\n#elif 1\n#include \"b.h\"\n#else\n#include \"c.h\"\n#endif\n"),
            (Lines{"a.h?A", "b.h?!A"}));
  EXPECT_EQ(lines("#ifdef A\n#elif defined(B)\n#include \"b.h\"\n#else\n#include \"c.h\"\n#endif\n"),
            (Lines{"b.h?B,!A", "c.h??"}));
  EXPECT_EQ(lines("#ifdef A\n#ifdef B\n#include \"a.h\"\n#endif\n#include \"b.h\"\n#endif\n"),
            (Lines{"a.h?A,B", "b.h?A"}));
  EXPECT_EQ(lines("#if __has_include(<x>)\n#include <x>\n#endif\n"), Lines{"x??"});
}

TEST(Includes, AGuardIsNoCondition) {
  EXPECT_EQ(lines("// (c)\n#ifndef X_H\n#define X_H\n#include \"a.h\"\n#endif\n"), Lines{"a.h"});
  EXPECT_EQ(lines("#if !defined(X_H)\n#define X_H 1\n#include \"a.h\"\n#else\n#include \"b.h\"\n#endif\n"),
            Lines{"a.h"});
  EXPECT_EQ(lines("#ifndef X_H\n#define Y_H\n#include \"a.h\"\n#endif\n"), Lines{"a.h?!X_H"});
}

TEST(Includes, AGuardSpansTheWholeFile) {
  EXPECT_EQ(lines("#ifndef CONF\n#define CONF 1\n#include \"a.h\"\n#endif\n#include \"b.h\"\n"),
            (Lines{"a.h?!CONF", "b.h"}));
  EXPECT_EQ(lines("#pragma once\n#include \"b.h\"\n#ifndef CONF\n#define CONF 1\n#include \"a.h\"\n#endif\n"),
            (Lines{"b.h", "a.h?!CONF"}));
}

TEST(Includes, WhatTheFileDefinesItself) {
  EXPECT_EQ(includes_in("#define A 1\n#undef B\n#ifdef A\n#define C(x) x\n#endif\n").macros,
            (Lines{"A", "B", "C"}));
}

TEST(Includes, QuotesInDirectivesAndPrefixesOfLiterals) {
  EXPECT_EQ(
      lines("#define GLOB \"kernels/*\"\n#include \"a.h\"\n#if 0\n/* x */\n#include \"no.h\"\n#endif\n"),
      Lines{"a.h"});
  EXPECT_EQ(lines("int c = L'\"'; /*\n#include \"no.h\"\n*/ char d = u8'\"'; /*\n#include \"no.h\"\n*/\n"),
            Lines{});
  EXPECT_EQ(lines("#include \"a//b.h\"\n#error don't\n#include \"c.h\"\n"), (Lines{"a//b.h", "c.h"}));
}

TEST(Includes, ConditionsAreBounded) {
  std::string text;
  for (int i = 0; i < 200; ++i) text += "#ifdef A\n";
  const auto found = includes_in(text + "#include \"a.h\"\n");
  EXPECT_EQ(found.lines.at(0).conditions.size(), kIncludeConditions);
  EXPECT_TRUE(found.lines.at(0).undecided);
}

TEST(Includes, OddTextIsReadWithoutHarm) {
  EXPECT_EQ(lines("#endif\n#else\n#elif A\n#if\n#ifdef\n#include \"a"), Lines{});
  EXPECT_EQ(lines("#"), Lines{});
  EXPECT_EQ(lines("\\"), Lines{});
  EXPECT_EQ(lines("/*"), Lines{});
  EXPECT_EQ(lines("\"\\"), Lines{});
  EXPECT_EQ(lines("R\"("), Lines{});
}

}  // namespace
}  // namespace hallmark::inspect
