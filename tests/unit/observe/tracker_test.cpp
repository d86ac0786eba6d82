#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "observed_world.h"

namespace hallmark::observe {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

TEST(Tracker, ReadFileIsContentAndProbedNameIsAbsent) {
  ObservedWorld world;
  world.files.put("/w/a.c", "a");
  world.read("/w/a.c");
  world.look("/w/b.h");
  EXPECT_THAT(world.inputs(), ElementsAre("content /w/a.c", "absent /w/b.h"));
  EXPECT_THAT(world.outputs(), IsEmpty());
  EXPECT_THAT(world.doubts(), IsEmpty());
}

TEST(Tracker, StateIsThatOfTheFirstUse) {
  ObservedWorld world;
  world.files.put("/w/a.c", "a");
  const auto before = *world.files.lstat("/w/a.c");
  world.look("/w/a.c");
  world.clock.advance_ns(1'000'000'000);
  world.files.put("/w/a.c", "edited by somebody else");
  world.read("/w/a.c");
  const auto& inputs = world.finish().inputs;
  ASSERT_EQ(inputs.size(), 1u);
  EXPECT_EQ(inputs[0].use, model::Use::content);
  EXPECT_EQ(inputs[0].stat, before);
}

TEST(Tracker, FirstMissingNameStandsForAllBelow) {
  ObservedWorld world;
  world.read("/w/none/deeper/x.h");
  world.look("/w/none/other");
  EXPECT_THAT(world.inputs(), ElementsAre("absent /w/none"));
}

TEST(Tracker, FileInThePlaceOfAFolder) {
  ObservedWorld world;
  world.files.put("/w/file", "");
  world.read("/w/file/x");
  EXPECT_THAT(world.inputs(), ElementsAre("kind /w/file"));
}

TEST(Tracker, LinksAreInputsOfTheirOwnAndDotDotIsNotText) {
  ObservedWorld world;
  world.files.put("/usr/real/sub/x.h", "");
  world.files.put("/usr/real/y.h", "");
  (void)world.files.make_link("/usr/real/sub", "/w/dir");
  (void)world.files.make_link("x.h", "/usr/real/sub/alias.h");
  world.read("/w/dir/alias.h");
  world.read("/w/dir/../y.h");
  EXPECT_THAT(world.inputs(), ElementsAre("kind /usr/real/sub", "link /usr/real/sub/alias.h -> x.h",
                                          "content /usr/real/sub/x.h", "content /usr/real/y.h",
                                          "link /w/dir -> /usr/real/sub"));
}

TEST(Tracker, LinkLoopEnds) {
  ObservedWorld world;
  (void)world.files.make_link("b", "/w/a");
  (void)world.files.make_link("a", "/w/b");
  world.read("/w/a");
  EXPECT_THAT(world.inputs(), ElementsAre("link /w/a -> b", "link /w/b -> a"));
}

TEST(Tracker, DanglingLinkIsLinkAndAbsence) {
  ObservedWorld world;
  (void)world.files.make_link("/w/gone", "/w/l");
  world.read("/w/l");
  EXPECT_THAT(world.inputs(), ElementsAre("absent /w/gone", "link /w/l -> /w/gone"));
}

TEST(Tracker, ReadLinkOfALinkAndOfAFile) {
  ObservedWorld world;
  world.files.put("/w/f", "");
  (void)world.files.make_link("f", "/w/l");
  world.read_link("/w/l");
  world.read_link("/w/f");
  EXPECT_THAT(world.inputs(), ElementsAre("kind /w/f", "link /w/l -> f"));
}

TEST(Tracker, ReadAfterOwnWriteIsNoInput) {
  ObservedWorld world;
  world.write("/tmp/cc1.s");
  world.read("/tmp/cc1.s");
  world.remove("/tmp/cc1.s");
  world.look("/tmp/cc1.s");
  EXPECT_THAT(world.inputs(), IsEmpty());
  EXPECT_THAT(world.outputs(), IsEmpty());
}

TEST(Tracker, ProbeOfAPathThatIsLaterMadeWholeIsNoInput) {
  ObservedWorld world;
  world.look("/w/a.o");
  world.write("/w/a.o");
  world.files.put("/w/b.o", "old");
  world.look("/w/b.o");
  world.write("/w/b.o", "new bytes");
  EXPECT_THAT(world.inputs(), IsEmpty());
  EXPECT_THAT(world.outputs(), ElementsAre("new /w/a.o", "replaced /w/b.o"));
}

TEST(Tracker, ContentReadBeforeOwnWriteIsHashedBeforeIt) {
  ObservedWorld world;
  world.files.put("/w/lib.a", "old members");
  world.read("/w/lib.a");
  world.write("/w/lib.a", "new members");
  ASSERT_THAT(world.inputs(), ElementsAre("content /w/lib.a"));
  EXPECT_EQ(world.finish().inputs[0].digest, digest::digest_of("old members"));
  EXPECT_THAT(world.outputs(), ElementsAre("replaced /w/lib.a"));
  EXPECT_THAT(world.doubts(), IsEmpty());
}

TEST(Tracker, ContentReadThenRenamedOverIsHashedBeforeIt) {
  ObservedWorld world;
  world.files.put("/w/lib.a", "old");
  world.read("/w/lib.a");
  world.write("/w/st1", "new");
  world.rename("/w/st1", "/w/lib.a");
  ASSERT_THAT(world.inputs(), ElementsAre("content /w/lib.a"));
  EXPECT_EQ(world.finish().inputs[0].digest, digest::digest_of("old"));
  EXPECT_THAT(world.outputs(), ElementsAre("replaced /w/lib.a"));
}

TEST(Tracker, InputEditedByOthersBeforeOwnWriteIsADoubt) {
  ObservedWorld world;
  world.files.put("/w/lib.a", "old");
  world.read("/w/lib.a");
  world.clock.advance_ns(1'000'000'000);
  world.files.put("/w/lib.a", "edited");
  world.write("/w/lib.a", "new");
  world.finish();
  EXPECT_THAT(world.doubts(), ElementsAre("input_changed /w/lib.a"));
}

TEST(Tracker, AppendIsAChangeInPlaceAndReadsTheOldContent) {
  ObservedWorld world;
  world.files.put("/w/log", "old");
  world.append("/w/log");
  EXPECT_THAT(world.outputs(), ElementsAre("changed /w/log"));
  ASSERT_THAT(world.inputs(), ElementsAre("content /w/log"));
  EXPECT_EQ(world.finish().inputs[0].digest, digest::digest_of("old"));
}

TEST(Tracker, AppendToANewFileDependsOnItsAbsence) {
  ObservedWorld world;
  world.append("/w/log", "x");
  EXPECT_THAT(world.inputs(), ElementsAre("absent /w/log"));
  EXPECT_TRUE(world.finish().inputs.front().before_own_change);
}

TEST(Tracker, AppendToAnOwnFileStaysWhole) {
  ObservedWorld world;
  world.write("/w/log", "1");
  world.append("/w/log", "2");
  EXPECT_THAT(world.outputs(), ElementsAre("new /w/log"));
  EXPECT_THAT(world.inputs(), IsEmpty());
}

TEST(Tracker, LockFileThatIsOpenedAndNotChangedIsNoOutput) {
  ObservedWorld world;
  world.files.put("/w/.lock", "");
  world.report(Access::open_write, "/w/.lock", O_RDWR | O_CREAT);
  EXPECT_THAT(world.outputs(), IsEmpty());
}

TEST(Tracker, ExclusiveCreationOfAnExistingNameIsALook) {
  ObservedWorld world;
  world.files.put("/w/x", "");
  world.report(Access::open_write, "/w/x", O_RDWR | O_CREAT | O_EXCL);
  EXPECT_THAT(world.inputs(), ElementsAre("kind /w/x"));
  EXPECT_THAT(world.outputs(), IsEmpty());
}

TEST(Tracker, OpenForWritingWithoutCreationOfAMissingFile) {
  ObservedWorld world;
  world.report(Access::open_write, "/w/x", O_RDWR);
  world.report(Access::open_write, "/w/none/x", O_RDWR | O_CREAT);
  EXPECT_THAT(world.inputs(), ElementsAre("absent /w/none", "absent /w/x"));
}

TEST(Tracker, RemovedAndMadeAgainIsReplaced) {
  ObservedWorld world;
  world.files.put("/w/a.o", "old");
  world.remove("/w/a.o");
  world.look("/w/a.o");
  world.write("/w/a.o");
  EXPECT_THAT(world.outputs(), ElementsAre("replaced /w/a.o"));
  EXPECT_THAT(world.inputs(), IsEmpty());
}

TEST(Tracker, RemovalForGood) {
  ObservedWorld world;
  world.files.put("/w/a.o", "old");
  world.remove("/w/a.o");
  EXPECT_THAT(world.outputs(), ElementsAre("removed /w/a.o"));
}

TEST(Tracker, RemoveOfAMissingFileIsAProbe) {
  ObservedWorld world;
  world.remove("/w/a.o");
  EXPECT_THAT(world.inputs(), ElementsAre("absent /w/a.o"));
}

TEST(Tracker, RenameOfAForeignFileReadsItAndRemovesIt) {
  ObservedWorld world;
  world.files.put("/w/in", "bytes");
  world.rename("/w/in", "/w/out");
  ASSERT_THAT(world.inputs(), ElementsAre("content /w/in"));
  EXPECT_EQ(world.finish().inputs[0].digest, digest::digest_of("bytes"));
  EXPECT_THAT(world.outputs(), ElementsAre("new /w/out", "removed /w/in"));
}

TEST(Tracker, WhatLiesInAnOwnFolderIsOwn) {
  ObservedWorld world;
  world.make_folder("/w/build");
  world.look("/w/build/x");
  world.write("/w/build/x");
  world.read("/w/build/x");
  EXPECT_THAT(world.inputs(), IsEmpty());
  EXPECT_THAT(world.outputs(), ElementsAre("new /w/build folder", "new /w/build/x"));
}

TEST(Tracker, OwnFolderThatWasListedIsSearched) {
  ObservedWorld world;
  world.make_folder("/w/d");
  world.make_folder("/w/d/sub");
  world.list("/w/d");
  EXPECT_THAT(world.inputs(), IsEmpty());
  EXPECT_THAT(world.outputs(), ElementsAre("new /w/d folder searched", "new /w/d/sub folder"));
}

TEST(Tracker, OwnFolderInWhichANameIsMissedIsSearched) {
  ObservedWorld world;
  world.make_folder("/w/d");
  world.make_folder("/w/d/sub");
  world.look("/w/d/sub/none/x");
  EXPECT_THAT(world.inputs(), IsEmpty());
  EXPECT_THAT(world.outputs(), ElementsAre("new /w/d folder", "new /w/d/sub folder searched"));
}

TEST(Tracker, FolderThatWasMissedBeforeItWasMadeIsSearched) {
  ObservedWorld world;  // rm -rf gen; mkdir gen gen/sub
  world.remove("/w/gen");
  world.make_folder("/w/gen");
  world.make_folder("/w/gen/sub");
  world.make_folder("/w/other");
  EXPECT_THAT(world.inputs(), IsEmpty());
  EXPECT_THAT(world.outputs(), ElementsAre("new /w/gen folder searched", "new /w/gen/sub folder searched",
                                           "new /w/other folder"));
}

TEST(Tracker, ForeignFileInAnOwnFolderIsAnInput) {
  ObservedWorld world;
  world.make_folder("/w/gen");
  world.write("/w/gen/mine.h");
  world.files.put("/w/gen/theirs.h", "by somebody else");
  world.read("/w/gen/mine.h");
  world.read("/w/gen/theirs.h");
  EXPECT_THAT(world.inputs(), ElementsAre("content /w/gen/theirs.h"));
}

TEST(Tracker, ChangeThatFailedIsTakenBack) {
  ObservedWorld world;
  world.files.put("/usr/lib/read-only", "x");
  world.files.put("/usr/lib/kept", "x");
  world.files.put("/usr/lib/target", "x");
  world.report(Access::open_write, "/usr/lib/read-only", O_WRONLY | O_TRUNC);
  world.report(Access::remove, "/usr/lib/kept", 0, false);
  world.report(Access::rename, "/usr/lib/kept", 0, false, "/usr/lib/target");
  world.read("/usr/lib/read-only");
  world.read("/usr/lib/kept");
  world.read("/usr/lib/target");
  EXPECT_THAT(world.inputs(),
              ElementsAre("content /usr/lib/kept", "content /usr/lib/read-only", "content /usr/lib/target"));
  EXPECT_THAT(world.outputs(), IsEmpty());
}

TEST(Tracker, OwnFolderThatMoves) {
  ObservedWorld world;
  world.make_folder("/w/tmp");
  world.make_folder("/w/tmp/sub");
  world.write("/w/tmp/sub/x");
  world.write("/w/tmp/gone");
  world.remove("/w/tmp/gone");
  world.rename("/w/tmp", "/w/final");
  world.read("/w/final/sub/x");
  world.look("/w/final/none");
  EXPECT_THAT(world.inputs(), IsEmpty());
  EXPECT_THAT(world.outputs(),
              ElementsAre("new /w/final folder searched", "new /w/final/sub folder", "new /w/final/sub/x"));
}

TEST(Tracker, MakeFolderThatExistsIsALook) {
  ObservedWorld world;
  world.make_folder("/w");
  world.files.put("/w/x", "");
  world.read("/w/x");
  EXPECT_THAT(world.inputs(), ElementsAre("kind /w", "content /w/x"));
  EXPECT_THAT(world.outputs(), IsEmpty());
}

TEST(Tracker, RemoveFolderThatHoldsSomethingStays) {
  ObservedWorld world;
  world.files.put("/w/d/x", "");
  world.remove_folder("/w/d");
  world.read("/w/d/x");
  EXPECT_THAT(world.inputs(), ElementsAre("kind /w/d", "content /w/d/x"));
  EXPECT_THAT(world.outputs(), IsEmpty());
}

TEST(Tracker, OwnLinkBendsPathsThatWereWalkedBefore) {
  ObservedWorld world;
  world.files.put("/usr/include/x.h", "");
  world.read("/w/inc/x.h");
  world.make_link("/usr/include", "/w/inc");
  world.read("/w/inc/x.h");
  EXPECT_THAT(world.inputs(), ElementsAre("content /usr/include/x.h"));
  EXPECT_THAT(world.outputs(), ElementsAre("new /w/inc link"));
}

TEST(Tracker, ReplacedLinkKeepsTheTargetThatWasSeen) {
  ObservedWorld world;
  world.files.put("/w/1", "");
  (void)world.files.make_link("1", "/w/current");
  world.read("/w/current");
  world.remove("/w/current");
  world.make_link("2", "/w/current");
  world.read_link("/w/current");
  EXPECT_THAT(world.inputs(), ElementsAre("content /w/1", "link /w/current -> 1"));
  EXPECT_THAT(world.outputs(), ElementsAre("replaced /w/current link"));
}

TEST(Tracker, HardLinkReadsTheFile) {
  ObservedWorld world;
  world.files.put("/w/in", "bytes");
  world.report(Access::hard_link, "/w/in", 0, false, "/w/out");
  world.files.put("/w/out", "bytes");
  EXPECT_THAT(world.inputs(), ElementsAre("content /w/in"));
  EXPECT_THAT(world.outputs(), ElementsAre("new /w/out"));
}

TEST(Tracker, ListingHoldsWhatWasThereLessWhatIsOwn) {
  ObservedWorld world;
  world.files.put("/w/b", "");
  world.files.put("/w/a", "");
  world.files.put("/w/kept.o", "old");
  world.files.put("/w/__pycache__/x.pyc", "");
  world.write("/w/own.o");
  world.write("/w/kept.o");
  world.list("/w");
  world.files.put("/w/later", "by somebody else");
  world.list("/w");
  EXPECT_THAT(world.inputs(), ElementsAre("listing /w: a b kept.o"));
}

TEST(Tracker, AttributeChangeKeepsContentAnInput) {
  ObservedWorld world;
  world.files.put("/w/script", "#!/usr/bin/sh\n");
  world.files.put("/usr/bin/sh", "\x7f", 0755);
  world.set_mode("/w/script", 0755);
  world.execute("/w/script");
  EXPECT_THAT(world.inputs(), Contains("content /w/script"));
  EXPECT_THAT(world.outputs(), ElementsAre("changed /w/script"));
}

TEST(Tracker, ScriptNamesItsInterpreters) {
  ObservedWorld world;
  world.files.put("/w/gen", "#! /usr/bin/env python3\n", 0755);
  world.files.put("/usr/bin/env", "#!/usr/bin/sh", 0755);
  world.files.put("/usr/bin/sh", "binary", 0755);
  world.execute("/w/gen");
  EXPECT_THAT(world.inputs(), ElementsAre("content /usr/bin/env", "kind /usr/bin/env", "content /usr/bin/sh",
                                          "kind /usr/bin/sh", "content /w/gen", "kind /w/gen"));
  std::vector<std::string> programs;
  for (const auto& program : world.finish().programs) programs.push_back(program.name + "=" + program.path);
  EXPECT_THAT(programs, ElementsAre("gen=/w/gen", "env=/usr/bin/env", "sh=/usr/bin/sh"));
}

TEST(Tracker, ProgramKeepsTheNameItWasAskedBy) {
  ObservedWorld world;
  world.files.put("/usr/bin/busybox", "binary", 0755);
  (void)world.files.make_link("busybox", "/usr/bin/sed");
  world.execute("/usr/bin/sed");
  ASSERT_EQ(world.finish().programs.size(), 1u);
  EXPECT_EQ(world.finish().programs[0].name, "sed");
  EXPECT_EQ(world.finish().programs[0].path, "/usr/bin/busybox");
}

TEST(Tracker, ProgramOnPathIsProbedFolderByFolder) {
  ObservedWorld world;
  world.files.put("/usr/bin/cc", "binary", 0755);
  world.files.put("/w/cc", "not executable", 0644);
  world.execute("/tmp/cc");
  world.execute("/w/cc");
  world.execute("/usr/bin/cc");
  EXPECT_THAT(world.inputs(),
              ElementsAre("absent /tmp/cc", "content /usr/bin/cc", "kind /usr/bin/cc", "kind /w/cc"));
  EXPECT_EQ(world.tracker.executions(), 1u);
}

TEST(Tracker, PrivilegedProgramIsADoubt) {
  ObservedWorld world;
  world.files.put("/usr/bin/sudo", "binary", 04755);
  world.files.put("/usr/bin/ping", "binary", 0755);
  world.processes.capable.insert("/usr/bin/ping");
  world.execute("/usr/bin/sudo");
  world.execute("/usr/bin/ping");
  EXPECT_THAT(world.doubts(), ElementsAre("privileged /usr/bin/ping", "privileged /usr/bin/sudo"));
}

TEST(Tracker, PrivilegesThatWeHaveAnywayAreNoDoubt) {
  ObservedWorld world({{}, {}, true});
  world.files.put("/usr/bin/sudo", "binary", 04755);
  world.execute("/usr/bin/sudo");
  EXPECT_THAT(world.doubts(), IsEmpty());
}

}  // namespace
}  // namespace hallmark::observe
