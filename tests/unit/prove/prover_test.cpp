#include "prove/prover.h"

#include <gmock/gmock.h>

#include "base/limits.h"
#include "unit/prove/proof_world.h"

namespace hallmark::prove {
namespace {

using test::ProofTest;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST_F(ProofTest, WhatWasJustMadeIsFresh) {
  build();
  const auto proof = proof_of("/r/build/lib.so");
  EXPECT_EQ(proof.verdict, Verdict::fresh);
  const auto all = steps_of(steps_, proof);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(steps_[all[0]].output, "/r/build/lib.so");
  EXPECT_THAT(steps_[all[0]].argv, ElementsAre("nvcc", "-o", "/r/build/lib.so"));
  EXPECT_EQ(steps_[all[1]].output, "/r/build/a.o");
  EXPECT_EQ(steps_[all[2]].output, "/r/build/b.o");
  EXPECT_THAT(chain_to_cause(steps_, proof), IsEmpty());
}

TEST_F(ProofTest, AnEditedHeaderIsNamedWithTheChainToIt) {
  build();
  edit("/r/include/k.h", "another");
  EXPECT_THAT(cause_of("/r/build/lib.so"),
              ElementsAre("/r/build/lib.so", "/r/build/a.o", "/r/include/k.h changed"));
  EXPECT_EQ(verdict_of("/r/build/b.o"), Verdict::fresh);
  edit("/r/include/k.h", "k");
  EXPECT_EQ(verdict_of("/r/build/lib.so"), Verdict::fresh) << "the bytes count, not the time";
}

TEST_F(ProofTest, ANameThatWasAbsentAndAFileThatIsGoneAreDifferences) {
  build();
  edit("/r/k.h", "in front of the other");
  EXPECT_THAT(cause_of("/r/build/lib.so"),
              ElementsAre("/r/build/lib.so", "/r/build/a.o", HasSubstr("/r/k.h")));
  (void)disk_.remove("/r/k.h");
  EXPECT_EQ(verdict_of("/r/build/lib.so"), Verdict::fresh);
  (void)disk_.remove("/r/b.cu");
  EXPECT_THAT(cause_of("/r/build/lib.so"),
              ElementsAre("/r/build/lib.so", "/r/build/b.o", HasSubstr("/r/b.cu")));
}

TEST_F(ProofTest, TheToolsCountAsWell) {
  build();
  edit("/usr/bin/nvcc", "a newer nvcc");
  EXPECT_EQ(verdict_of("/r/build/lib.so"), Verdict::stale);
}

TEST_F(ProofTest, WhatLiesBetweenMayBeGone) {
  build();
  edit("/home/copy.so", "library");
  for (const char* file : {"a.o", "b.o", "lib.so"}) (void)disk_.remove(std::string("/r/build/") + file);
  EXPECT_EQ(verdict_of("/home/copy.so"), Verdict::fresh);
  ASSERT_TRUE(disk_.remove_folder("/r/build").has_value());
  EXPECT_EQ(verdict_of("/home/copy.so"), Verdict::fresh) << "its folder, too";
  edit("/r/include/k.h", "another");
  EXPECT_EQ(verdict_of("/home/copy.so"), Verdict::stale);
}

TEST_F(ProofTest, WhatLiesBetweenMayNotDiffer) {
  build();
  edit("/r/build/b.o", "made by somebody else");
  EXPECT_THAT(cause_of("/r/build/lib.so"), ElementsAre("/r/build/lib.so", "/r/build/b.o changed"))
      << "linked of other objects than those that are there";
  record({"/r/b.cu"}, "/r/build/b.o", "made by another command", {}, {}, "-O3");
  EXPECT_THAT(cause_of("/r/build/lib.so"), ElementsAre("/r/build/lib.so", "/r/build/b.o changed"));
}

TEST_F(ProofTest, EqualBytesOfTwoRunsAreFreshIfOneOfThemIs) {
  record({"/r/a.cu"}, "/r/build/a.o", "object");
  edit("/r/a.cu", "a // a comment");
  EXPECT_EQ(verdict_of("/r/build/a.o"), Verdict::stale);
  record({"/r/a.cu"}, "/r/build/a.o", "object");
  record({"/r/build/a.o"}, "/r/build/lib.so", "library");
  EXPECT_EQ(verdict_of("/r/build/lib.so"), Verdict::fresh);
  edit("/r/a.cu", "a");
  EXPECT_EQ(verdict_of("/r/build/lib.so"), Verdict::fresh) << "the first run made the same object of this";
  edit("/r/a.cu", "neither");
  EXPECT_EQ(verdict_of("/r/build/lib.so"), Verdict::stale);
}

TEST_F(ProofTest, AnEarlierResultIsStaleThoughALaterOneIsKnown) {
  build();
  edit("/home/old.so", "library");
  edit("/r/include/k.h", "another");
  record({"/r/a.cu", "/r/include/k.h", "/usr/bin/nvcc"}, "/r/build/a.o", "another object", {"/r/k.h"});
  record({"/r/build/a.o", "/r/build/b.o"}, "/r/build/lib.so", "another library");
  EXPECT_EQ(verdict_of("/r/build/lib.so"), Verdict::fresh);
  EXPECT_THAT(cause_of("/home/old.so"),
              ElementsAre("/r/build/lib.so", "/r/build/a.o", "/r/include/k.h changed"));
  edit("/r/include/k.h", "k");
  EXPECT_EQ(verdict_of("/home/old.so"), Verdict::fresh) << "though the object that is there is the later one";
  EXPECT_EQ(verdict_of("/r/build/lib.so"), Verdict::stale);
}

TEST_F(ProofTest, OtherBytesOfTheSameRunAreKnown) {
  const auto made = record({"/r/a.cu"}, "/r/build/a.o", "first");
  edit("/r/build/a.o", "second");
  note(made, "/r/build/a.o", "second");
  const auto proof = proof_of("/r/build/a.o");
  EXPECT_EQ(proof.verdict, Verdict::fresh);
  EXPECT_EQ(steps_[*proof.step].output, "/r/build/a.o");
}

TEST_F(ProofTest, BytesThatNobodyMadeAreUnknown) {
  build();
  edit("/r/build/lib.so", "stripped");
  EXPECT_THAT(cause_of("/r/build/lib.so"), ElementsAre(HasSubstr("but not these bytes")));
  EXPECT_EQ(verdict_of("/r/build/lib.so"), Verdict::unknown);
  edit("/home/x.so", "of nobody");
  EXPECT_THAT(cause_of("/home/x.so"), ElementsAre(HasSubstr("no command that hallmark recorded")));
  StoreEvidence evidence(*store_);
  Prover prover({disk_, store_->hasher(), evidence, machine_, environment_, uid_});
  EXPECT_EQ(prover.prove("/r/none", {}).error().kind, ErrorKind::not_found);
  EXPECT_EQ(prover.prove("/r/build", {}).error().kind, ErrorKind::invalid);
}

TEST_F(ProofTest, AHeaderAndItsCopyDoNotMakeEachOther) {
  // A copy has the bytes of its source: by bytes alone each would come from the copying of the other.
  disk_.put("/r/gen.h", "same");
  record({"/r/gen.h"}, "/r/build/gen.h", "same");
  record({"/r/build/gen.h"}, "/r/build/a.o", "object");
  EXPECT_EQ(verdict_of("/r/build/a.o"), Verdict::fresh);
  edit("/r/gen.h", "new");
  EXPECT_THAT(cause_of("/r/build/a.o"), ElementsAre("/r/build/a.o", "/r/build/gen.h", "/r/gen.h changed"));
}

TEST_F(ProofTest, LostAndDamagedDerivationsAreUnknown) {
  build();
  const auto files = disk_.files_below("/store/derivations");
  ASSERT_EQ(files.size(), 3u);
  for (const auto& file : files) {
    const auto bytes = disk_.bytes(file);
    disk_.damage(file, bytes.substr(0, bytes.size() - 1) + "x");
    EXPECT_EQ(verdict_of("/r/build/lib.so"), Verdict::unknown) << file;
    EXPECT_EQ(verdict_of("/r/build/lib.so"), Verdict::unknown) << file << " was removed";
    disk_.put(file, bytes);
    EXPECT_EQ(verdict_of("/r/build/lib.so"), Verdict::fresh);
  }
}

TEST_F(ProofTest, ADifferenceIsSaidBesideADoubt) {
  build();
  for (const auto& file : disk_.files_below("/store/derivations")) {
    if (file.ends_with(b_.strong.hex())) (void)disk_.remove(file);
  }
  EXPECT_EQ(verdict_of("/r/build/lib.so"), Verdict::unknown);
  edit("/r/include/k.h", "another");
  EXPECT_EQ(verdict_of("/r/build/lib.so"), Verdict::stale) << "whatever the rest says";
}

TEST_F(ProofTest, AForgedDerivationIsFoundOut) {
  build();
  auto derivation = store_->derivation(a_.strong).value().value();
  edit("/r/include/k.h", "another");
  derivation.answers[0] = engine::answer_digest(digest::digest_of(std::string_view("another")));
  for (const auto& file : disk_.files_below("/store/derivations")) {
    if (file.ends_with(a_.strong.hex())) (void)disk_.remove(file);
  }
  ASSERT_TRUE(store_->put_derivation(a_.strong, derivation).has_value());
  EXPECT_THAT(cause_of("/r/build/lib.so"),
              ElementsAre("/r/build/lib.so", "/r/build/a.o", HasSubstr("belongs to another run")));
}

TEST_F(ProofTest, RecordsInACircleAreUnknown) {
  disk_.put("/r/x", "X");
  disk_.put("/r/y", "Y");
  record({"/r/x"}, "/r/y", "Y");
  record({"/r/y"}, "/r/x", "X");
  EXPECT_EQ(verdict_of("/r/x"), Verdict::unknown);
  EXPECT_THAT(cause_of("/r/x").back(), HasSubstr("lead in a circle"));
}

TEST_F(ProofTest, WhatARunReadsAndMakesAnewIsALeaf) {
  disk_.put("/r/table", "sorted");
  record({"/r/table"}, "/r/table", "sorted");
  EXPECT_EQ(verdict_of("/r/table"), Verdict::fresh);
  // ar and ranlib.
  record({"/r/a.cu"}, "/r/build/lib.a", "archive");
  record({"/r/build/lib.a"}, "/r/build/lib.a", "archive with an index", {}, {}, "ranlib");
  EXPECT_EQ(verdict_of("/r/build/lib.a"), Verdict::fresh) << "its own output is not its input";
  edit("/r/a.cu", "another");
  EXPECT_EQ(verdict_of("/r/build/lib.a"), Verdict::stale);
  disk_.put("/r/list", "a");
  record({"/r/list"}, "/r/list", "a numbered");
  EXPECT_EQ(verdict_of("/r/list"), Verdict::unknown) << "what was numbered is gone";
}

TEST_F(ProofTest, OfTwoCommandsThatMakeEqualBytesTheLastCounts) {
  const auto plain = record({"/r/a.cu"}, "/r/a.o", "object");
  // With a further folder to search, in which nothing is found.
  const auto searching = record({"/r/a.cu"}, "/r/a.o", "object", {"/r/more/k.h"}, {}, "-Imore");
  record({"/r/a.o"}, "/r/lib.so", "library");
  EXPECT_EQ(verdict_of("/r/lib.so"), Verdict::fresh);
  edit("/r/more/k.h", "appears");
  EXPECT_EQ(verdict_of("/r/a.o"), Verdict::stale)
      << "the earlier command would not see it, but nobody runs it";
  EXPECT_EQ(verdict_of("/r/lib.so"), Verdict::stale);
  // The first command is back: a replay.
  note(plain, "/r/a.o", "object");
  EXPECT_EQ(verdict_of("/r/a.o"), Verdict::fresh);
  EXPECT_EQ(verdict_of("/r/lib.so"), Verdict::fresh);
}

TEST_F(ProofTest, AnEndlessChainIsUnknown) {
  disk_.put("/r/f0", "0");
  std::size_t last = 0;
  for (std::size_t i = 1; i <= limits::kDerivationSteps + 10; ++i) {
    record({"/r/f" + std::to_string(i - 1)}, "/r/f" + std::to_string(i), std::to_string(i));
    last = i;
  }
  EXPECT_EQ(verdict_of("/r/f" + std::to_string(last)), Verdict::unknown);
  EXPECT_EQ(verdict_of("/r/f" + std::to_string(last - 20)), Verdict::fresh);
}

TEST_F(ProofTest, ManyEqualOutputsKeepTheirPlaces) {
  for (int i = 0; i < 100; ++i) {
    const auto n = std::to_string(i);
    disk_.put("/r/in" + n, "input " + n);
    record({"/r/in" + n}, "/r/stamp" + n, "");
  }
  record({"/r/stamp0"}, "/r/out", "out");
  edit("/r/in7", "changed");
  EXPECT_EQ(verdict_of("/r/out"), Verdict::fresh);
  edit("/r/in0", "changed");
  EXPECT_THAT(cause_of("/r/out"), ElementsAre("/r/out", "/r/stamp0", "/r/in0 changed"));
}

TEST_F(ProofTest, WhatAnUnseenStepOfNinjaMadeIsNoSource) {
  places_.push_back({"B", "/r/out"});
  disk_.put("/r/out/build.ninja",
            "build gen.h: gen gen.py\n"
            "build build.ninja: RERUN_CMAKE | config.h.in\n"
            "build config.h: phony\n");
  disk_.put("/r/out/gen.h", "generated");
  disk_.put("/r/out/config.h", "configured");
  record({"/r/a.cu", "/r/out/config.h"}, "/r/out/a.o", "object");
  EXPECT_EQ(verdict_of("/r/out/a.o"), Verdict::fresh) << "configured, by no step of the build";
  record({"/r/a.cu", "/r/out/gen.h"}, "/r/out/b.o", "another object");
  EXPECT_THAT(
      cause_of("/r/out/b.o"),
      ElementsAre("/r/out/b.o", "/r/out/gen.h: a step of the build made it that hallmark did not run"));
  edit("/r/out/gen.h", "generated anew");
  EXPECT_EQ(verdict_of("/r/out/b.o"), Verdict::stale);
  record({"/r/gen.py"}, "/r/out/gen.h", "generated");
  EXPECT_EQ(verdict_of("/r/out/b.o"), Verdict::fresh) << "now its maker is known";
}

TEST_F(ProofTest, WithMakeOnlyWhatCMakeWroteIsASource) {
  places_.push_back({"B", "/r/out"});
  disk_.put("/r/out/CMakeFiles/Makefile.cmake",
            "set(CMAKE_MAKEFILE_DEPENDS\n  \"CMakeCache.txt\"\n  \"/r/out/gen.h\"\n  )\n"
            "set(CMAKE_MAKEFILE_OUTPUTS\n  \"Makefile\"\n  )\n"
            "set(CMAKE_MAKEFILE_PRODUCTS\n  \"config.h\"\n  \"/r/out/abs.h\"\n  )\n"
            "set(CMAKE_DEPEND_INFO_FILES\n  \"gen.h\"\n  )\n");
  for (const char* name : {"config.h", "abs.h", "gen.h"}) disk_.put(std::string("/r/out/") + name, name);
  record({"/r/out/config.h", "/r/out/abs.h", "/r/a.cu"}, "/r/out/a.o", "object");
  EXPECT_EQ(verdict_of("/r/out/a.o"), Verdict::fresh);
  record({"/r/out/gen.h"}, "/r/out/b.o", "another object");
  EXPECT_EQ(verdict_of("/r/out/b.o"), Verdict::unknown);
}

TEST_F(ProofTest, AnObjectOrLibraryInTheTreeIsNoSource) {
  for (const char* name : {"/r/lib/x.a", "/r/lib/x.so.1", "/r/x.o", "/r/x.cubin"}) {
    disk_.put(name, "made somewhere");
    record({name}, "/r/lib.so", std::string("library of ") + name);
    EXPECT_THAT(cause_of("/r/lib.so").back(), HasSubstr("no command that hallmark recorded made it")) << name;
  }
  for (const char* name : {"/usr/lib/x.so", "/r/x.o.txt", "/r/a.cu"}) {
    disk_.put(name, "a source, or the system's");
    record({name}, "/r/lib.so", std::string("library of ") + name);
    EXPECT_EQ(verdict_of("/r/lib.so"), Verdict::fresh) << name;
  }
}

TEST_F(ProofTest, TheSameFileUnderAnotherToken) {
  // A build in sub/ has a build folder of its own; to the one above it is a folder of the tree.
  const auto top = places_;
  places_.insert(places_.begin() + 1, {"B", "/r/sub"});
  record({"/r/gen.py"}, "/r/sub/gen.h", "generated by sub, in more than a few bytes");
  places_ = top;
  record({"/r/sub/gen.h", "/r/a.cu"}, "/r/a.o", "object");
  EXPECT_EQ(verdict_of("/r/a.o"), Verdict::fresh);
  edit("/r/gen.py", "another");
  EXPECT_THAT(cause_of("/r/a.o"), ElementsAre("/r/a.o", "/r/sub/gen.h", HasSubstr("/r/gen.py")));
}

TEST_F(ProofTest, WhatAnUnrecordedRunMadeIsNoSource) {
  disk_.put("/r/gen.h", "generated");
  ASSERT_TRUE(store_->note_made(std::nullopt, places_, {{{}, "/r/gen.h"}}).has_value());
  record({"/r/gen.h"}, "/r/a.o", "object");
  EXPECT_THAT(cause_of("/r/a.o"), ElementsAre("/r/a.o", HasSubstr("could not be recorded")));
  EXPECT_THAT(cause_of("/r/gen.h"), ElementsAre(HasSubstr("could not be recorded")));
}

TEST_F(ProofTest, AMadeFileThatSomebodyChangedIsNoSource) {
  record({"/r/gen.py"}, "/r/gen.h", "generated");
  edit("/r/gen.h", "generated, and patched");
  record({"/r/gen.h"}, "/r/a.o", "object");
  EXPECT_THAT(cause_of("/r/a.o").back(), HasSubstr("but not the bytes that were read"));
}

TEST_F(ProofTest, MadeBytesThatWereMovedAreNoSource) {
  const std::string text = "generated, in more than a few bytes";
  record({"/r/gen.py"}, "/r/gen.h.tmp", text);
  (void)disk_.rename("/r/gen.h.tmp", "/r/gen.h");
  record({"/r/gen.h"}, "/r/a.o", "object");
  EXPECT_THAT(cause_of("/r/a.o").back(), HasSubstr("made these bytes elsewhere"));
  record({"/r/gen.py"}, "/r/small.tmp", "1");
  disk_.put("/r/VERSION", "1");
  record({"/r/VERSION"}, "/r/c.o", "a third object");
  EXPECT_EQ(verdict_of("/r/c.o"), Verdict::fresh) << "equal by chance";
  (void)disk_.remove("/r/small.tmp");
  EXPECT_EQ(verdict_of("/r/c.o"), Verdict::unknown) << "it may have been moved there";
  disk_.put("/usr/gen.h", text);
  record({"/usr/gen.h"}, "/r/b.o", "another object");
  EXPECT_EQ(verdict_of("/r/b.o"), Verdict::fresh) << "outside of the tree it is a source";
}

TEST_F(ProofTest, LostNotesMakeEveryFileOfTheTreeDoubtful) {
  build();
  disk_.damage("/store/made", disk_.bytes("/store/made") + "half a line");
  EXPECT_EQ(verdict_of("/r/build/lib.so"), Verdict::unknown);
  edit("/r/include/k.h", "another");
  EXPECT_EQ(verdict_of("/r/build/lib.so"), Verdict::stale);
}

TEST_F(ProofTest, AStepThatMakesOtherBytesOfEqualInputs) {
  const auto gen = record({"/r/gen.py"}, "/r/gen.h", "at 10:00");
  record({"/r/gen.h"}, "/r/a.o", "object");
  EXPECT_EQ(verdict_of("/r/a.o"), Verdict::fresh);
  edit("/r/gen.h", "at 10:05");
  note(gen, "/r/gen.h", "at 10:05");
  EXPECT_THAT(cause_of("/r/a.o"), ElementsAre("/r/a.o", "/r/gen.h changed"));
}

TEST_F(ProofTest, ResponseFilesOfNinjaAreWordsOfTheCommand) {
  disk_.put("/r/app.rsp", "a.o b.o");
  const auto link = record({"/r/app.rsp", "/r/a.cu"}, "/r/app", "program", {}, {}, "@app.rsp");
  (void)disk_.remove("/r/app.rsp");
  EXPECT_EQ(verdict_of("/r/app"), Verdict::fresh);
  edit("/r/app.rsp", "a.o");
  EXPECT_EQ(verdict_of("/r/app"), Verdict::stale);
}

TEST_F(ProofTest, AnArchiveThatGrowsInPlaceIsUnknown) {
  record({"/r/a.cu"}, "/r/lib.a", "archive 1");
  record({"/r/lib.a", "/r/a.cu", "/r/b.cu"}, "/r/lib.a", "archive 2");
  EXPECT_EQ(verdict_of("/r/lib.a"), Verdict::fresh);
  edit("/r/a.cu", "another");
  record({"/r/lib.a", "/r/a.cu", "/r/b.cu"}, "/r/lib.a", "archive 3");
  EXPECT_THAT(cause_of("/r/lib.a"), ElementsAre("/r/lib.a", HasSubstr("earlier run of this command")));
}

class Trees : public ProofTest {
 protected:
  void check_out(const std::string& tree) {
    for (const char* file : {"/include/k.h", "/a.cu", "/b.cu", "/build/a.o", "/build/b.o", "/build/lib.so"})
      disk_.put(tree + file, disk_.bytes(std::string("/r") + file));
    clock_.advance_ms(1000);
  }
};

TEST_F(Trees, AnOutputInItsPlaceIsJudgedByTheTreeAroundIt) {
  build();
  check_out("/s");
  edit("/r/include/k.h", "another");
  EXPECT_EQ(verdict_of("/r/build/lib.so", {std::nullopt, "/r"}), Verdict::stale);
  EXPECT_EQ(verdict_of("/s/build/lib.so", {std::nullopt, "/s"}), Verdict::fresh);
  edit("/s/include/k.h", "third");
  EXPECT_THAT(cause_of("/s/build/lib.so", {std::nullopt, "/s"}),
              ElementsAre("/s/build/lib.so", "/s/build/a.o", "/s/include/k.h changed"));
}

TEST_F(Trees, EachReplayIsJudgedInItsOwnTree) {
  build();
  check_out("/s");
  places_[0].second = "/s";
  note(a_, "/s/build/a.o", "object a");
  note(b_, "/s/build/b.o", "object b");
  note(lib_, "/s/build/lib.so", "library");
  edit("/s/include/k.h", "another");
  EXPECT_EQ(verdict_of("/r/build/lib.so"), Verdict::fresh);
  EXPECT_THAT(cause_of("/s/build/lib.so"),
              ElementsAre("/s/build/lib.so", "/s/build/a.o", "/s/include/k.h changed"))
      << "though the objects were first made in /r";
  edit("/r/include/k.h", "a third");
  edit("/s/include/k.h", "k");
  EXPECT_EQ(verdict_of("/r/build/lib.so"), Verdict::stale);
  EXPECT_EQ(verdict_of("/s/build/lib.so"), Verdict::fresh);
  edit("/home/copy.so", "library");
  EXPECT_EQ(verdict_of("/home/copy.so"), Verdict::fresh) << "last made in /s";
}

TEST_F(Trees, AReplayWithoutANoteIsNoSource) {
  // The store was read-only, or the replay was killed in front of its note.
  disk_.put("/r/value", "1");
  disk_.put("/s/value", "1");
  record({"/r/value"}, "/r/gen.h", "1");
  disk_.put("/s/gen.h", "1");
  places_[0].second = "/s";
  record({"/s/gen.h"}, "/s/a.o", "object");
  EXPECT_THAT(cause_of("/s/a.o"), ElementsAre("/s/a.o", HasSubstr("made these bytes elsewhere")));
}

TEST_F(Trees, AnotherTreesCommandDoesNotCount) {
  record({"/r/a.cu"}, "/r/a.o", "object", {"/r/more/k.h"}, {}, "-Imore");
  places_[0].second = "/s";
  disk_.put("/s/a.cu", "a");
  record({"/s/a.cu"}, "/s/a.o", "object");
  edit("/r/more/k.h", "appears");
  EXPECT_EQ(verdict_of("/r/a.o"), Verdict::stale);
  EXPECT_EQ(verdict_of("/s/a.o"), Verdict::fresh);
}

TEST_F(Trees, ACopyIsJudgedWhereItWasMade) {
  build();
  edit("/s/vendor/lib.so", "library");
  EXPECT_EQ(verdict_of("/s/vendor/lib.so", {std::nullopt, "/s"}), Verdict::fresh);
  edit("/r/include/k.h", "another");
  EXPECT_THAT(cause_of("/s/vendor/lib.so", {std::nullopt, "/s"}),
              ElementsAre("/r/build/lib.so", "/r/build/a.o", "/r/include/k.h changed"));
}

TEST_F(Trees, TheNamedTreeWins) {
  build();
  check_out("/s");
  edit("/s/include/k.h", "another");
  EXPECT_EQ(verdict_of("/r/build/lib.so", {"/s", std::nullopt}), Verdict::stale);
  edit("/r/include/k.h", "another");
  edit("/s/include/k.h", "k");
  EXPECT_EQ(verdict_of("/r/build/lib.so", {"/s", std::nullopt}), Verdict::fresh);
}

TEST_F(Trees, ATreeThatIsGoneIsUnknown) {
  build();
  check_out("/s");
  edit("/home/copy.so", "library");
  for (const auto& file : disk_.files_below("/r")) (void)disk_.remove(file);
  for (const char* folder : {"/r/build", "/r/include", "/r"}) (void)disk_.remove_folder(folder);
  EXPECT_THAT(cause_of("/home/copy.so"), ElementsAre("/r/build/lib.so", HasSubstr("is gone; name the tree")));
  EXPECT_EQ(verdict_of("/home/copy.so", {"/s", std::nullopt}), Verdict::fresh);
}

TEST_F(ProofTest, WhatLayInATemporaryFolderIsUnknownWhenThatIsGone) {
  places_.push_back({"ISOLATED", "/tmp/build-env-x"});
  disk_.put("/tmp/build-env-x/pybind11.h", "header");
  record({"/tmp/build-env-x/pybind11.h"}, "/r/ext.so", "extension");
  EXPECT_EQ(verdict_of("/r/ext.so"), Verdict::fresh);
  edit("/tmp/build-env-x/pybind11.h", "another");
  EXPECT_EQ(verdict_of("/r/ext.so"), Verdict::stale);
  (void)disk_.remove("/tmp/build-env-x/pybind11.h");
  EXPECT_THAT(cause_of("/r/ext.so"), ElementsAre("/r/ext.so", HasSubstr("temporary folder that is gone")));
}

TEST_F(ProofTest, WhoeverVerifiesMayBeSomebodyElse) {
  record({"/r/a.cu"}, "/r/a.o", "made by u", {}, {{model::Aspect::bound, "USER"}});
  environment_["USER"] = "another";
  EXPECT_EQ(verdict_of("/r/a.o"), Verdict::fresh);
}

TEST_F(ProofTest, WhatCannotBeAskedTodayIsUnknown) {
  record({"/r/a.cu"}, "/r/a.o", "object", {}, {{model::Aspect::stdin_bytes, ""}});
  EXPECT_EQ(verdict_of("/r/a.o"), Verdict::unknown);
}

TEST_F(ProofTest, ProgramsAreLookedUpInThePathOfTheBuild) {
  record({"/r/a.cu"}, "/r/a.o", "object", {}, {{model::Aspect::program, "nvcc"}});
  environment_["PATH"] = "/elsewhere";
  EXPECT_EQ(verdict_of("/r/a.o"), Verdict::fresh);
  places_[2].second = "/opt/bin:/usr/bin";
  record({"/r/a.cu"}, "/r/b.o", "another object", {}, {{model::Aspect::program, "nvcc"}});
  EXPECT_EQ(verdict_of("/r/b.o"), Verdict::fresh);
  disk_.put("/opt/bin/nvcc", "another", 0755);
  EXPECT_EQ(verdict_of("/r/b.o"), Verdict::stale);
  EXPECT_EQ(verdict_of("/r/a.o"), Verdict::fresh);
}

}  // namespace
}  // namespace hallmark::prove
