// How the state of the world becomes answers: answers.h and states.h.
#include "engine/states.h"

#include <gtest/gtest.h>

#include "engine/answers.h"
#include "engine/plain_hasher.h"
#include "support/forwarding_file_system.h"
#include "unit/engine/engine_world.h"

namespace hallmark::engine {
namespace {

using model::Aspect;
using model::Question;
using Words = std::vector<std::string>;

TEST(Answers, EqualStatesAreEqualBytesAndOnlyThose) {
  const FileStat file{.mode = 0644, .kind = NodeKind::file};
  const FileStat program{.mode = 0755, .kind = NodeKind::file};
  const FileStat folder{.kind = NodeKind::directory};
  const FileStat link{.kind = NodeKind::symlink};
  const FileStat device{.kind = NodeKind::other};
  const std::set<model::Answer> all{answer_absent(),
                                    answer_kind(file),
                                    answer_kind(program),
                                    answer_kind(folder),
                                    answer_kind(link),
                                    answer_kind(device),
                                    answer_text("absent"),
                                    answer_text("-"),
                                    answer_text("file"),
                                    answer_text(""),
                                    answer_number(1),
                                    answer_text("1"),
                                    answer_unknown("why"),
                                    answer_names(Words{}, {}),
                                    answer_names(Words{"a"}, {}),
                                    answer_names(Words{"a", "b"}, {}),
                                    answer_names(Words{"ab"}, {}),
                                    answer_digest(digest::digest_of("x")),
                                    answer_digest(digest::digest_of("y"))};
  EXPECT_EQ(all.size(), 19u);
  EXPECT_EQ(answer_kind(std::nullopt), answer_absent());
  EXPECT_EQ(answer_kind(FileStat{.size_bytes = 9, .mtime_ns = 9, .mode = 0600, .kind = NodeKind::file}),
            answer_kind(file))
      << "only kind and whether it can be executed";
}

TEST(Answers, OwnAndOurNamesAreNotPartOfAListing) {
  const Words own{"made", "made2"};
  EXPECT_EQ(answer_names(Words{"a", "made"}, own), answer_names(Words{"a"}, own));
  EXPECT_NE(answer_names(Words{"a", "made3"}, own), answer_names(Words{"a"}, own));
  EXPECT_EQ(answer_names(Words{".hallmark", ".hallmark-12-3.tmp", "__pycache__", "a"}, {}),
            answer_names(Words{"a"}, {}));
  EXPECT_FALSE(is_unlisted_name(".hallmarks"));
}

TEST(Answers, ListingSubjectsComeApartAgain) {
  const auto subject = listing_subject("/r/gen", Words{"a", "b c"});
  const auto parts = split_listing_subject(subject);
  EXPECT_EQ(parts.folder, "/r/gen");
  EXPECT_EQ(parts.own, (Words{"a", "b c"}));
  EXPECT_EQ(split_listing_subject("/r").own, Words{});
}

TEST(Answers, ArePutIntoWords) {
  EXPECT_EQ(describe(answer_absent()), "absent");
  EXPECT_EQ(describe(answer_kind(FileStat{.mode = 0755, .kind = NodeKind::file})), "executable file");
  EXPECT_EQ(describe(answer_kind(FileStat{.kind = NodeKind::directory})), "folder");
  EXPECT_EQ(describe(answer_text("/usr/bin/g++")), "/usr/bin/g++");
  EXPECT_EQ(describe(answer_number(-7)), "-7");
  EXPECT_EQ(describe(answer_digest(digest::digest_of("x"))), digest::digest_of("x").hex().substr(0, 12));
  EXPECT_EQ(describe(answer_unknown("too long")), "cannot be told: too long");
  EXPECT_EQ(describe(""), "nothing");
  EXPECT_TRUE(is_unknown(answer_unknown("")));
  EXPECT_FALSE(is_unknown(answer_text("?")));
  EXPECT_FALSE(is_absent(answer_text("-")));
}

/// Counts what look-ups cost, and refuses some.
class CountingFileSystem final : public test::ForwardingFileSystem {
 public:
  using ForwardingFileSystem::ForwardingFileSystem;
  Result<std::optional<FileStat>> lstat(const std::string& path) override {
    ++lstats;
    if (!forbidden.empty() && path.starts_with(forbidden))
      return fail({ErrorKind::permission, "stat " + path + ": Permission denied", {}});
    return ForwardingFileSystem::lstat(path);
  }
  Result<std::vector<std::string>> list(const std::string& path) override {
    ++lists;
    return ForwardingFileSystem::list(path);
  }
  std::string forbidden;  ///< names that begin so may not be looked at
  int lstats = 0;
  int lists = 0;
};

class StatesTest : public test::EngineTest {
 protected:
  /// Asked anew, as a new process would.
  model::Answer ask(Aspect aspect, const std::string& subject) {
    return ask_all({{aspect, subject}}).front();
  }
  std::vector<model::Answer> ask_all(std::vector<Question> questions) {
    const Bindings bindings(command_, options_.root, options_.build_folder, "");
    PlainHasher hasher(counting_);
    States states({counting_, hasher, machine_, streams_, bindings, command_});
    auto answers = states.ask({std::move(questions)});
    newest_ns_ = states.newest_change_ns(clock_.now_ns());
    return answers;
  }

  CountingFileSystem counting_{disk_};
  std::int64_t newest_ns_ = 0;
};

TEST_F(StatesTest, WhatMayNotBeLookedAtIsAbsentAsItWasToTheCommand) {
  disk_.put("/private/bin/gcc", "", 0755);
  counting_.forbidden = "/private/bin/";
  EXPECT_EQ(ask(Aspect::kind, "/private/bin/gcc"), answer_absent());
  EXPECT_EQ(ask(Aspect::link, "/private/bin/gcc"), answer_absent());
  counting_.forbidden.clear();
  EXPECT_NE(ask(Aspect::kind, "/private/bin/gcc"), answer_absent())
      << "the folder was opened: the name counts";
}

TEST_F(StatesTest, Content) {
  EXPECT_EQ(ask(Aspect::content, "/r/a.h"), answer_digest(digest::digest_of("int a;\n")));
  EXPECT_EQ(ask(Aspect::content, "\x01R\x02/a.h"), ask(Aspect::content, "/r/a.h"));
  EXPECT_EQ(ask(Aspect::content, "/r/none"), answer_absent());
  EXPECT_EQ(ask(Aspect::content, "/r/none/below"), answer_absent());
  (void)disk_.make_link("a.h", "/r/link.h");
  EXPECT_EQ(ask(Aspect::content, "/r/link.h"), ask(Aspect::content, "/r/a.h"));
  EXPECT_TRUE(is_unknown(ask(Aspect::content, "\x01VIRTUAL_ENV\x02/x"))) << "a name that is not set today";
}

TEST_F(StatesTest, FilesOfProcAreReadNotHashedByStat) {
  disk_.put("/proc/meminfo", "1");
  clock_.advance_ms(1000);
  const auto store = open_store();
  const Bindings bindings(command_, options_.root, "", "");
  const auto meminfo = [&] {
    States states({disk_, store->hasher(), machine_, streams_, bindings, command_});
    return states.ask({{{Aspect::content, "/proc/meminfo"}}}).front();
  };
  EXPECT_EQ(meminfo(), answer_digest(digest::digest_of("1")));
  disk_.damage("/proc/meminfo", "2");
  EXPECT_EQ(meminfo(), answer_digest(digest::digest_of("2")));
  EXPECT_EQ(ask(Aspect::content, "/sys/none"), answer_absent());
  EXPECT_FALSE(is_volatile("/process"));
}

TEST_F(StatesTest, Kinds) {
  EXPECT_EQ(describe(ask(Aspect::kind, "/r/a.h")), "file");
  EXPECT_EQ(describe(ask(Aspect::kind, "/usr/bin/g++")), "executable file");
  EXPECT_EQ(describe(ask(Aspect::kind, "/r")), "folder");
  EXPECT_EQ(ask(Aspect::kind, "/r/none"), answer_absent());
  EXPECT_EQ(ask(Aspect::kind, "/none/none"), answer_absent());
  (void)disk_.make_link("nowhere", "/r/link");
  EXPECT_EQ(describe(ask(Aspect::kind, "/r/link")), "link");
}

TEST_F(StatesTest, Listings) {
  const auto before = ask(Aspect::listing, "/r");
  disk_.put("/r/.hallmark/watch/x", "");
  disk_.put("/r/__pycache__/x.pyc", "");
  EXPECT_EQ(ask(Aspect::listing, "/r"), before);
  disk_.put("/r/new.h", "");
  EXPECT_NE(ask(Aspect::listing, "/r"), before);
  EXPECT_EQ(ask(Aspect::listing, listing_subject("/r", Words{"new.h"})), before)
      << "a name of the action's own";
  EXPECT_EQ(ask(Aspect::listing, "/none"), answer_absent());
  EXPECT_EQ(ask(Aspect::listing, "/r/a.h"), answer_absent()) << "no folder any more";
}

TEST_F(StatesTest, Links) {
  (void)disk_.make_link("/r/a.h", "/r/link.h");
  EXPECT_EQ(ask(Aspect::link, "/r/link.h"), answer_text("\x01R\x02/a.h"));
  EXPECT_EQ(ask(Aspect::link, "/r/none"), answer_absent());
  EXPECT_EQ(describe(ask(Aspect::link, "/r/a.h")), "file") << "a file took its place";
}

TEST_F(StatesTest, SizesAndTimes) {
  EXPECT_EQ(ask(Aspect::size, "/r/a.h"), answer_number(7));
  EXPECT_EQ(ask(Aspect::mtime, "/r/a.h"), answer_number(stat_of("/r/a.h").mtime_ns));
  EXPECT_EQ(ask(Aspect::size, "/r/none"), answer_absent());
}

TEST_F(StatesTest, ProgramsAreTheFirstExecutableFileInPath) {
  command_.environment["PATH"] = "/opt/none:/opt/bin:/usr/bin";
  EXPECT_EQ(ask(Aspect::program, "g++"), answer_text("/usr/bin/g++"));
  disk_.put("/opt/bin/g++", "not executable", 0644);
  (void)disk_.make_folder("/opt/bin/as", 0755);
  disk_.put("/usr/bin/as", "as", 0755);
  EXPECT_EQ(ask(Aspect::program, "g++"), answer_text("/usr/bin/g++"));
  EXPECT_EQ(ask(Aspect::program, "as"), answer_text("/usr/bin/as"));
  disk_.put("/opt/bin/g++", "another", 0755);
  EXPECT_EQ(ask(Aspect::program, "g++"), answer_text("/opt/bin/g++"));
  EXPECT_EQ(ask(Aspect::program, "none"), answer_absent());
}

TEST_F(StatesTest, ProgramsAreFoundThroughLinkedFolders) {
  (void)disk_.make_link("usr/bin", "/bin");
  command_.environment["PATH"] = "/bin:/usr/bin";
  EXPECT_EQ(ask(Aspect::program, "g++"), answer_text("/usr/bin/g++"));
  (void)disk_.make_link("g++", "/usr/bin/c++");
  EXPECT_EQ(ask(Aspect::program, "c++"), answer_text("/usr/bin/c++")) << "the name, not what it leads to";
  const Words folders{"/bin", "/usr/bin", "/none"};
  ProgramSearch search(disk_, folders);
  EXPECT_EQ(search.folders(), Words{"/usr/bin"});
}

TEST_F(StatesTest, OneSearchSeesOneWorld) {
  const Words folders{"/opt/bin", "/usr/bin"};
  (void)disk_.make_folder("/opt/bin", 0755);
  ProgramSearch search(disk_, folders);
  EXPECT_EQ(search.find("g++"), "/usr/bin/g++");
  EXPECT_EQ(search.find("none"), std::nullopt);
  EXPECT_EQ(search.real_paths().of("/r/b"), std::nullopt);
  disk_.put("/opt/bin/g++", "another", 0755);
  disk_.put("/opt/bin/none", "new", 0755);
  (void)disk_.make_link("/opt", "/r/b");
  EXPECT_EQ(search.find("g++"), "/usr/bin/g++");
  EXPECT_EQ(search.find("none"), std::nullopt);
  EXPECT_EQ(search.real_paths().of("/r/b"), std::nullopt);
  ProgramSearch later(disk_, folders);
  EXPECT_EQ(later.find("g++"), "/opt/bin/g++");
  EXPECT_EQ(later.find("none"), "/opt/bin/none");
  EXPECT_EQ(later.real_paths().of("/r/b/bin"), "/opt/bin");
}

TEST_F(StatesTest, TheFileThatACommandStarts) {
  command_.environment["PATH"] = "/opt/bin:/usr/bin";
  const auto find = [&](const char* word) {
    command_.argv = {word};
    return find_program(disk_, command_);
  };
  disk_.put("/usr/bin/g++",
            "\x7f"
            "ELF...",
            0755);
  EXPECT_EQ(find("g++").path, "/usr/bin/g++");
  EXPECT_FALSE(find("g++").script);
  disk_.put("/opt/bin/g++", "#!/bin/sh\n", 0755);
  EXPECT_EQ(find("g++").path, "/opt/bin/g++");
  EXPECT_TRUE(find("g++").script);
  (void)disk_.make_link("/opt/bin/g++", "/usr/bin/c++");
  EXPECT_EQ(find("/usr/bin/c++").path, "/opt/bin/g++");
  EXPECT_TRUE(find("/usr/bin/c++").script);
  disk_.put("/usr/bin/short", "x", 0755);
  EXPECT_TRUE(find("short").script) << "the shell executes it";
  EXPECT_EQ(find("none").path, "");
  EXPECT_EQ(find("./none").path, "");
  // Parts of PATH that depend on the working folder.
  command_.cwd = "/r";
  disk_.put("/r/bin/g++", "#!/bin/sh\n", 0755);
  disk_.put("/r/as", "#!/bin/sh\n", 0755);
  command_.environment["PATH"] = "bin::/usr/bin";
  EXPECT_EQ(find("g++").path, "/r/bin/g++");
  EXPECT_EQ(find("as").path, "/r/as");
  command_.environment.erase("PATH");
  EXPECT_EQ(find("g++").path, "/usr/bin/g++");
}

TEST_F(StatesTest, TheRestOfTheWorld) {
  EXPECT_EQ(ask(Aspect::machine, "cpu"), answer_text("Model 1"));
  EXPECT_TRUE(is_unknown(ask(Aspect::machine, "of a newer hallmark")));
  EXPECT_EQ(ask(Aspect::bound, "R"), answer_text("/r"));
  EXPECT_EQ(ask(Aspect::bound, "USER"), answer_absent());
  streams_.in = "words";
  EXPECT_EQ(ask(Aspect::stdin_bytes, ""), answer_digest(digest::digest_of("words")));
  streams_.in.reset();
  EXPECT_TRUE(is_unknown(ask(Aspect::stdin_bytes, "")));
}

TEST_F(StatesTest, WithoutALoaderCacheSonamesStillHaveAnAnswer) {
  const auto none = ask(Aspect::soname, "libc.so.6");
  EXPECT_FALSE(is_unknown(none));
  disk_.put("/etc/ld.so.cache", "of an unknown format");
  EXPECT_NE(ask(Aspect::soname, "libc.so.6"), none);
}

std::vector<Question> names_in(const std::string& folder, int count) {
  std::vector<Question> questions;
  for (int i = 10; i < 10 + count; ++i)
    questions.push_back({Aspect::kind, folder + "/n" + std::to_string(i)});
  return questions;
}

TEST_F(StatesTest, ManyNamesOfOneFolderCostOneListing) {
  disk_.put("/r/sub/n12", "");
  disk_.put("/r/sub/n15", "", 0755);
  const auto answers = ask_all(names_in("/r/sub", 40));
  EXPECT_EQ(counting_.lists, 1);
  EXPECT_EQ(counting_.lstats, 2) << "only for those that are there";
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const auto wanted = i == 2 ? "file" : i == 5 ? "executable file" : "absent";
    EXPECT_EQ(describe(answers[i]), wanted) << i;
  }
}

TEST_F(StatesTest, ManyNamesBelowAMissingFolderCostOneStat) {
  for (const auto& answer : ask_all(names_in("/r/none", 40))) EXPECT_EQ(answer, answer_absent());
  EXPECT_EQ(counting_.lstats, 0);
  EXPECT_EQ(counting_.lists, 0);
}

TEST_F(StatesTest, AFewNamesAreAskedOneByOne) {
  disk_.put("/r/sub/n12", "");
  (void)ask_all(names_in("/r/sub", 3));
  EXPECT_EQ(counting_.lists, 0);
  EXPECT_EQ(counting_.lstats, 3);
}

TEST_F(StatesTest, NamesOfAFolderThatIsAFileNowAreAbsent) {
  disk_.put("/r/sub", "a file");
  for (const auto& answer : ask_all(names_in("/r/sub", 40))) EXPECT_EQ(answer, answer_absent());
}

TEST_F(StatesTest, EachAnswerIsFoundOutOnce) {
  const Bindings bindings(command_, options_.root, "", "");
  PlainHasher hasher(counting_);
  States states({counting_, hasher, machine_, streams_, bindings, command_});
  const model::PathSet paths{{{Aspect::kind, "/r/a.h"}, {Aspect::machine, "cpu"}}};
  const auto first = states.ask(paths);
  disk_.put("/r/a.h", "", 0755);
  const std::vector<States::Known> known{{paths, first}};
  EXPECT_EQ(states.ask(paths, known), first) << "one look-up sees one world";
  EXPECT_EQ(counting_.lstats, 1);
  EXPECT_EQ(machine_.asked, Words{"cpu"});
}

TEST_F(StatesTest, TheNewestChangeIsThatOfTheContents) {
  disk_.put("/r/late.h", "");
  const auto now = clock_.now_ns();
  (void)disk_.touch("/r/late.h", now);
  (void)ask_all({{Aspect::content, "/r/a.h"}, {Aspect::content, "/r/late.h"}});
  EXPECT_EQ(newest_ns_, now);
  (void)disk_.touch("/r/late.h", now + 1'000'000'000);
  (void)ask_all({{Aspect::content, "/r/a.h"}, {Aspect::content, "/r/late.h"}});
  EXPECT_EQ(newest_ns_, stat_of("/r/a.h").mtime_ns) << "a time in the future is no change";
}

TEST_F(StatesTest, RealPathsHaveNoLinks) {
  (void)disk_.make_folder("/d", 0755);
  (void)disk_.make_link("../r/include", "/d/inc");
  (void)disk_.make_link("/d", "/e");
  disk_.put("/r/include/x.h", "");
  EXPECT_EQ(real_path(disk_, "/e/inc/x.h"), "/r/include/x.h");
  EXPECT_EQ(real_path(disk_, "/e/inc/../a.h"), "/r/a.h") << "above the folder that the link leads to";
  EXPECT_EQ(real_path(disk_, "//r/./include/"), "/r/include");
  EXPECT_EQ(real_path(disk_, "/"), "/");
  (void)disk_.make_link("/d", "/r/include/absolute");
  EXPECT_EQ(real_path(disk_, "/r/include/absolute"), "/d");
  EXPECT_EQ(real_path(disk_, "/e/none"), std::nullopt);
  (void)disk_.make_link("loop", "/loop");
  EXPECT_EQ(real_path(disk_, "/loop"), std::nullopt);
}

}  // namespace
}  // namespace hallmark::engine
