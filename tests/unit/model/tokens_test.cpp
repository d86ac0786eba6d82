#include "model/tokens.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <chrono>

namespace hallmark::model {
namespace {

Tokens sample() {
  Tokens tokens;
  tokens.add("root", "/home/u/project");
  tokens.add("build", "/home/u/project/build");
  tokens.add("home", "/home/u");
  tokens.add("tmp", "/tmp");
  return tokens;
}

std::string fold(std::string_view text) {
  return sample().fold(text).value_or("nullopt");
}

#define ROOT \
  "\x01"     \
  "root"     \
  "\x02"
#define BUILD \
  "\x01"      \
  "build"     \
  "\x02"
#define HOME \
  "\x01"     \
  "home"     \
  "\x02"
#define TMP \
  "\x01"    \
  "tmp"     \
  "\x02"

TEST(Tokens, FoldPathsBelowAValue) {
  EXPECT_EQ(fold("/home/u/project/a.c"), ROOT "/a.c");
  EXPECT_EQ(fold("/home/u/project"), ROOT);
  EXPECT_EQ(fold("/home/u/.config"), HOME "/.config");
}

TEST(Tokens, TheLongestValueWins) {
  EXPECT_EQ(fold("/home/u/project/build/a.o"), BUILD "/a.o");
}

TEST(Tokens, OnlyWholeComponentsFold) {
  EXPECT_EQ(fold("/home/u/project2/a.c"), HOME "/project2/a.c");
  EXPECT_EQ(fold("/home/user/x"), "/home/user/x");
  EXPECT_EQ(fold("/tmp.old/x"), "/tmp.old/x");
}

TEST(Tokens, ValuesInTheMiddleOfAPathStay) {
  EXPECT_EQ(fold("/data/home/u/x"), "/data/home/u/x");
  EXPECT_EQ(fold("data/tmp/x"), "data/tmp/x");
  EXPECT_EQ(fold("../x/tmp"), "../x/tmp");
  EXPECT_EQ(fold("-Ix/tmp"), "-Ix/tmp");
  EXPECT_EQ(fold("/home/u/project/home/u/x"), ROOT "/home/u/x");
}

TEST(Tokens, OptionsAndListsFold) {
  EXPECT_EQ(fold("-I/home/u/project/include"), "-I" ROOT "/include");
  EXPECT_EQ(fold("-isystem/home/u/x"), "-isystem" HOME "/x");
  EXPECT_EQ(fold("-MF/tmp/d"), "-MF" TMP "/d");
  EXPECT_EQ(fold("--sysroot=/home/u/sdk"), "--sysroot=" HOME "/sdk");
  EXPECT_EQ(fold("/tmp:/home/u/bin:/usr/bin"), TMP ":" HOME "/bin:/usr/bin");
  EXPECT_EQ(fold("-Wl,-rpath,/home/u/project/build"), "-Wl,-rpath," BUILD);
  EXPECT_EQ(fold("-ffile-prefix-map=/home/u/project=."), "-ffile-prefix-map=" ROOT "=.");
  EXPECT_EQ(fold("a.o: /home/u/project/a.c \\\n /tmp/k.h"), "a.o: " ROOT "/a.c \\\n " TMP "/k.h");
  EXPECT_EQ(fold("\"/tmp/x\" '/tmp/y'"), "\"" TMP "/x\" '" TMP "/y'");
  EXPECT_EQ(fold("@/tmp/args.rsp"), "@" TMP "/args.rsp");
  EXPECT_EQ(fold("file:///tmp/x"), "file://" TMP "/x");
}

TEST(Tokens, TextWithoutValuesIsUnchanged) {
  EXPECT_EQ(fold(""), "");
  EXPECT_EQ(fold("/usr/include/stdio.h"), "/usr/include/stdio.h");
  EXPECT_EQ(fold("/"), "/");
}

TEST(Tokens, MarkersCannotBeFolded) {
  EXPECT_EQ(sample().fold("a\x01"
                          "b"),
            std::nullopt);
  EXPECT_EQ(sample().fold("a\x02"
                          "b"),
            std::nullopt);
}

TEST(Tokens, ValuesThatAreNoFoldersAreIgnored) {
  Tokens tokens;
  tokens.add("a", "/");
  tokens.add("b", "");
  tokens.add("c", "relative");
  tokens.add("d", "/trailing/");
  EXPECT_EQ(tokens.value_of("a"), nullptr);
  EXPECT_EQ(tokens.value_of("d"), nullptr);
  EXPECT_EQ(tokens.fold("/trailing/x relative"), "/trailing/x relative");
}

TEST(Tokens, EarlierTokensOfEqualValueWin) {
  Tokens tokens;
  tokens.add("first", "/same");
  tokens.add("second", "/same");
  EXPECT_EQ(tokens.fold("/same/x"),
            "\x01"
            "first"
            "\x02/x");
  ASSERT_NE(tokens.value_of("second"), nullptr);
  EXPECT_EQ(*tokens.value_of("second"), "/same");
}

TEST(Tokens, UnfoldPutsOtherValuesIn) {
  Tokens other;
  other.add("root", "/src");
  EXPECT_EQ(other.unfold(ROOT "/a.c"), "/src/a.c");
  EXPECT_EQ(other.unfold("-I" ROOT ":" ROOT "/b"), "-I/src:/src/b");
}

TEST(Tokens, UnfoldRefusesWhatItCannotKnow) {
  EXPECT_EQ(sample().unfold("\x01nobody\x02/x"), std::nullopt);
  EXPECT_EQ(sample().unfold("\x01root"), std::nullopt);
  EXPECT_EQ(sample().unfold("root\x02"), std::nullopt);
}

TEST(Tokens, MentionsAreFoundAnywhere) {
  const Tokens tokens = sample();
  EXPECT_EQ(tokens.mentioned_in("xx/home/u/projectile"), (std::vector<std::string>{"root", "home"}));
  EXPECT_EQ(tokens.mentioned_in("nothing / here //"), std::vector<std::string>{});
  const std::string_view binary(
      "\0\x7f"
      "ELF\0/tmp\0/home/u",
      18);
  EXPECT_EQ(tokens.mentioned_in(binary), (std::vector<std::string>{"home", "tmp"}));
  EXPECT_EQ(tokens.mentioned_in(""), std::vector<std::string>{});
  EXPECT_EQ(tokens.mentioned_in("/tm"), std::vector<std::string>{});
}

/// Texts that are likely to hold values, parts of values and what stands around them.
rc::Gen<std::string> texts() {
  const auto piece = rc::gen::element<std::string>("/home/u", "/home/u/project", "/home", "/u", "/project",
                                                   "/build", "/tmp", "/", "a", "-I", "-isystem", ":", "=",
                                                   " ", "x/", "..", "\n", "/x.h", "\"");
  return rc::gen::map(rc::gen::container<std::vector<std::string>>(piece),
                      [](const std::vector<std::string>& pieces) {
                        std::string text;
                        for (const std::string& p : pieces) text += p;
                        return text;
                      });
}

RC_GTEST_PROP(TokensProperty, FoldingGoesBack, ()) {
  const std::string text = *texts();
  const Tokens tokens = sample();
  const auto folded = tokens.fold(text);
  RC_ASSERT(folded.has_value());
  RC_ASSERT(tokens.unfold(*folded) == text);
}

RC_GTEST_PROP(TokensProperty, WhatFoldsIsMentioned, ()) {
  const std::string text = *texts();
  const Tokens tokens = sample();
  const auto mentioned = tokens.mentioned_in(text);
  const std::string folded = *tokens.fold(text);
  for (const std::string name : {"root", "build", "home", "tmp"}) {
    const bool used = folded.find("\x01" + name + "\x02") != std::string::npos;
    if (used) RC_ASSERT(std::find(mentioned.begin(), mentioned.end(), name) != mentioned.end());
    const bool there = text.find(*tokens.value_of(name)) != std::string::npos;
    RC_ASSERT(there == (std::find(mentioned.begin(), mentioned.end(), name) != mentioned.end()));
  }
}

/// The reason for tokens: the same tree elsewhere folds to the same text.
RC_GTEST_PROP(TokensProperty, MovedTreesFoldAlike, ()) {
  const std::string folded = *sample().fold(*texts());
  Tokens moved;
  moved.add("root", "/mnt/w");
  moved.add("build", "/mnt/w/out");
  moved.add("home", "/root");
  moved.add("tmp", "/var/tmp");
  const auto text = moved.unfold(folded);
  RC_ASSERT(text.has_value());
  RC_ASSERT(moved.unfold(*moved.fold(*text)) == *text);
}

}  // namespace
}  // namespace hallmark::model
