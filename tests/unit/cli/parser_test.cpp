#include "cli/parser.h"

#include <gtest/gtest.h>

#include <initializer_list>

namespace hallmark::cli {
namespace {

using Words = std::vector<std::string_view>;

Parsed parsed(const Words& words) {
  auto result = parse(words);
  EXPECT_TRUE(result.has_value()) << result.error().message();
  return result.has_value() ? *std::move(result) : Parsed();
}

std::string error_of(const Words& words) {
  const auto result = parse(words);
  return result.has_value() ? "no error" : result.error().message();
}

TEST(Parser, TheCommandBeginsBehindTheDashes) {
  const Parsed found = parsed({"run", "--depfile", "a.d", "--restat", "--", "g++", "-c", "--", "a.cpp"});
  EXPECT_EQ(found.verb->name, "run");
  EXPECT_EQ(found.value("--depfile"), "a.d");
  EXPECT_TRUE(found.has("--restat"));
  EXPECT_FALSE(found.has("--cache"));
  EXPECT_EQ(found.operands, (Words{"g++", "-c", "--", "a.cpp"}));
}

TEST(Parser, TheFirstWordThatIsNoFlagBeginsTheCommand) {
  const Parsed found = parsed({"run", "--json", "nvcc", "--depfile", "its-own", "--help"});
  EXPECT_TRUE(found.has("--json"));
  EXPECT_FALSE(found.has("--depfile"));
  EXPECT_FALSE(found.has("--help"));
  EXPECT_EQ(found.operands, (Words{"nvcc", "--depfile", "its-own", "--help"}));
}

TEST(Parser, ValuesMayFollowAnEqualsSign) {
  const Parsed found = parsed({"run", "--depfile=x=y", "--output=a", "--output", "b", "true"});
  EXPECT_EQ(found.value("--depfile"), "x=y");
  EXPECT_EQ(found.values("--output"), (std::vector<std::string>{"a", "b"}));
}

TEST(Parser, AValueMayLookLikeAFlag) {
  EXPECT_EQ(parsed({"run", "--depfile", "--odd", "true"}).value("--depfile"), "--odd");
}

TEST(Parser, VerbsMayHaveTwoWords) {
  EXPECT_EQ(parsed({"cache", "verify", "--repair"}).verb->name, "cache verify");
  EXPECT_EQ(parsed({"why", "--last-miss", "--root", "/x"}).value("--root"), "/x");
  EXPECT_EQ(parsed({"completions", "zsh"}).operands, Words{"zsh"});
}

TEST(Parser, HelpMayNameAVerb) {
  EXPECT_EQ(parsed({"help"}).topic, nullptr);
  EXPECT_EQ(parsed({"help", "run"}).topic, find_verb("run"));
  EXPECT_EQ(parsed({"help", "cache", "verify"}).topic, find_verb("cache verify"));
}

TEST(Parser, HelpNeedsNoOperands) {
  EXPECT_TRUE(parsed({"run", "--help"}).has("--help"));
  EXPECT_TRUE(parsed({"completions", "-h"}).has("--help"));
}

struct Refused {
  Words words;
  std::string_view part;
};

class BadWords : public testing::TestWithParam<Refused> {};

TEST_P(BadWords, AreRefusedInOneLineThatHelps) {
  const std::string error = error_of(GetParam().words);
  EXPECT_NE(error.find(GetParam().part), std::string::npos) << error;
  EXPECT_EQ(error.find('\n'), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(
    Parser, BadWords,
    testing::Values(Refused{{}, "no verb was given"}, Refused{{"rnu", "x"}, "did you mean `run`?"},
                    Refused{{"gcc", "-c", "a.c"}, "hallmark run -- CMD"},
                    Refused{{"cache"}, "write `cache stats` or `cache verify`"},
                    Refused{{"cache", "gc"}, "`cache` wants one more word"},
                    Refused{{"run"}, "no command was given"}, Refused{{"run", "--"}, "no command was given"},
                    Refused{{"run", "--", ""}, "no command was given"},
                    Refused{{"run", "--depfil", "x", "--", "true"}, "did you mean `--depfile`?"},
                    Refused{{"run", "--depfile"}, "`--depfile` wants a value; write --depfile F"},
                    Refused{{"run", "--depfile=", "true"}, "empty value"},
                    Refused{{"run", "--restat=yes", "true"}, "`--restat` takes no value"},
                    Refused{{"run", "--depfile", "a", "--depfile", "b", "true"}, "given twice"},
                    Refused{{"run", "-j4", "true"}, "has no flag `-j4`"},
                    Refused{{"run", "--output", "--", "true"}, "`--output` wants a value"},
                    Refused{{"run", "--nope", "--", "true"}, "`hallmark run --help` lists what it takes"},
                    Refused{{"doctor", "now"}, "does not take `now`"},
                    Refused{{"completions"}, "wants one SHELL"},
                    Refused{{"help", "rnu"}, "did you mean `run`?"},
                    Refused{{"help", "cache"}, "write `cache stats` or `cache verify`"},
                    Refused{{"help", "run", "gcc"}, "does not take `gcc`"},
                    Refused{{"completions", "tcsh"}, "use one of bash, zsh, fish"}));

}  // namespace
}  // namespace hallmark::cli
