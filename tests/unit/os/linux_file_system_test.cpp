// What only the real file system can show.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

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
  if (::geteuid() == 0) GTEST_SKIP() << "SKIPPED: root may write everywhere";
  EXPECT_FALSE(linux_file_system().is_writable_folder("/usr").value());
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
