#include "kernels/settled_files.h"

#include <gmock/gmock.h>

#include <cerrno>

#include "support/fake_clock.h"
#include "support/fake_file_system.h"
#include "support/fault_file_system.h"

namespace hallmark::kernels {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

WantedFile text(std::string path, std::string bytes) {
  return {WantedFile::Kind::text, std::move(path), std::move(bytes)};
}

class SettledFilesTest : public ::testing::Test {
 protected:
  SettledFilesTest() { files_.put("/b/somebody", "else"); }

  Result<Settled> settle(const std::vector<WantedFile>& wanted) {
    return SettledFiles(files_, "/b", ".record").settle(wanted);
  }
  std::int64_t mtime_of(const std::string& path) { return (*files_.lstat(path))->mtime_ns; }
  void tick() { clock_.advance_ns(1'000'000'000); }

  test::FakeClock clock_;
  test::FakeFileSystem files_{clock_};
};

TEST_F(SettledFilesTest, MakesWhatIsWanted) {
  files_.put("/src/h.h", "int x;", 0755);
  const auto settled = settle({text("gen/a", "A"),
                               {WantedFile::Kind::copy, "include/h.h", "/src/h.h"},
                               {WantedFile::Kind::link, "lib/l.so", "l.so.1"}});
  ASSERT_TRUE(settled.has_value()) << settled.error().message();
  EXPECT_EQ(settled->written, 3u);
  EXPECT_EQ(files_.bytes("/b/gen/a"), "A");
  EXPECT_EQ(files_.bytes("/b/include/h.h"), "int x;");
  EXPECT_TRUE((*files_.lstat("/b/include/h.h"))->executable());
  EXPECT_EQ(*files_.read_link("/b/lib/l.so"), "l.so.1");
}

TEST_F(SettledFilesTest, WhatIsRightKeepsItsTime) {
  files_.put("/src/h.h", "int x;");
  const std::vector<WantedFile> wanted = {text("gen/a", "A"),
                                          {WantedFile::Kind::copy, "include/h.h", "/src/h.h"},
                                          {WantedFile::Kind::link, "lib/l.so", "l.so.1"}};
  ASSERT_TRUE(settle(wanted).has_value());
  const auto before = mtime_of("/b/gen/a");
  const auto record = mtime_of("/b/.record");
  tick();
  const auto settled = settle(wanted);
  ASSERT_TRUE(settled.has_value());
  EXPECT_EQ(settled->untouched, 3u);
  EXPECT_EQ(settled->written, 0u);
  EXPECT_EQ(mtime_of("/b/gen/a"), before);
  EXPECT_EQ(mtime_of("/b/.record"), record);
}

TEST_F(SettledFilesTest, WhatWasEditedIsMadeAgain) {
  ASSERT_TRUE(settle({text("gen/a", "A")}).has_value());
  for (const char* bytes : {"B", "", "AA"}) {
    files_.put("/b/gen/a", bytes);
    ASSERT_TRUE(settle({text("gen/a", "A")}).has_value());
    EXPECT_EQ(files_.bytes("/b/gen/a"), "A");
  }
}

TEST_F(SettledFilesTest, WhatIsNoLongerWantedGoesWithItsFolders) {
  ASSERT_TRUE(settle({text("gen/deep/er/a", "A"), text("gen/b", "B")}).has_value());
  const auto settled = settle({text("gen/b", "B")});
  ASSERT_TRUE(settled.has_value());
  EXPECT_EQ(settled->removed, 1u);
  EXPECT_THAT(files_.files_below("/b"), ElementsAre("/b/.record", "/b/gen/b", "/b/somebody"));
  EXPECT_FALSE((*files_.lstat("/b/gen/deep")).has_value());
}

TEST_F(SettledFilesTest, WhatSomebodyElsePutThereStays) {
  ASSERT_TRUE(settle({text("gen/a", "A")}).has_value());
  files_.put("/b/gen/theirs", "T");
  ASSERT_TRUE(settle({}).has_value());
  EXPECT_THAT(files_.files_below("/b"), ElementsAre("/b/.record", "/b/gen/theirs", "/b/somebody"));
}

TEST_F(SettledFilesTest, AFileMayBecomeAFolderAndBack) {
  ASSERT_TRUE(settle({text("a", "A")}).has_value());
  ASSERT_TRUE(settle({text("a/b", "B")}).has_value());
  EXPECT_EQ(files_.bytes("/b/a/b"), "B");
  ASSERT_TRUE(settle({text("a", "A")}).has_value());
  EXPECT_EQ(files_.bytes("/b/a"), "A");
}

TEST_F(SettledFilesTest, NothingLeavesTheFolder) {
  for (const char* path : {"../x", "/x", "a/../../x", "", "a//b", "./a"}) {
    const auto settled = settle({text(path, "A")});
    ASSERT_FALSE(settled.has_value()) << path;
    EXPECT_EQ(settled.error().kind, ErrorKind::invalid);
  }
  files_.put("/b/.record", "../precious\n/precious\n");
  files_.put("/precious", "P");
  ASSERT_TRUE(settle({}).has_value());
  EXPECT_EQ(files_.bytes("/precious"), "P");
}

TEST_F(SettledFilesTest, OnePathIsNotAFileAndAFolder) {
  const auto settled = settle({text("a", "A"), text("a/b", "B")});
  ASSERT_FALSE(settled.has_value());
  EXPECT_THAT(settled.error().what, HasSubstr("\"a\" would be a file and a folder"));
}

TEST_F(SettledFilesTest, AFileToCopyThatIsNotThereIsNamed) {
  const auto settled = settle({{WantedFile::Kind::copy, "h.h", "/src/gone.h"}});
  ASSERT_FALSE(settled.has_value());
  EXPECT_THAT(settled.error().what, HasSubstr("/src/gone.h"));
}

/// Killed, or with a full disk, at every step: the next call makes all right, and no earlier file outlives
/// it.
TEST(SettledFilesFaultTest, AnyStepMayBeTheLast) {
  const std::vector<WantedFile> before = {text("gen/old", "old"), text("gen/both", "1"), text("x/y", "y")};
  const std::vector<WantedFile> after = {
      text("gen/new", "new"), text("gen/both", "2"), {WantedFile::Kind::link, "lib/l", "l.1"}};
  std::uint64_t steps = 0;
  {
    test::FakeClock clock;
    test::FakeFileSystem files(clock);
    files.put("/b/somebody", "else");
    ASSERT_TRUE(SettledFiles(files, "/b", ".record").settle(before).has_value());
    test::FaultFileSystem counting(files);
    ASSERT_TRUE(SettledFiles(counting, "/b", ".record").settle(after).has_value());
    steps = counting.steps();
  }
  for (std::uint64_t step = 1; step <= steps; ++step) {
    for (const bool is_killed : {true, false}) {
      test::FakeClock clock;
      test::FakeFileSystem files(clock);
      files.put("/b/somebody", "else");
      ASSERT_TRUE(SettledFiles(files, "/b", ".record").settle(before).has_value());
      test::FaultFileSystem faulty(files);
      if (is_killed) {
        faulty.stop_at(step);
      } else {
        faulty.fail_at(step, ENOSPC);
      }
      (void)SettledFiles(faulty, "/b", ".record").settle(after);
      for (const auto& path : files.files_below("/b/gen")) {
        if (path.ends_with(".tmp"))
          continue;  // hidden; on file systems that have nameless files not even that
        const auto bytes = files.bytes(path);
        EXPECT_TRUE(bytes == "old" || bytes == "new" || bytes == "1" || bytes == "2")
            << path << ": " << bytes;
      }
      const auto settled = SettledFiles(files, "/b", ".record").settle(after);
      ASSERT_TRUE(settled.has_value()) << step << ": " << settled.error().message();
      auto present = files.files_below("/b/gen");
      std::erase_if(present, [](const auto& path) { return path.ends_with(".tmp"); });
      EXPECT_THAT(present, ElementsAre("/b/gen/both", "/b/gen/new")) << step;
      EXPECT_EQ(files.bytes("/b/gen/both"), "2");
      EXPECT_FALSE((*files.lstat("/b/x")).has_value()) << step;
      EXPECT_EQ(files.bytes("/b/somebody"), "else");
    }
  }
  EXPECT_GT(steps, 10u);
}

}  // namespace
}  // namespace hallmark::kernels
