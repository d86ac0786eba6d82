#include "engine/make_text.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace hallmark::engine {
namespace {

/// The text as it is where it cannot be parsed.
std::string with_more(std::string_view text, const std::vector<std::string>& more) {
  const auto parsed = parse_make_text(text);
  return parsed ? with_prerequisites(text, *parsed, more) : std::string(text);
}

using Words = std::vector<std::string>;

/// Each rule as "targets | prerequisites", words in brackets; "no rules" if it is no such file.
Words rules_of(std::string_view text) {
  const auto parsed = parse_make_text(text);
  if (!parsed) return {"no rules"};
  Words rules;
  for (const auto& rule : parsed->rules) {
    std::string line;
    for (const auto& target : rule.targets) line += "[" + target + "]";
    line += " |";
    for (const auto& prerequisite : rule.prerequisites) line += " [" + prerequisite + "]";
    rules.push_back(line);
  }
  return rules;
}

TEST(MakeText, ReadsWhatCompilersWrite) {
  EXPECT_EQ(rules_of("a.o: a.c a.h\n"), Words{"[a.o] | [a.c] [a.h]"});
  EXPECT_EQ(rules_of("a.o: a.c \\\n a.h \\\n  b.h\n"), Words{"[a.o] | [a.c] [a.h] [b.h]"});
  EXPECT_EQ(rules_of("a.o a.d : a.c"), Words{"[a.o][a.d] | [a.c]"});
  EXPECT_EQ(rules_of("a.o:\\\n a.c\n"), Words{"[a.o] | [a.c]"});
  EXPECT_EQ(rules_of("a.o:\n"), Words{"[a.o] |"});
  EXPECT_EQ(rules_of("a.o:"), Words{"[a.o] |"});
  EXPECT_EQ(rules_of("a.o : a.c \\\n    a.h \\\n\n"), Words{"[a.o] | [a.c] [a.h]"}) << "nvcc's end";
  EXPECT_EQ(rules_of("a.o: a.c\\\n a.h\n"), Words{"[a.o] | [a.c] [a.h]"});
  EXPECT_EQ(rules_of("\n\t\na.o: a.c\n\n\na.c:\n\nb.o: b.c\n"),
            (Words{"[a.o] | [a.c]", "[a.c] |", "[b.o] | [b.c]"}));
}

TEST(MakeText, ReadsOtherLineEnds) {
  EXPECT_EQ(rules_of("a.o: a.c \\\r\n a.h\r\n\r\na.h:\r\n"), (Words{"[a.o] | [a.c] [a.h]", "[a.h] |"}));
}

TEST(MakeText, ReadsProtectedCharacters) {
  EXPECT_EQ(rules_of("a.o: my\\ file.h b\\\tc"), (Words{"[a.o] | [my file.h] [b\tc]"}));
  EXPECT_EQ(rules_of(R"(a.o: \#x.h x\#)"), Words{"[a.o] | [#x.h] [x#]"});
  EXPECT_EQ(rules_of("a.o: $$x.h x$$ a$b"), Words{"[a.o] | [$x.h] [x$] [a$b]"});
  EXPECT_EQ(rules_of(R"(a.o: x\\ y.h x\\\ y.h a\b)"), Words{R"([a.o] | [x\] [y.h] [x\ y.h] [a\b])"});
  EXPECT_EQ(rules_of(R"(a\:b.o: x\:y)"), Words{"[a:b.o] | [x:y]"});
}

TEST(MakeText, ColonsInsideAWordEndNoTarget) {
  EXPECT_EQ(rules_of("C:/a.o: C:/a.c d:e\n"), Words{"[C:/a.o] | [C:/a.c] [d:e]"});
  EXPECT_EQ(rules_of("a.o: c:\\ d.h\n"), Words{"[a.o] | [c: d.h]"}) << "as gcc writes the name \"c: d.h\"";
}

/// gcc writes one backslash before a `#`, whatever stands before it; Ninja takes one away.
TEST(MakeText, ABackslashBeforeAHashIsOneOfTheName) {
  EXPECT_EQ(rules_of("a.o: h\\\\#i.h h\\\\\\#j.h\n"), Words{"[a.o] | [h\\#i.h] [h\\\\#j.h]"});
  EXPECT_EQ(escape_for_make("h\\#i.h"), "h\\\\#i.h");
}

TEST(MakeText, CommentsAreSkipped) {
  EXPECT_EQ(rules_of("# DO NOT DELETE\na.o: a.c\n  # more\nb.o: b.c #x\n"),
            (Words{"[a.o] | [a.c]", "[b.o] | [b.c] [#x]"}));
  EXPECT_EQ(rules_of("# only\n"), Words{"no rules"});
}

TEST(MakeText, RefusesOtherFiles) {
  for (const std::string_view text :
       {"", "\n\n", "words without an end", "CC = gcc\na.o: a.c\n", "CC := gcc\n", "a.o: a.c\n\tgcc -c a.c\n",
        ": a.c\n", "a: b: c\n", "int main() { return 0; }\n"})
    EXPECT_EQ(rules_of(text), Words{"no rules"}) << text;
  EXPECT_EQ(rules_of(std::string_view("a.o: a\0c\n", 9)), Words{"no rules"});
}

TEST(MakeText, PhonyTargetsStandBehindTheFirstRule) {
  EXPECT_TRUE(parse_make_text("a.o: a.c a.h\n\na.h:\n")->has_phony_targets());
  EXPECT_FALSE(parse_make_text("a.o:\nb.o: b.c\n")->has_phony_targets());
  EXPECT_FALSE(parse_make_text("a.o: a.c\nb.o: b.c\n")->has_phony_targets());
}

TEST(MakeText, Escapes) {
  EXPECT_EQ(escape_for_make("/r/a b#c$d"), "/r/a\\ b\\#c$$d");
  EXPECT_EQ(escape_for_make("a\tb"), "a\\\tb");
  EXPECT_EQ(escape_for_make("a\\ b"), "a\\\\\\ b");
  EXPECT_EQ(escape_for_make("a\\b"), "a\\b");
}

TEST(MakeText, RefusesNamesThatTheSyntaxCannotCarry) {
  for (const char* name : {"a\nb", "a\rb", "a\\", "a:", "a\\:b", ""})
    EXPECT_EQ(escape_for_make(name), std::nullopt) << name;
  EXPECT_EQ(rules_of(make_rule("a.o", {"x", "y:", "a\nb", "z\\", "w"})), Words{"[a.o] | [x] [w]"});
  EXPECT_EQ(rules_of(with_more("a.o: a.c\n", {"a\nb", "x"})), Words{"[a.o] | [a.c] [x]"});
  EXPECT_EQ(phony_targets({"a\nb", "x"}), "x:\n");
}

TEST(MakeText, MakesARuleWithALineForEach) {
  EXPECT_EQ(make_rule("a.o", {"a.c", "my h"}), "a.o: \\\n  a.c \\\n  my\\ h\n");
  EXPECT_EQ(make_rule("a.o", {}), "a.o:\n");
  EXPECT_EQ(phony_targets({"a.h", "my h"}), "a.h:\nmy\\ h:\n");
}

TEST(MakeText, AddsToTheFirstRuleOnly) {
  EXPECT_EQ(with_more("a.o: a.c \\\n a.h\n\na.h:\n", {"x y", "z"}),
            "a.o: a.c \\\n a.h \\\n  x\\ y \\\n  z\n\na.h:\n");
  EXPECT_EQ(with_more("a.o: a.c", {"x"}), "a.o: a.c \\\n  x\n");
  EXPECT_EQ(with_more("\n\na.o: a.c\nb.o: b.c\n", {"x"}), "\n\na.o: a.c \\\n  x\nb.o: b.c\n");
  EXPECT_EQ(with_more("a.o: a.c\n", {}), "a.o: a.c\n");
  EXPECT_EQ(with_more("no rule\n", {"x"}), "no rule\n");
}

TEST(MakeText, AddsWhereALineGoesOnIntoNothing) {
  for (const char* text : {"a.o : a.c \\\n    a.h \\\n\n", "a.o : a.c a.h \\\n", "a.o : a.c a.h \\",
                           "a.o : a.c a.h\\\n\n", "a.o : a.c a.h \\\r\n\r\n"})
    EXPECT_EQ(rules_of(with_more(text, {"x"})), Words{"[a.o] | [a.c] [a.h] [x]"}) << text;
}

TEST(MakeText, AddsBehindCommentsAndOtherLineEnds) {
  EXPECT_EQ(rules_of(with_more("# made by a tool\na.o: a.c\n", {"x"})), Words{"[a.o] | [a.c] [x]"});
  EXPECT_EQ(rules_of(with_more("a.o: a.c\r\n\r\na.c:\r\n", {"x"})), (Words{"[a.o] | [a.c] [x]", "[a.c] |"}));
}

/// Names of everything that is special somewhere in the syntax.
rc::Gen<std::string> names() {
  const auto piece = rc::gen::element<std::string>("a", "/", " ", "\t", "#", "$", "\\", ":", "%", ".", "é",
                                                   "x.h", "../", "$$", "\\ ", "=");
  const auto joined = rc::gen::map(rc::gen::nonEmpty(rc::gen::container<Words>(piece)), [](const Words& all) {
    std::string name;
    for (const auto& part : all) name += part;
    return name;
  });
  return rc::gen::suchThat(joined, [](const std::string& name) { return escape_for_make(name).has_value(); });
}

RC_GTEST_PROP(MakeTextProperty, RulesAreReadAsTheyWereMeant, ()) {
  const auto wanted = *rc::gen::container<Words>(names());
  const auto parsed = parse_make_text(make_rule("out dir/a.o", wanted));
  RC_ASSERT(parsed.has_value());
  RC_ASSERT(parsed->rules.size() == 1u);
  RC_ASSERT(parsed->rules[0].targets == Words{"out dir/a.o"});
  RC_ASSERT(parsed->rules[0].prerequisites == wanted);
}

RC_GTEST_PROP(MakeTextProperty, WhatIsAddedJoinsWhatIsThere, ()) {
  const auto first = *rc::gen::container<Words>(names());
  const auto more = *rc::gen::container<Words>(names());
  const auto parsed = parse_make_text(with_more(make_rule("a.o", first) + "\nb.o: b.c\n", more));
  RC_ASSERT(parsed.has_value());
  RC_ASSERT(parsed->rules.size() == 2u);
  auto all = first;
  all.insert(all.end(), more.begin(), more.end());
  RC_ASSERT(parsed->rules[0].prerequisites == all);
  RC_ASSERT(parsed->rules[1].prerequisites == Words{"b.c"});
}

TEST(MakeText, AReturnInsideOfALineIsRefused) {
  EXPECT_FALSE(parse_make_text("a.o:\r\\\r").has_value());
  EXPECT_FALSE(parse_make_text("a.o: b\rc\n").has_value());
  EXPECT_TRUE(parse_make_text("a.o: b \\\r\n c\r\n").has_value());
  EXPECT_EQ(with_more("a.o: b\\\r", {"new"}), "a.o: b\\\r");
}

RC_GTEST_PROP(MakeTextProperty, AnyBytesAreReadOrRefused, ()) {
  const auto piece =
      rc::gen::element<std::string>("a.o:", " ", "\\", "\n", "\r", "#", "$", ":", "x", "\t", "=", "\\\n");
  std::string text;
  for (const auto& part : *rc::gen::container<Words>(piece)) text += part;
  const auto parsed = parse_make_text(text);
  const auto longer = with_more(text, {"new"});
  if (!parsed) {
    RC_ASSERT(longer == text);
    return;
  }
  const auto again = parse_make_text(longer);
  RC_ASSERT(again.has_value());
  auto wanted = parsed->rules[0].prerequisites;
  wanted.push_back("new");
  RC_ASSERT(again->rules[0].prerequisites == wanted);
  RC_ASSERT(again->rules.size() == parsed->rules.size());
}

}  // namespace
}  // namespace hallmark::engine
