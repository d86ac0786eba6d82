// What only the real file system can show.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "os/clock.h"
#include "os/file_system.h"
#include "support/temp_folder.h"

namespace hallmark::os {
namespace {

TEST(LinuxFileSystem, ProcFilesAreReadWholeThoughTheirSizeIsZero) {
  const auto text = read_file(linux_file_system(), "/proc/self/status", 1 << 20);
  ASSERT_TRUE(text.has_value());
  EXPECT_NE(text->find("VmRSS"), std::string::npos);
  EXPECT_EQ(read_file(linux_file_system(), "/proc/self/status", 10).error().kind, ErrorKind::limit);
}

TEST(LinuxFileSystem, ProcFilesAreCopiedThoughTheirSizeIsZero) {
  const test::TempFolder folder;
  ASSERT_TRUE(linux_file_system().copy("/proc/version", folder.at("v"), 0644).has_value());
  EXPECT_EQ(read_file(linux_file_system(), folder.at("v"), 4096).value(),
            read_file(linux_file_system(), "/proc/version", 4096).value());
}

TEST(LinuxFileSystem, NamesThatAreTooLongAreAbsent) {
  EXPECT_EQ(linux_file_system().lstat("/" + std::string(300, 'n')).value(), std::nullopt);
}

TEST(LinuxFileSystem, StatIsExactToTheNanosecond) {
  const test::TempFolder folder;
  ::close(::open(folder.at("a").c_str(), O_CREAT | O_WRONLY, 0640));
  struct stat raw {};
  ASSERT_EQ(::stat(folder.at("a").c_str(), &raw), 0);
  const auto stat = linux_file_system().lstat(folder.at("a")).value();
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->ctime_ns, raw.st_ctim.tv_sec * 1'000'000'000 + raw.st_ctim.tv_nsec);
  EXPECT_EQ(stat->inode, raw.st_ino);
  EXPECT_EQ(stat->device, raw.st_dev);
}

TEST(LinuxFileSystem, AFullDiskIsNoSpace) {
  auto full = linux_file_system().append("/dev/full", 0);
  if (!full.has_value()) GTEST_SKIP() << "SKIPPED: no /dev/full";
  EXPECT_EQ((*full)->write(as_bytes("x")).error().kind, ErrorKind::no_space);
}

TEST(LinuxFileSystem, AFifoWithoutAWriterDoesNotHoldUpAReader) {
  const test::TempFolder folder;
  ASSERT_EQ(::mkfifo(folder.at("f").c_str(), 0644), 0);
  EXPECT_EQ(read_file(linux_file_system(), folder.at("f"), 100).value_or("error"), "");
}

TEST(LinuxFileSystem, ALockDiesWithItsHolder) {
  const test::TempFolder folder;
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    auto held = linux_file_system().lock(folder.at("l"), LockMode::exclusive, LockWait::yes);
    (void)!::write(ready[1], held.has_value() ? "y" : "n", 1);
    ::pause();
    ::_exit(0);
  }
  char answer = 0;
  ASSERT_EQ(::read(ready[0], &answer, 1), 1);
  ASSERT_EQ(answer, 'y');
  EXPECT_EQ(linux_file_system().lock(folder.at("l"), LockMode::exclusive, LockWait::no).value(), nullptr);
  EXPECT_EQ(std::atoi(read_file(linux_file_system(), folder.at("l"), 64).value().c_str()), child);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_NE(linux_file_system().lock(folder.at("l"), LockMode::exclusive, LockWait::yes).value(), nullptr);
}

TEST(LinuxFileSystem, ALockThatIsLetGoIsFreeThoughAForkedChildHasItsDescriptor) {
  const test::TempFolder folder;
  auto held = linux_file_system().lock(folder.at("l"), LockMode::exclusive, LockWait::yes).value();
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  held.reset();
  EXPECT_NE(linux_file_system().lock(folder.at("l"), LockMode::exclusive, LockWait::no).value(), nullptr);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

TEST(LinuxFileSystem, FoldersWithoutPermissionAreNotWritable) {
  const pid_t child = ::fork();
  if (child == 0) {
    constexpr uid_t kNobody = 65534;  // root may write everywhere
    if (::geteuid() == 0 && ::setuid(kNobody) != 0) ::_exit(2);
    const auto writable = linux_file_system().is_writable_folder("/usr");
    ::_exit(writable.has_value() && !*writable ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

class UnseenFileTest : public testing::TestWithParam<Unseen> {
 protected:
  std::unique_ptr<UnseenFile> begin() { return files_.create_unseen(folder_.path(), GetParam()).value(); }
  std::string text(const std::string& name) {
    return read_file(files_, folder_.at(name), 1 << 20).value_or("none");
  }

  const test::TempFolder folder_;
  FileSystem& files_ = linux_file_system();
};

TEST_P(UnseenFileTest, AppearsWholeWithItsMode) {
  const mode_t before = ::umask(077);
  auto file = begin();
  ASSERT_TRUE(file->write(as_bytes("one ")).has_value());
  ASSERT_TRUE(file->write(as_bytes("two")).has_value());
  ASSERT_TRUE(file->finish(0755).has_value());
  ::umask(before);
  EXPECT_EQ(files_.lstat(folder_.at("a")).value(), std::nullopt);
  ASSERT_TRUE(file->appear(folder_.at("a")).has_value());
  file.reset();
  EXPECT_EQ(text("a"), "one two");
  EXPECT_EQ(files_.lstat(folder_.at("a")).value()->mode, 0755u);
  EXPECT_EQ(files_.list(folder_.path()).value(), std::vector<std::string>{"a"});
}

TEST_P(UnseenFileTest, TakesThePlaceOfAFileAndOfALinkNotOfWhatItNames) {
  ASSERT_TRUE(write_file_atomically(files_, folder_.at("kept"), "kept", "t", false).has_value());
  ASSERT_TRUE(write_file_atomically(files_, folder_.at("a"), "old", "t", false).has_value());
  ASSERT_TRUE(files_.make_link("kept", folder_.at("l")).has_value());
  for (const char* name : {"a", "l"}) {
    auto file = begin();
    ASSERT_TRUE(file->write(as_bytes("new")).has_value());
    ASSERT_TRUE(file->finish(0644).has_value());
    ASSERT_TRUE(file->appear(folder_.at(name)).has_value());
  }
  EXPECT_EQ(text("a"), "new");
  EXPECT_EQ(text("l"), "new");
  EXPECT_EQ(text("kept"), "kept");
  EXPECT_EQ(files_.list(folder_.path()).value().size(), 3u);
}

TEST_P(UnseenFileTest, AFolderIsInTheWayAndNothingIsLeft) {
  ASSERT_TRUE(files_.make_folder(folder_.at("d"), 0777).has_value());
  {
    auto file = begin();
    ASSERT_TRUE(file->finish(0644).has_value());
    EXPECT_FALSE(file->appear(folder_.at("d")).has_value());
  }
  EXPECT_EQ(files_.list(folder_.path()).value(), std::vector<std::string>{"d"});
}

TEST_P(UnseenFileTest, OneThatNeverAppearsLeavesNothing) {
  {
    auto written = begin();
    ASSERT_TRUE(written->write(as_bytes("bytes")).has_value());
    const auto untouched = begin();
  }
  EXPECT_TRUE(files_.list(folder_.path()).value().empty());
}

TEST_P(UnseenFileTest, AnEmptyOneAppears) {
  auto file = begin();
  ASSERT_TRUE(file->finish(0644).has_value());
  ASSERT_TRUE(file->appear(folder_.at("a")).has_value());
  EXPECT_EQ(text("a"), "");
}

TEST_P(UnseenFileTest, IsReadBackFromItsStart) {
  auto file = begin();
  ASSERT_TRUE(file->write(as_bytes("bytes")).has_value());
  const auto back = file->read_back().value();
  std::array<std::uint8_t, 9> buffer{};
  ASSERT_EQ(back->read(buffer).value(), 5u);
  EXPECT_EQ(buffer[0], 'b');
}

TEST_P(UnseenFileTest, ACloneIsWholeOrTheFileStaysEmpty) {
  ASSERT_TRUE(write_file_atomically(files_, folder_.at("a"), "bytes", "t", false).has_value());
  auto file = begin();
  const auto cloned = file->clone(folder_.at("a"));
  ASSERT_TRUE(cloned.has_value());
  ASSERT_TRUE(file->finish(0644).has_value());
  ASSERT_TRUE(file->appear(folder_.at("b")).has_value());
  EXPECT_EQ(text("b"), *cloned ? "bytes" : "");
}

INSTANTIATE_TEST_SUITE_P(Both, UnseenFileTest, testing::Values(Unseen::nameless, Unseen::hidden),
                         [](const auto& each) {
                           return each.param == Unseen::nameless ? "nameless" : "hidden";
                         });

TEST(UnseenFile, ADeathLeavesNoNamelessOne) {
  const test::TempFolder folder;
  const pid_t child = ::fork();
  if (child == 0) {
    auto file = linux_file_system().create_unseen(folder.path(), Unseen::nameless);
    ::_exit(file.has_value() && (*file)->write(as_bytes("bytes")).has_value() ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_EQ(status, 0);
  EXPECT_TRUE(linux_file_system().list(folder.path()).value().empty());
}

TEST(SystemClock, MovesAndStampsFiles) {
  const test::TempFolder folder;
  Clock& clock = system_clock();
  const std::int64_t before = clock.now_ns();
  ::close(::open(folder.at("a").c_str(), O_CREAT | O_WRONLY, 0640));
  const std::int64_t mtime_ns = linux_file_system().lstat(folder.at("a")).value()->mtime_ns;
  EXPECT_LT(std::llabs(mtime_ns - before), 1'000'000'000) << "same clock as that of the files";
  const std::int64_t steady = clock.steady_ns();
  EXPECT_GE(clock.steady_ns(), steady);
}

}  // namespace
}  // namespace hallmark::os
