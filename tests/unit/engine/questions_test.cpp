// What of an observation becomes a question, and what keeps it from being published.
#include "engine/questions.h"

#include <gtest/gtest.h>

#include "engine/answers.h"
#include "engine/kinds.h"
#include "engine/plain_hasher.h"
#include "unit/engine/engine_world.h"

namespace hallmark::engine {
namespace {

using model::Aspect;
using model::Use;
using test::Lines;
using test::lines_of;
using test::Play;

class QuestionsTest : public test::EngineTest {
 protected:
  /// Plays a command and asks. Tokens are shown as "<R>".
  Lines ask(const std::function<void(Play&)>& script, bool native = false, bool with_contents = true) {
    runner_.script = script;
    auto observation = runner_.run({}).value();
    if (after_run_) after_run_(observation);
    const Bindings bindings(command_, options_.root, "", "");
    PlainHasher hasher(disk_);
    const States::World world{disk_, hasher, machine_, streams_, bindings, command_};
    States states(world);
    asked_ = Questions(world, states, options_.root, native, {}).of(observation, with_contents);
    doubts_ = lines_of(asked_.doubts);
    Lines lines;
    for (std::size_t i = 0; i < asked_.answers.size(); ++i)
      lines.push_back(line(asked_.paths.questions[i], asked_.answers[i]));
    return lines;
  }

  static std::string line(const model::Question& question, const model::Answer& answer) {
    static const char* const kWords[] = {"",      "content", "kind",   "listing", "link",    "size",
                                         "mtime", "program", "soname", "stdin",   "machine", "bound"};
    std::string text = std::string(kWords[static_cast<int>(question.aspect)]) + " " + question.subject;
    const bool digest = question.aspect == Aspect::content || question.aspect == Aspect::listing ||
                        question.aspect == Aspect::stdin_bytes;
    if (!digest || is_absent(answer) || is_unknown(answer)) text += ": " + describe(answer);
    for (char& c : text) c = c == '\x01' ? '<' : c == '\x02' ? '>' : c == '\0' ? '|' : c;
    return text;
  }
  static bool holds(const Lines& lines, const std::string& line) {
    return std::find(lines.begin(), lines.end(), line) != lines.end();
  }

  std::function<void(model::Observation&)> after_run_;
  Asked asked_;
  Lines doubts_;
};

TEST_F(QuestionsTest, OfACompiler) {
  EXPECT_EQ(ask([this](Play& play) { compile(play); }),
            (Lines{"content <R>/a.cpp", "content <R>/a.h", "content /usr/bin/g++",
                   "kind <R>/include/a.h: absent", "program g++: /usr/bin/g++"}));
  EXPECT_EQ(doubts_, Lines{});
  const auto sorted = std::is_sorted(asked_.paths.questions.begin(), asked_.paths.questions.end());
  EXPECT_TRUE(sorted);
}

TEST_F(QuestionsTest, AnswersAreThoseThatALookUpGives) {
  (void)disk_.make_link("a.h", "/r/link.h");
  (void)ask([this](Play& play) {
    compile(play);
    play.list("/r/include");
    play.follow("/r/link.h");
    play.look("/r");
    play.look("/usr/bin/g++");
    (void)play.read("/r/none.h");
    play.follow("/r/nolink.h");
    play.follow("/r/a.cpp");
  });
  const Bindings bindings(command_, options_.root, "", "");
  PlainHasher hasher(disk_);
  States states({disk_, hasher, machine_, streams_, bindings, command_});
  const auto today = states.ask(asked_.paths);
  for (std::size_t i = 0; i < today.size(); ++i)
    EXPECT_EQ(today[i], asked_.answers[i]) << line(asked_.paths.questions[i], today[i]);
  EXPECT_EQ(today.size(), 12u);
}

TEST_F(QuestionsTest, AProbeOfWhatIsThenMadeIsNoInput) {
  const auto lines = ask([](Play& play) {
    play.look("/r/a.o");
    play.look("/r/new");
    play.list("/r");
    play.write("/r/a.o", "object");
    play.make_folder("/r/new");
  });
  EXPECT_EQ(lines, (Lines{"listing <R>|a.o|new"})) << "nor do the names that it made there count";
}

TEST_F(QuestionsTest, OldBytesThatWereReadAreAnInput) {
  disk_.put("/r/lib.a", "old members");
  clock_.advance_ms(1000);
  const auto lines = ask([](Play& play) {
    (void)play.read("/r/lib.a");
    play.observation.inputs.back().digest = digest::digest_of("old members");
    play.write("/r/lib.a", "old and new members");
  });
  EXPECT_EQ(lines, Lines{"content <R>/lib.a"});
  EXPECT_EQ(asked_.answers[0], answer_digest(digest::digest_of("old members")));
  EXPECT_EQ(doubts_, Lines{});
  EXPECT_EQ(ask([](Play& play) {
              (void)play.read("/r/lib.a");
              play.write("/r/lib.a", "more");
            }),
            Lines{});
  EXPECT_EQ(doubts_, Lines{"input_changed /r/lib.a"}) << "without a digest from before nobody can tell";
}

TEST_F(QuestionsTest, AnInputThatChangedMeanwhileIsADoubt) {
  after_run_ = [this](model::Observation&) { disk_.put("/r/a.h", "int late;\n"); };
  (void)ask([this](Play& play) { compile(play); });
  EXPECT_EQ(doubts_, Lines{"input_changed /r/a.h"});
  EXPECT_EQ(asked_.changed, Lines{"/r/a.h"});
  (void)ask([this](Play& play) { compile(play); }, false, false);
  EXPECT_EQ(doubts_, Lines{"input_changed /r/a.h"}) << "seen without hashing, too";
  after_run_ = [this](model::Observation&) { (void)disk_.remove("/r/a.h"); };
  (void)ask([this](Play& play) { compile(play); });
  EXPECT_EQ(doubts_, Lines{"input_changed /r/a.h"});
}

TEST_F(QuestionsTest, WithoutContentsTheAnswersAreUnknown) {
  const auto lines = ask([this](Play& play) { compile(play); }, false, false);
  EXPECT_TRUE(holds(lines, "content <R>/a.h: cannot be told: not hashed"));
  EXPECT_EQ(doubts_, Lines{});
}

TEST_F(QuestionsTest, AnInputWrittenJustBeforeIsRacy) {
  disk_.put("/r/a.h", "int b;\n");
  (void)ask([this](Play& play) { compile(play); });
  EXPECT_EQ(doubts_, Lines{"input_racy /r/a.h"});
  disk_.put("/r/a.h", "int b;\n");
  machine_.fine_stamps = true;
  (void)ask([this](Play& play) { compile(play); });
  EXPECT_EQ(doubts_, Lines{}) << "this file system tells any two changes apart";
  machine_.fine_stamps = false;
  disk_.put("/r/a.h", "int b;\n");
  clock_.advance_ms(25);
  (void)ask([this](Play& play) { compile(play); });
  EXPECT_EQ(doubts_, Lines{});
}

TEST_F(QuestionsTest, SourcesThatAskForTheClock) {
  edit("/r/a.h", "const char* d = __DATE__;\n");
  auto lines = ask([this](Play& play) { compile(play); });
  EXPECT_TRUE(holds(lines, "machine date: 2027-01-15"));
  EXPECT_EQ(doubts_, Lines{});
  edit("/r/a.h", "const char* d = __TIMESTAMP__;\n");
  lines = ask([this](Play& play) { compile(play); });
  EXPECT_TRUE(holds(lines, "mtime <R>/a.h: " + std::to_string(stat_of("/r/a.h").mtime_ns)));
  edit("/r/a.h", "const char* d = __TIME__;\n");
  (void)ask([this](Play& play) { compile(play); });
  EXPECT_EQ(doubts_, Lines{"clock_used /r/a.h"});
}

TEST_F(QuestionsTest, NasmHasClockWordsOfItsOwn) {
  for (const char* text : {"db __TIME__", "db __?DATE?__", "dq __POSIX_TIME__", "dd __?UTC_TIME_NUM?__"})
    EXPECT_TRUE(nasm_asks_for_clock(text)) << text;
  EXPECT_FALSE(nasm_asks_for_clock("mov eax, TIME_ ; __LINE__ date time"));
  disk_.put("/usr/bin/nasm", "nasm", 0755);
  edit("/r/t.asm", "db __?TIME?__\n");
  (void)ask([](Play& play) {
    play.execute("/usr/bin/nasm");
    (void)play.read("/r/t.asm");
  });
  EXPECT_EQ(doubts_, Lines{"clock_used /r/t.asm"});
}

TEST_F(QuestionsTest, ASourceMayBeExecutable) {
  edit("/r/a.c", "__TIME__", 0755);
  (void)ask([this](Play& play) {
    compile(play);
    (void)play.read("/r/a.c");
  });
  EXPECT_EQ(doubts_, Lines{"clock_used /r/a.c"});
}

TEST_F(QuestionsTest, ClockWordsOutsideOfSourcesMeanNothing) {
  edit("/r/lib.o", std::string("\x7f"
                               "ELF\0__TIME__",
                               13));
  edit("/r/lib.a", "!<arch>\n__TIME__");
  edit("/r/libx.so", "__TIME__");
  (void)ask([this](Play& play) {
    compile(play);
    for (const char* file : {"/r/lib.o", "/r/lib.a", "/r/libx.so"}) (void)play.read(file);
  });
  EXPECT_EQ(doubts_, Lines{});
  edit("/r/notes.txt", "__TIME__");
  (void)ask([](Play& play) { (void)play.read("/r/notes.txt"); });
  EXPECT_EQ(doubts_, Lines{}) << "no compiler ran";
}

TEST_F(QuestionsTest, CleaningUpLooksAtNoNeighbours) {
  disk_.put("/tmp/of-somebody", "");
  const auto list_tmp = [](Play& play) { play.list("/tmp"); };
  EXPECT_EQ(ask(list_tmp), Lines{"kind /tmp: folder"});
  command_.argv = {"python3", "gen.py"};
  EXPECT_EQ(ask(list_tmp), Lines{"listing /tmp"}) << "nobody knows what it made of the names";
}

TEST_F(QuestionsTest, NvccsOwnTemporariesAreNotProbedInTheNextRun) {
  const auto probe = [](Play& play) {
    play.look("/tmp/tmpxft_0000a5d3_00000000-6_k.o");
    play.look("/tmp/other.o");
    play.look("/r/tmpxft_0000a5d3_00000000-6_k.o");
  };
  EXPECT_EQ(ask(probe),
            (Lines{"kind <R>/tmpxft_0000a5d3_00000000-6_k.o: absent", "kind /tmp/other.o: absent"}));
}

TEST_F(QuestionsTest, OurOwnSentinelsAreNoInputs) {
  disk_.put("/r/.hallmark/watch/x", "");
  clock_.advance_ms(1000);
  EXPECT_EQ(ask([](Play& play) {
              (void)play.read("/r/.hallmark/watch/x");
              play.list("/r/.hallmark/watch");
            }),
            Lines{});
}

TEST_F(QuestionsTest, LookUpsThroughPathAreOneQuestion) {
  (void)disk_.make_folder("/opt", 0755);
  (void)disk_.make_folder("/opt/bin", 0755);
  command_.environment["PATH"] = "/opt/bin:/usr/bin";
  auto lines = ask([this](Play& play) {
    play.look("/opt/bin/g++");
    compile(play);
  });
  EXPECT_TRUE(holds(lines, "program g++: /usr/bin/g++"));
  EXPECT_FALSE(holds(lines, "kind /opt/bin/g++: absent")) << "the look-up answers it";
  lines = ask([](Play& play) { play.look("/opt/bin/none"); });
  EXPECT_EQ(lines, (Lines{"kind /opt/bin/none: absent", "program none: absent"}));
}

TEST_F(QuestionsTest, WhoeverLooksBehindTheFirstMatchDependsOnAllOfPath) {
  disk_.put("/opt/bin/g++", "another", 0755);
  command_.environment["PATH"] = "/usr/bin:/opt/bin";
  EXPECT_FALSE(holds(ask([](Play& play) { play.look("/usr/bin/g++"); }), "bound PATH: /usr/bin:/opt/bin"));
  EXPECT_TRUE(holds(ask([](Play& play) {
                      play.look("/usr/bin/g++");
                      play.look("/opt/bin/g++");
                    }),
                    "bound PATH: /usr/bin:/opt/bin"))
      << "which -a";
  EXPECT_TRUE(holds(ask([](Play& play) { play.list("/opt/bin"); }), "bound PATH: /usr/bin:/opt/bin"));
}

TEST_F(QuestionsTest, OfTheLoadersCacheOnlyAnswersCount) {
  disk_.put("/etc/ld.so.cache", "of an unknown format");
  disk_.put("/lib/libc.so.6", "libc", 0755);
  clock_.advance_ms(1000);
  const auto lines = ask([](Play& play) {
    (void)play.read("/etc/ld.so.cache");
    play.look("/etc/ld.so.cache");
    (void)play.read("/lib/libc.so.6");
    play.look("/lib/hwcaps/libm.so.6");
  });
  Lines subjects;
  for (const auto& text : lines) subjects.push_back(text.substr(0, text.find(':')));
  EXPECT_EQ(subjects, (Lines{"content /lib/libc.so.6", "kind /lib/hwcaps/libm.so.6", "soname libc.so.6",
                             "soname libm.so.6"}));
}

TEST_F(QuestionsTest, NativeAsksForTheProcessor) {
  const auto script = [this](Play& play) { compile(play); };
  EXPECT_TRUE(holds(ask(script, true), "machine cpu: Model 1"));
  EXPECT_FALSE(holds(ask(script, false), "machine cpu: Model 1"));
}

TEST_F(QuestionsTest, WhereACompilersWordsAreUnknownTheProcessorCounts) {
  command_.argv = {"sh", "-c", "g++ $FLAGS"};
  EXPECT_TRUE(holds(ask([this](Play& play) { compile(play); }), "machine cpu: Model 1"));
  EXPECT_FALSE(holds(ask([](Play& play) { (void)play.read("/r/a.h"); }), "machine cpu: Model 1"));
  command_.argv = {"clang++", "-c", "a.cpp"};
  disk_.put("/r/clang.cfg", "-march=native");
  clock_.advance_ms(1000);
  EXPECT_TRUE(holds(ask([this](Play& play) {
                      compile(play);
                      (void)play.read("/r/clang.cfg");
                    }),
                    "machine cpu: Model 1"))
      << "a configuration file has words, too";
}

TEST_F(QuestionsTest, DevicesOfAGpuAreTheGpu) {
  disk_.put("/dev/nvidia0", "");
  const auto lines = ask([](Play& play) {
    (void)play.read("/dev/nvidia0");
    play.look("/dev/nvidia9");
  });
  EXPECT_EQ(lines, (Lines{"kind /dev/nvidia9: absent", "machine gpu: GPU 1"}));
}

TEST_F(QuestionsTest, SpecialProgramsAreNamed) {
  for (const char* name : {"/usr/bin/date", "/usr/bin/uname", "/usr/bin/sccache", "/usr/bin/ccache"})
    disk_.put(name, name, 0755);
  clock_.advance_ms(1000);
  (void)ask([](Play& play) { play.execute("/usr/bin/date"); });
  EXPECT_EQ(doubts_, Lines{"clock_used /usr/bin/date"});
  EXPECT_TRUE(
      holds(ask([](Play& play) { play.execute("/usr/bin/uname"); }), "machine host: builder Linux 6.18"));
  (void)ask([](Play& play) { play.execute("/usr/bin/sccache"); });
  EXPECT_EQ(doubts_, Lines{"foreign_cache sccache"});
  (void)ask([](Play& play) { play.execute("/usr/bin/ccache"); });
  EXPECT_EQ(doubts_, Lines{"foreign_cache ccache"});
  command_.environment["CCACHE_DISABLE"] = "1";
  (void)ask([](Play& play) { play.execute("/usr/bin/ccache"); });
  EXPECT_EQ(doubts_, Lines{}) << "it was bypassed";
}

TEST_F(QuestionsTest, StdinCountsIfItWasUsedToItsEnd) {
  const auto use = [](Play& play) {
    play.observation.stdin_used = true;
    play.observation.stdin_digest = digest::digest_of("words");
  };
  command_.in = model::StreamKind::file;
  EXPECT_EQ(ask(use), Lines{"stdin "});
  streams_.at_end = false;
  EXPECT_EQ(ask(use), Lines{});
  EXPECT_EQ(doubts_, Lines{"stdin_unbounded stdin"}) << "a replay would leave it elsewhere";
  command_.in = model::StreamKind::tty;
  EXPECT_EQ(ask([](Play& play) { play.observation.stdin_used = true; }), Lines{});
  EXPECT_EQ(doubts_, Lines{"stdin_unbounded stdin"});
}

TEST_F(QuestionsTest, FoldersDevicesAndStrangeNames) {
  EXPECT_EQ(ask([](Play& play) { (void)play.read("/r/include"); }), Lines{"kind <R>/include: folder"});
  EXPECT_EQ(ask([](Play& play) { (void)play.read("/r/none"); }), Lines{"kind <R>/none: absent"});
  (void)ask([](Play& play) {
    play.observation.inputs.push_back(
        {"/r/fifo", Use::content, FileStat{.kind = NodeKind::other}, {}, {}, {}});
  });
  EXPECT_EQ(doubts_, Lines{"volatile_input /r/fifo"});
  (void)ask([](Play& play) { play.look("/r/a\x01h"); });
  EXPECT_EQ(doubts_, Lines{"volatile_input /r/a\x01h"}) << "a name that cannot be folded";
}

TEST_F(QuestionsTest, BytesOfProcAreThoseOfTheEvent) {
  const auto lines = ask([](Play& play) {
    play.observation.inputs.push_back({"/proc/cpuinfo",
                                       Use::content,
                                       FileStat{.kind = NodeKind::file},
                                       digest::digest_of("model 1"),
                                       {},
                                       {}});
  });
  EXPECT_EQ(lines, Lines{"content /proc/cpuinfo"});
  EXPECT_EQ(asked_.answers[0], answer_digest(digest::digest_of("model 1")));
}

class AttributesTest : public QuestionsTest {
 protected:
  std::string mtime(const char* path, const char* shown) {
    return std::string("mtime ") + shown + ": " + std::to_string(stat_of(path).mtime_ns);
  }
};

TEST_F(AttributesTest, CompilersOnlyLookWhetherAFileIsThere) {
  EXPECT_EQ(ask([](Play& play) { play.look("/r/a.h"); }), Lines{"kind <R>/a.h: file"});
}

TEST_F(AttributesTest, SizeAndTimeCountWhereAnUnknownProgramOnlyLooked) {
  command_.argv = {"python3", "gen.py"};
  EXPECT_EQ(ask([](Play& play) { play.look("/r/a.h"); }),
            (Lines{"kind <R>/a.h: file", "size <R>/a.h: 7", mtime("/r/a.h", "<R>/a.h")}));
  EXPECT_EQ(ask([](Play& play) {
              play.look("/r/a.h");
              (void)play.read("/r/a.h");
            }),
            Lines{"content <R>/a.h"})
      << "what was read counts by its bytes";
}

TEST_F(AttributesTest, OfWhatItDidNotMake) {
  command_.argv = {"python3", "gen.py"};
  disk_.put("/r/libx.so.1", "");
  disk_.put("/r/out", "of an earlier run");
  EXPECT_EQ(ask([](Play& play) {
              play.look("/r/include");
              play.look("/usr/bin/g++");
              play.look("/r/libx.so.1");
              play.look("/r/none");
              play.look("/r/out");
              play.write("/r/out", "");
            }),
            (Lines{"kind <R>/include: folder", "kind <R>/libx.so.1: file", "kind <R>/none: absent",
                   "kind /usr/bin/g++: executable file", "size <R>/libx.so.1: 0", "size /usr/bin/g++: 18",
                   "mtime <R>/libx.so.1: 1800000010000000000", "mtime /usr/bin/g++: 1800000000000000000",
                   "program g++: /usr/bin/g++"}));
}

TEST_F(AttributesTest, BuildAndArchiveToolsCompareTimesOfWhatTheyReadToo) {
  for (const char* name : {"/usr/bin/make", "/usr/bin/cmake", "/usr/bin/tar"}) {
    disk_.put(name, "tool", 0755);
    clock_.advance_ms(1000);
    const auto lines = ask([&](Play& play) {
      play.execute(name);
      (void)play.read("/r/a.h");
    });
    EXPECT_TRUE(holds(lines, mtime("/r/a.h", "<R>/a.h"))) << name;
    EXPECT_FALSE(holds(lines, "size <R>/a.h: 7")) << name;
  }
}

TEST_F(AttributesTest, PrecompiledHeadersRememberTimes) {
  disk_.put("/r/all.pch", "pch");
  clock_.advance_ms(1000);
  EXPECT_TRUE(holds(ask([this](Play& play) {
                      compile(play);
                      (void)play.read("/r/all.pch");
                    }),
                    mtime("/r/a.h", "<R>/a.h")));
  EXPECT_TRUE(holds(ask([this](Play& play) {
                      compile(play);
                      play.write("/r/m.pcm", "module");
                    }),
                    mtime("/r/a.h", "<R>/a.h")));
}

}  // namespace
}  // namespace hallmark::engine
