#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "observed_world.h"

namespace hallmark::observe {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

TEST(Tracker, StoreIsInvisible) {
  ObservedWorld world({{"/w/store"}, {}, false});
  world.files.put("/w/store/blobs/1", "");
  world.read("/w/store/blobs/1");
  world.write("/w/store/blobs/2");
  world.list("/w");
  EXPECT_THAT(world.inputs(), ElementsAre("listing /w:"));
  EXPECT_THAT(world.outputs(), IsEmpty());
}

TEST(Tracker, BytecodeStandsForItsSource) {
  ObservedWorld world;
  world.files.put("/usr/lib/py/mod.py", "source");
  world.files.put("/usr/lib/py/__pycache__/mod.cpython-311.pyc", "code");
  world.read("/usr/lib/py/__pycache__/mod.cpython-311.pyc");
  world.write("/usr/lib/py/__pycache__/other.cpython-311.pyc.140");
  world.rename("/usr/lib/py/__pycache__/other.cpython-311.pyc.140",
               "/usr/lib/py/__pycache__/other.cpython-311.pyc");
  EXPECT_THAT(world.inputs(), ElementsAre("content /usr/lib/py/mod.py"));
  EXPECT_THAT(world.outputs(), IsEmpty());
}

TEST(Tracker, NestedHallmarkReadsWhatItLooksAt) {
  ObservedWorld world({{}, "/usr/bin/hallmark", true});
  world.files.put("/usr/bin/hallmark", "binary", 0755);
  world.files.put("/usr/bin/gcc", "binary", 0755);
  world.files.put("/w/seen.h", "");
  world.files.put("/w/plain.h", "");
  world.execute("/usr/bin/hallmark");
  world.processes.threads[101] = 100;
  world.thread = 101;  // a second thread of it
  world.look("/w/seen.h");
  world.thread = 200;
  world.look("/w/plain.h");
  world.thread = 100;
  world.execute("/usr/bin/gcc");
  world.look("/w/plain.h");
  EXPECT_THAT(world.inputs(), Contains("content /w/seen.h"));
  EXPECT_THAT(world.inputs(), Contains("kind /w/plain.h"));
  EXPECT_THAT(world.inputs(), Not(Contains("content /w/plain.h")));
}

TEST(Tracker, NestedHallmarkDependsOnTheMachineButNotOnItsAncestors) {
  ObservedWorld world({{}, "/usr/bin/hallmark", true});
  world.files.put("/usr/bin/hallmark", "binary", 0755);
  world.files.put("/proc/7/stat", "7 (sh) S 1");
  world.files.put("/proc/cpuinfo", "cpu");
  world.execute("/usr/bin/hallmark");
  world.read("/proc/7/stat");
  world.read("/proc/cpuinfo");
  EXPECT_THAT(world.inputs(), Contains("content /proc/cpuinfo"));
  EXPECT_THAT(world.inputs(), Not(Contains("content /proc/7/stat")));
}

TEST(Tracker, OtherFilesBesideBytecodeAreFiles) {
  ObservedWorld world;
  world.files.put("/w/__pycache__/table.txt", "1");
  world.read("/w/__pycache__/table.txt");
  EXPECT_THAT(world.inputs(), ElementsAre("content /w/__pycache__/table.txt"));
}

TEST(Tracker, FileThatIsNoFolderIsThere) {
  ObservedWorld world;
  world.files.put("/w/file", "");
  Event event;
  event.thread = world.thread;
  event.access = Access::open_read;
  event.path = "/w/file";
  event.flags = O_DIRECTORY;
  event.result = -ENOTDIR;
  world.tracker.on_event(event);
  EXPECT_THAT(world.inputs(), ElementsAre("kind /w/file"));
}

TEST(Tracker, NestedUpgradeComesAlsoAfterAPlainLook) {
  ObservedWorld world({{}, "/usr/bin/hallmark", true});
  world.files.put("/usr/bin/hallmark", "binary", 0755);
  world.files.put("/w/x.h", "");
  world.look("/w/x.h");
  world.execute("/usr/bin/hallmark");
  world.look("/w/x.h");
  EXPECT_THAT(world.inputs(), Contains("content /w/x.h"));
}

TEST(Tracker, WhoReadsProcSelfIsNoFactOfTheMachine) {
  ObservedWorld world;  // realpath /dev/stdout, as gcc does
  (void)world.files.make_link("/proc/self/fd/1", "/dev/stdout");
  (void)world.files.make_link("100", "/proc/self");
  (void)world.files.make_link("100/task/100", "/proc/thread-self");
  world.read_link("/dev/stdout");
  world.read_link("/proc/self");
  world.look("/proc/thread-self", false);
  EXPECT_THAT(world.inputs(), IsEmpty());
}

TEST(Tracker, OwnProcessFolderIsNoInputAndOthersAre) {
  ObservedWorld world;
  world.files.put("/proc/100/status", "mine");
  world.files.put("/proc/1/status", "init");
  world.files.put("/proc/cpuinfo", "cpu");
  world.read("/proc/self/status");
  world.read("/proc/100/status");
  world.read("/proc/1/status");
  world.read("/proc/cpuinfo");
  ASSERT_THAT(world.inputs(), ElementsAre("content /proc/1/status", "content /proc/cpuinfo"));
  EXPECT_EQ(world.finish().inputs[1].digest, digest::digest_of("cpu"));
}

TEST(Tracker, ProcessLinksLeadOn) {
  ObservedWorld world;
  world.files.put("/w/x", "");
  (void)world.files.make_folder("/proc/100", 0755);
  (void)world.files.make_link("/w", "/proc/100/cwd");
  world.read("/proc/self/cwd/x");
  EXPECT_THAT(world.inputs(), ElementsAre("content /w/x"));
}

TEST(Tracker, RootOfAProcessBoundsItsPaths) {
  ObservedWorld world;
  world.files.put("/w/jail/etc/real", "");
  (void)world.files.make_folder("/proc/100", 0755);
  (void)world.files.make_link("/w/jail", "/proc/100/root");
  (void)world.files.make_link("/etc/real", "/w/jail/etc/alias");
  const std::string process = "/proc/100/";
  world.read(process + "root/../etc/alias");
  EXPECT_THAT(world.inputs(), Contains("content /w/jail/etc/real"));
}

TEST(Tracker, HarmlessDevicesAreNoInputs) {
  ObservedWorld world;
  world.files.put("/dev/null", "");
  world.read("/dev/null");
  world.report(Access::open_write, "/dev/null", O_WRONLY);
  world.look("/dev/urandom");
  EXPECT_THAT(world.inputs(), IsEmpty());
  EXPECT_THAT(world.outputs(), IsEmpty());
}

TEST(Tracker, LateAnswersOfTheFastPathAreBelieved) {
  ObservedWorld world;
  world.files.put("/w/a.h", "");
  Event event;
  event.thread = 100;
  event.access = Access::open_read;
  event.path = "/w/a.h";
  event.result = -ENOENT;  // it appeared between the access and its report
  world.tracker.on_event(event);
  EXPECT_THAT(world.inputs(), ElementsAre("absent /w/a.h"));
}

TEST(Tracker, FolderThatSomebodyElseMadeMeanwhile) {
  ObservedWorld world;
  world.read("/w/gen/x.h");
  world.files.put("/w/gen/x.h", "");
  Event event;
  event.thread = 100;
  event.access = Access::open_read;
  event.path = "/w/gen/x.h";
  event.result = 0;
  world.tracker.on_event(event);
  EXPECT_THAT(world.inputs(), Contains("content /w/gen/x.h"));
}

TEST(Tracker, StatOfTheFastPathIsTaken) {
  ObservedWorld world;
  world.files.put("/w/a.h", "");
  world.look("/w/a.h");
  world.files.put("/w/b.h", "");
  FileStat stat = **world.files.lstat("/w/b.h");
  stat.mtime_ns = 42;
  Event event;
  event.thread = 100;
  event.access = Access::open_read;
  event.path = "/w/b.h";
  event.result = 0;
  event.stat = stat;
  world.look("/w/b.h", false);  // the walk knows it now
  world.tracker.on_event(event);
  EXPECT_THAT(world.inputs(), ElementsAre("kind /w/a.h", "content /w/b.h"));
}

TEST(Tracker, EqualAccessesAskTheDiskOnce) {
  ObservedWorld world;
  world.files.put("/w/a.h", "");
  for (int i = 0; i < 1000; ++i) world.read("/w/a.h");
  EXPECT_THAT(world.inputs(), ElementsAre("content /w/a.h"));
}

TEST(Tracker, TooManyPathsAreADoubtAndBounded) {
  ObservedWorld world;
  for (std::size_t i = 0; i < limits::kObservedPaths * 2; ++i) {
    Event event;
    event.thread = 100;
    event.access = Access::look;
    const std::string path = "/w/" + std::to_string(i);
    event.path = path;
    world.tracker.on_event(event);
  }
  EXPECT_EQ(world.finish().inputs.size(), limits::kObservedPaths);
  EXPECT_THAT(world.doubts(), ElementsAre("limit_reached kObservedPaths"));
}

TEST(Tracker, ExchangeTakesBothContents) {
  ObservedWorld world;
  world.files.put("/w/a", "1");
  world.files.put("/w/b", "2");
  world.report(Access::rename, "/w/a", 2, false, "/w/b");
  world.files.put("/w/a", "2");
  world.files.put("/w/b", "1");
  EXPECT_THAT(world.inputs(), ElementsAre("content /w/a", "content /w/b"));
  EXPECT_THAT(world.outputs(), ElementsAre("replaced /w/a", "replaced /w/b"));
}

TEST(Tracker, RenameThatMustNotReplaceIsALook) {
  ObservedWorld world;
  world.files.put("/w/a", "1");
  world.files.put("/w/b", "2");
  world.report(Access::rename, "/w/a", 1, false, "/w/b");
  EXPECT_THAT(world.inputs(), ElementsAre("kind /w/b"));
  EXPECT_THAT(world.outputs(), IsEmpty());
}

}  // namespace
}  // namespace hallmark::observe
