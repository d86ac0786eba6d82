#include "cli/help.h"

#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "cli/run_report.h"

namespace hallmark::cli {
namespace {

TEST(Table, NamesAreUniqueAndTextsFollowTheHouseStyle) {
  std::set<std::string_view> names;
  for (const Verb& verb : verbs()) {
    EXPECT_TRUE(names.insert(verb.name).second) << verb.name;
    EXPECT_FALSE(verb.summary.empty() || verb.summary.ends_with('.')) << verb.name;
    EXPECT_EQ(verb.operand.empty(), verb.operands == Operands::none) << verb.name;
    std::set<std::string_view> flags;
    for (const Flag& flag : verb.flags) {
      EXPECT_TRUE(flags.insert(flag.name).second) << verb.name << " " << flag.name;
      EXPECT_TRUE(flag.name.starts_with("--")) << flag.name;
      EXPECT_FALSE(flag.help.empty() || flag.help.ends_with('.')) << flag.name;
    }
    EXPECT_EQ(find_verb(verb.name), &verb);
  }
}

TEST(Help, ShowsEveryFlagWithItsValue) {
  for (const Verb& verb : verbs()) {
    const std::string help = help_of(verb);
    for (const Flag& flag : verb.flags)
      EXPECT_NE(help.find("  " + std::string(flag.name)), std::string::npos) << flag.name;
    EXPECT_NE(help.find("Usage: hallmark " + std::string(verb.name)), std::string::npos);
  }
  EXPECT_EQ(synopsis(*find_verb("run")),
            "hallmark run [--depfile F] [--output P]... [--restat] [--root DIR] [--stamp] [--cache] [--json] "
            "[--explain] [--] CMD...");
}

TEST(Help, LinesFitAnOrdinaryTerminal) {
  std::vector<std::string> texts = {overview()};
  for (const Verb& verb : verbs()) texts.push_back(help_of(verb));
  for (const std::string& text : texts) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
  }
}

TEST(Help, HiddenVerbsAreNotShown) {
  ASSERT_NE(find_verb("compile-config"), nullptr);
  for (const std::string& text :
       {overview(), manual("1"), completions("bash"), completions("zsh"), completions("fish")})
    EXPECT_EQ(text.find("compile-config"), std::string::npos);
}

TEST(Help, CompletionsOfferVerbsBehindHelp) {
  EXPECT_NE(
      completions("bash").find(
          "    help) words=\"run build verify audit test which-tests inspect why manifest cache config"),
      std::string::npos)
      << completions("bash");
  EXPECT_NE(completions("fish").find("__fish_seen_subcommand_from help' -a run\n"), std::string::npos);
  EXPECT_NE(completions("zsh").find(
                "'1:word:(run build verify audit test which-tests inspect why manifest cache config"),
            std::string::npos);
}

TEST(Manual, HoldsEveryVerbFlagVariableAndExitCode) {
  const std::string page = manual("1.2.3");
  EXPECT_TRUE(page.starts_with(".TH HALLMARK 1 \"\" \"hallmark 1.2.3\""));
  for (const Verb& verb : verbs())
    for (const Flag& flag : verb.hidden ? std::span<const Flag>() : verb.flags)
      EXPECT_NE(page.find("\\-\\-" + std::string(flag.name.substr(2, flag.name.find('-', 2) - 2))),
                std::string::npos)
          << flag.name;
  for (const Described& each : described_variables()) EXPECT_NE(page.find(each.name), std::string::npos);
  for (const Described& each : described_exit_codes())
    EXPECT_NE(page.find(".B " + std::string(each.name) + "\n"), std::string::npos);
}

TEST(Manual, NoLineOfTextIsTakenForAMacro) {
  std::istringstream lines(manual("1"));
  const std::set<std::string> macros = {".TH", ".SH", ".SS", ".TP", ".B", ".br", ".PP"};
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('.')) {
      EXPECT_TRUE(macros.contains(line.substr(0, line.find(' ')))) << line;
    }
    EXPECT_FALSE(line.starts_with('\'')) << line;
  }
}

TEST(Report, DurationsReadWell) {
  EXPECT_EQ(duration_text(1'240'000), "1.2 ms");
  EXPECT_EQ(duration_text(340'000'000), "340 ms");
  EXPECT_EQ(duration_text(3'250'000'000), "3.2 s");
  EXPECT_EQ(duration_text(245'000'000'000), "4 min 5 s");
  EXPECT_EQ(duration_text(0), "0.0 ms");
}

TEST(Report, JsonIsOneLineWhateverTheBytes) {
  engine::RunResult result;
  result.outcome = engine::Outcome::published;
  result.reasons = {{model::ReasonCode::content_changed, "a\xff\n\"b", "", ""}};
  result.warnings = {"careful"};
  const std::string line = to_json(result);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  EXPECT_NE(line.find("\"outcome\":\"published\""), std::string::npos);
  EXPECT_NE(line.find("a\xEF\xBF\xBD\\n\\\"b"), std::string::npos);
  EXPECT_NE(line.find("\"strong_key\":null"), std::string::npos);
}

TEST(Report, ExplainNamesEachReason) {
  engine::RunResult result;
  result.outcome = engine::Outcome::unproven;
  result.wall_ns = 2'000'000'000;
  result.reasons = {{model::ReasonCode::content_changed, "/src/a.h", "", ""},
                    {model::ReasonCode::network_used, "1.2.3.4:80", "", ""}};
  const std::string text = explain(result);
  EXPECT_NE(text.find("hallmark: executed in 2.0 s, not recorded"), std::string::npos) << text;
  EXPECT_NE(text.find("/src/a.h"), std::string::npos);
  EXPECT_NE(text.find("1.2.3.4:80"), std::string::npos);
}

}  // namespace
}  // namespace hallmark::cli
