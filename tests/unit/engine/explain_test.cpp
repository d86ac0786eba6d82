// Why a command ran: each miss names what differs.
#include "engine/explain.h"

#include <gtest/gtest.h>

#include "base/limits.h"
#include "engine/answers.h"
#include "unit/engine/engine_world.h"

namespace hallmark::engine {
namespace {

using model::ReasonCode;
using test::Lines;
using test::Play;

class ExplainTest : public test::EngineTest {
 protected:
  /// The Reasons of the next run before "published", as "code subject: before -> after".
  Lines why() {
    Lines lines;
    for (const auto& reason : run().reasons) {
      if (reason.code == ReasonCode::published) break;
      std::string line(model::name_of(reason.code));
      if (!reason.subject.empty()) line += " " + reason.subject;
      if (!reason.before.empty() || !reason.after.empty())
        line += ": " + reason.before + " -> " + reason.after;
      lines.push_back(line);
    }
    return lines;
  }
  static std::string shown(std::string_view bytes) {
    return describe(answer_digest(digest::digest_of(bytes)));
  }
};

TEST_F(ExplainTest, AFirstRun) {
  EXPECT_EQ(why(), Lines{"first_run"});
}

TEST_F(ExplainTest, AChangedInput) {
  ASSERT_EQ(outcome(), "published");
  edit("/r/a.h", "int b;\n");
  EXPECT_EQ(why(), Lines{"content_changed /r/a.h: " + shown("int a;\n") + " -> " + shown("int b;\n")});
}

TEST_F(ExplainTest, SeveralChangedInputs) {
  ASSERT_EQ(outcome(), "published");
  edit("/r/a.h", "int b;\n");
  edit("/usr/bin/g++", "a new compiler", 0755);
  EXPECT_EQ(why(), (Lines{"content_changed /r/a.h: " + shown("int a;\n") + " -> " + shown("int b;\n"),
                          "content_changed /usr/bin/g++: " +
                              shown("\x7f"
                                    "ELF: the compiler") +
                              " -> " + shown("a new compiler")}));
}

TEST_F(ExplainTest, AHeaderThatAppearedEarlierInTheSearchPath) {
  ASSERT_EQ(outcome(), "published");
  edit("/r/include/a.h", "int c;\n");
  EXPECT_EQ(why(), Lines{"appeared /r/include/a.h: absent -> file"});
}

TEST_F(ExplainTest, AnInputThatIsGone) {
  ASSERT_EQ(outcome(), "published");
  remove("/r/a.h");
  EXPECT_EQ(why(), Lines{"vanished /r/a.h: " + shown("int a;\n") + " -> absent"});
}

TEST_F(ExplainTest, AnotherKindOfNode) {
  runner_.script = [this](Play& play) {
    compile(play);
    play.look("/r/include");
  };
  ASSERT_EQ(outcome(), "published");
  (void)disk_.remove_folder("/r/include");
  edit("/r/include", "a file");
  EXPECT_EQ(why(), Lines{"kind_changed /r/include: folder -> file"});
}

TEST_F(ExplainTest, AListing) {
  runner_.script = [this](Play& play) {
    compile(play);
    play.list("/r/include");
    play.write("/r/include/own", "");
  };
  ASSERT_EQ(outcome(), "published");
  ASSERT_EQ(outcome(), "replayed") << "its own name does not count";
  edit("/r/include/x.h", "");
  EXPECT_EQ(why(), Lines{"listing_changed /r/include"});
}

TEST_F(ExplainTest, ALink) {
  (void)disk_.make_link("a.h", "/r/link.h");
  runner_.script = [this](Play& play) {
    compile(play);
    play.follow("/r/link.h");
  };
  ASSERT_EQ(outcome(), "published");
  (void)disk_.remove("/r/link.h");
  (void)disk_.make_link("/r/b.h", "/r/link.h");
  EXPECT_EQ(why(), Lines{"link_changed /r/link.h: a.h -> /r/b.h"});
}

TEST_F(ExplainTest, SizesAndTimes) {
  command_.argv = {"python3", "gen.py"};
  options_.cache_any = true;
  runner_.script = [](Play& play) {
    play.look("/r/a.h");
    play.write("/r/out", "");
  };
  ASSERT_EQ(outcome(), "published");
  const auto before = std::to_string(stat_of("/r/a.h").mtime_ns);
  edit("/r/a.h", "longer than before\n");
  EXPECT_EQ(why(),
            (Lines{"attribute_changed /r/a.h: 7 -> 19", "attribute_changed /r/a.h: " + before + " -> " +
                                                            std::to_string(stat_of("/r/a.h").mtime_ns)}));
}

TEST_F(ExplainTest, AProgramInFrontOfAnother) {
  disk_.put("/opt/bin/none", "");
  command_.environment["PATH"] = "/opt/bin:/usr/bin";
  ASSERT_EQ(outcome(), "published");
  edit("/opt/bin/g++", "another compiler", 0755);
  EXPECT_EQ(why(), Lines{"program_changed g++: /usr/bin/g++ -> /opt/bin/g++"});
}

TEST_F(ExplainTest, ASonameTheMachineAndABoundValue) {
  const Bindings bindings(command_, "/r", "", "");
  const auto reason = [&](model::Aspect aspect, const char* subject) {
    return changed_answer({aspect, subject}, answer_text("1"), answer_text("2"), bindings);
  };
  EXPECT_EQ(reason(model::Aspect::soname, "libc.so.6").code, ReasonCode::loader_changed);
  EXPECT_EQ(reason(model::Aspect::machine, "cpu").code, ReasonCode::machine_changed);
  EXPECT_EQ(reason(model::Aspect::bound, "HOME").code, ReasonCode::bound_value_changed);
  EXPECT_EQ(reason(model::Aspect::stdin_bytes, "").code, ReasonCode::stdin_changed);
  EXPECT_EQ(reason(model::Aspect::bound, "HOME").subject, "HOME");
  EXPECT_EQ(reason(model::Aspect::bound, "HOME").after, "2");
}

TEST_F(ExplainTest, AnAnswerThatCannotBeToldIsNoAbsence) {
  const Bindings bindings(command_, "/r", "", "");
  const auto reason = changed_answer({model::Aspect::content, "/r/a.h"}, answer_absent(),
                                     answer_unknown("permission denied"), bindings);
  EXPECT_EQ(reason.code, ReasonCode::content_changed);
  EXPECT_EQ(reason.after, "cannot be told: permission denied");
}

TEST_F(ExplainTest, AnArgumentInTheMiddle) {
  command_.argv = {"g++", "-O2", "-c", "a.cpp", "-o", "a.o"};
  ASSERT_EQ(outcome(), "published");
  command_.argv[1] = "-O3";
  EXPECT_EQ(why(), Lines{"argument_changed 1: -O2 -> -O3"});
  command_.argv.insert(command_.argv.begin() + 2, "-g");
  EXPECT_EQ(why(), Lines{"argument_changed 2: (unset) -> -g"}) << "words behind it are not changed";
  command_.argv.erase(command_.argv.begin() + 1);
  EXPECT_EQ(why(), Lines{"argument_changed 1: -O3 -> (unset)"});
}

TEST_F(ExplainTest, TheNearestEarlierCommandOfTheSiteIsCompared) {
  command_.argv = {"g++", "-O1", "-c", "a.cpp", "-o", "a.o"};
  ASSERT_EQ(outcome(), "published");
  command_.argv = {"g++", "-O2", "-g", "-Wall", "-c", "a.cpp", "-o", "a.o"};
  ASSERT_EQ(outcome(), "published");
  command_.argv = {"g++", "-O3", "-c", "a.cpp", "-o", "a.o"};
  EXPECT_EQ(why(), Lines{"argument_changed 1: -O1 -> -O3"});
}

TEST_F(ExplainTest, VariablesFolderAndStreams) {
  ASSERT_EQ(outcome(), "published");
  command_.environment["CPATH"] = "/r/inc";
  EXPECT_EQ(why(), Lines{"variable_changed CPATH: (unset) -> /r/inc"});
  command_.environment["CPATH"] = "";
  EXPECT_EQ(why().size(), 1u);
  command_.environment.erase("CPATH");
  command_.out = model::StreamKind::tty;
  EXPECT_EQ(why(), Lines{"stream_changed stdout: no terminal -> terminal"});
  command_.out = model::StreamKind::pipe;
  command_.umask = 077;
  EXPECT_EQ(why(), Lines{"machine_changed umask: 18 -> 63"});
}

TEST_F(ExplainTest, TheWorkingFolderIsShown) {
  model::CommandText before;
  before.argv = {"g++"};
  before.cwd = "\x01R\x02/a";
  auto now = before;
  now.cwd = "\x01R\x02/b";
  const auto reasons = compare_commands(before, now, Bindings(command_, "/r", "", ""));
  ASSERT_EQ(reasons.size(), 1u);
  EXPECT_EQ(reasons[0].code, ReasonCode::working_folder_changed);
  EXPECT_EQ(reasons[0].before, "/r/a");
  EXPECT_EQ(reasons[0].after, "/r/b");
}

TEST_F(ExplainTest, TheNearestPathSetIsCompared) {
  disk_.put("/r/x.h", "x");
  clock_.advance_ms(1000);
  bool with_x = true;
  runner_.script = [&](Play& play) {
    compile(play);
    if (with_x) (void)play.read("/r/x.h");
  };
  ASSERT_EQ(outcome(), "published");
  edit("/r/a.h", "int b;\n");
  with_x = false;
  ASSERT_EQ(outcome(), "published");
  // Today differs from the first set in x.h, too.
  edit("/r/x.h", "y");
  edit("/r/a.h", "int c;\n");
  EXPECT_EQ(why(), Lines{"content_changed /r/a.h: " + shown("int b;\n") + " -> " + shown("int c;\n")});
}

TEST_F(ExplainTest, TheNearestPathSetMayBeAnOlderOne) {
  disk_.put("/r/x.h", "x");
  clock_.advance_ms(1000);
  bool with_x = true;
  runner_.script = [&](Play& play) {
    compile(play);
    if (with_x) (void)play.read("/r/x.h");
  };
  ASSERT_EQ(outcome(), "published");
  edit("/r/a.h", "int b;\n");
  with_x = false;
  ASSERT_EQ(outcome(), "published");
  edit("/r/a.h", "int c;\n");
  EXPECT_EQ(why(), Lines{"content_changed /r/a.h: " + shown("int a;\n") + " -> " + shown("int c;\n")})
      << "the first set has more that is equal";
}

TEST_F(ExplainTest, ADroppedRecord) {
  ASSERT_EQ(outcome(), "published");
  for (const auto& file : disk_.files_below("/store/records")) (void)disk_.remove(file);
  EXPECT_EQ(why(), Lines{"record_missing"});
}

TEST_F(ExplainTest, ARecordOfAnotherCommandIsDamage) {
  const auto first = run();
  command_.argv[1] = "-S";
  const auto second = run();
  const auto store = open_store();
  const auto record = store->record(*second.strong_key).value();
  ASSERT_TRUE(store->replace_record(*first.strong_key, *record).has_value());
  command_.argv[1] = "-c";
  const auto result = run();
  EXPECT_EQ(result.outcome, Outcome::published) << "never a hit";
  EXPECT_EQ(result.reasons.front().code, ReasonCode::record_unreadable);
  EXPECT_EQ(result.reasons.front().before, "the record belongs to another command");
}

TEST_F(ExplainTest, ManyReasonsAreCounted) {
  const int many = static_cast<int>(limits::kReasonsPerDecision) + 8;
  const auto header = [](int i) { return "/r/include/h" + std::to_string(100 + i) + ".h"; };
  for (int i = 0; i < many; ++i) disk_.put(header(i), "old");
  clock_.advance_ms(1000);
  runner_.script = [&](Play& play) {
    compile(play);
    for (int i = 0; i < many; ++i) (void)play.read(header(i));
  };
  ASSERT_EQ(outcome(), "published");
  for (int i = 0; i < many; ++i) edit(header(i), "new");
  const auto lines = why();
  ASSERT_EQ(lines.size(), limits::kReasonsPerDecision + 1);
  EXPECT_EQ(lines.back(), "limit_reached kReasonsPerDecision: 8 further reasons -> ");
}

}  // namespace
}  // namespace hallmark::engine
