#include "engine/internal/linux_ports.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <ctime>

#include "engine/plain_hasher.h"
#include "support/fake_clock.h"
#include "support/fake_file_system.h"
#include "support/forwarding_file_system.h"
#include "support/temp_folder.h"

namespace hallmark::engine {
namespace {

using model::StreamKind;

class LinuxMachineTest : public ::testing::Test {
 protected:
  std::string identity(std::string_view what) {
    return LinuxMachine(disk_, clock_).identity(what).value_or("nothing");
  }
  test::FakeClock clock_;
  test::FakeFileSystem disk_{clock_};
};

constexpr const char* kProcessor =
    "processor\t: 0\nvendor_id\t: V\nmodel name\t: Fast 9000\ncpu MHz\t\t: 2000.0\nflags\t\t: sse avx\n";

TEST_F(LinuxMachineTest, TheProcessorIsWhatCodeItCanRun) {
  disk_.put("/proc/cpuinfo", kProcessor);
  const auto one = identity("cpu");
  EXPECT_TRUE(one.starts_with("Fast 9000 ")) << one;
  std::string text(kProcessor);
  text.replace(text.find("2000"), 4, "3141");
  disk_.put("/proc/cpuinfo", text + "\n" + kProcessor);
  EXPECT_EQ(identity("cpu"), one) << "neither its clock nor the number of its cores";
  text.replace(text.find("avx"), 3, "fma");
  disk_.put("/proc/cpuinfo", text);
  EXPECT_NE(identity("cpu"), one);
  (void)disk_.remove("/proc/cpuinfo");
  EXPECT_EQ(identity("cpu"), "unknown");
}

TEST_F(LinuxMachineTest, GpusAreTheirModelsAndTheDriver) {
  EXPECT_EQ(identity("gpu"), "none");
  const std::string place = "/proc/driver/nvidia/gpus/0000:01:00.0/information";
  disk_.put("/proc/driver/nvidia/version", "driver 1\n");
  disk_.put(place, "Model: \t GPU A\nIRQ: 5\n");
  const auto one = identity("gpu");
  disk_.put(place, "Model: \t GPU A\nIRQ: 7\n");
  EXPECT_EQ(identity("gpu"), one);
  disk_.put(place, "Model: \t GPU B\nIRQ: 7\n");
  EXPECT_NE(identity("gpu"), one);
  disk_.put("/sys/class/kfd/kfd/topology/nodes/1/gpu_id", "51123\n");
  EXPECT_NE(identity("gpu").find("51123"), std::string::npos);
}

TEST_F(LinuxMachineTest, TheDateIsThatOfThePlace) {
  const char* before = std::getenv("TZ");
  const std::string zone = before != nullptr ? before : "";
  clock_.set_ns(1'800'000'000'000'000'000);
  setenv("TZ", "UTC0", 1);
  tzset();
  EXPECT_EQ(identity("date"), "2027-01-15");
  setenv("TZ", "AAA-23", 1);
  tzset();
  EXPECT_EQ(identity("date"), "2027-01-16") << "__DATE__ is local";
  before != nullptr ? setenv("TZ", zone.c_str(), 1) : unsetenv("TZ");
  tzset();
}

TEST_F(LinuxMachineTest, TheRest) {
  EXPECT_FALSE(identity("arch").empty());
  EXPECT_NE(identity("host").find(identity("arch")), std::string::npos);
  EXPECT_EQ(identity("of a newer hallmark"), "nothing");
  EXPECT_FALSE(LinuxMachine(disk_, clock_).has_fine_stamps("/nowhere"));
}

/// Puts a descriptor in the place of stdin for a while.
class StdinIs {
 public:
  explicit StdinIs(int descriptor) : saved_(dup(STDIN_FILENO)) {
    dup2(descriptor, STDIN_FILENO);
    close(descriptor);
  }
  ~StdinIs() {
    if (saved_ >= 0) {
      dup2(saved_, STDIN_FILENO);
      close(saved_);
    } else {
      close(STDIN_FILENO);
    }
  }
  StdinIs(const StdinIs&) = delete;
  StdinIs& operator=(const StdinIs&) = delete;

 private:
  int saved_;
};

std::string read_all(int descriptor) {
  std::string bytes;
  std::array<char, 64> buffer{};
  for (ssize_t got = 0; (got = read(descriptor, buffer.data(), buffer.size())) > 0;)
    bytes.append(buffer.data(), static_cast<std::size_t>(got));
  return bytes;
}

int pipe_with(std::string_view bytes) {
  std::array<int, 2> ends{};
  EXPECT_EQ(pipe(ends.data()), 0);
  EXPECT_EQ(write(ends[1], bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  close(ends[1]);
  return ends[0];
}

TEST(LinuxStreams, AFileOnStdinCountsFromWhereItStands) {
  test::TempFolder folder;
  const auto path = folder.at("in");
  const int file = open(path.c_str(), O_RDWR | O_CREAT, 0600);
  ASSERT_EQ(write(file, "skipped words", 13), 13);
  lseek(file, 8, SEEK_SET);
  const StdinIs in(file);
  LinuxStreams streams;
  EXPECT_EQ(streams.digest_of_stdin(StreamKind::file), digest::digest_of("words"));
  EXPECT_EQ(lseek(STDIN_FILENO, 0, SEEK_CUR), 8) << "nothing was taken from it";
  EXPECT_FALSE(streams.stdin_at_end());
  EXPECT_TRUE(streams.feed_back().has_value());
  EXPECT_EQ(read_all(STDIN_FILENO), "words");
  lseek(STDIN_FILENO, 8, SEEK_SET);
  streams.skip_stdin(StreamKind::file);
  EXPECT_TRUE(streams.stdin_at_end());
}

TEST(LinuxStreams, APipeIsEmptiedAndGivenBack) {
  const StdinIs in(pipe_with("words"));
  LinuxStreams streams;
  EXPECT_EQ(streams.digest_of_stdin(StreamKind::pipe), digest::digest_of("words"));
  EXPECT_EQ(streams.digest_of_stdin(StreamKind::pipe), digest::digest_of("words")) << "asked again";
  EXPECT_TRUE(streams.feed_back().has_value());
  EXPECT_EQ(streams.digest_of_stdin(StreamKind::pipe), digest::digest_of("words")) << "takes nothing back";
  EXPECT_EQ(read_all(STDIN_FILENO), "words");
}

TEST(LinuxStreams, ACommandThatDoesNotReadItsPipeEndsNobody) {
  // More than a pipe holds, so that the feeder still waits when the command has ended.
  const std::string words(1u << 20, 'x');
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  std::thread writer([&] {
    std::size_t done = 0;
    while (done < words.size()) {
      const ssize_t wrote = write(ends[1], words.data() + done, words.size() - done);
      if (wrote <= 0) break;
      done += static_cast<std::size_t>(wrote);
    }
    close(ends[1]);
  });
  const StdinIs in(ends[0]);
  {
    LinuxStreams streams;
    EXPECT_EQ(streams.digest_of_stdin(StreamKind::pipe), digest::digest_of(words));
    EXPECT_TRUE(streams.feed_back().has_value());
  }
  writer.join();
}

TEST(LinuxStreams, WhatNobodyAskedForIsLeftAlone) {
  const StdinIs in(pipe_with("words"));
  LinuxStreams streams;
  EXPECT_TRUE(streams.feed_back().has_value());
  streams.skip_stdin(StreamKind::pipe);
  EXPECT_EQ(read_all(STDIN_FILENO), "words");
}

TEST(LinuxStreams, NullDeviceAndTerminal) {
  EXPECT_EQ(LinuxStreams().digest_of_stdin(StreamKind::null_device), digest::digest_of(""));
  EXPECT_EQ(LinuxStreams().digest_of_stdin(StreamKind::tty), std::nullopt);
  EXPECT_EQ(LinuxStreams().digest_of_stdin(StreamKind::closed), std::nullopt);
}

TEST(LinuxStreams, WritesAllOrSaysWhy) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  LinuxStreams streams;
  EXPECT_TRUE(streams.write(ends[1], "bytes").has_value());
  std::array<char, 8> buffer{};
  EXPECT_EQ(read(ends[0], buffer.data(), buffer.size()), 5);
  close(ends[0]);
  const auto old = signal(SIGPIPE, SIG_IGN);
  EXPECT_TRUE(streams.write(ends[1], "bytes").has_value()) << "a reader that went away misses nothing";
  signal(SIGPIPE, old);
  close(ends[1]);
  const int full = open("/dev/full", O_WRONLY);
  ASSERT_GE(full, 0);
  EXPECT_EQ(streams.write(full, "bytes").error().kind, ErrorKind::io);
  close(full);
}

TEST(PlainHasher, HashesAnewAndFollowsLinks) {
  test::FakeClock clock;
  test::FakeFileSystem disk(clock);
  const std::string large(600'000, 'x');
  disk.put("/f", large);
  (void)disk.make_link("f", "/link");
  PlainHasher hasher(disk);
  EXPECT_EQ(hasher.hash("/link").value().digest, digest::digest_of(large));
  EXPECT_EQ(hasher.hash("/link").value().stat, *disk.lstat("/f").value());
  disk.damage("/f", "other");
  EXPECT_EQ(hasher.hash("/f").value().digest, digest::digest_of("other"));
  EXPECT_EQ(hasher.hash("/none").error().kind, ErrorKind::not_found);
}

/// Somebody writes to each file while it is read.
class BusyFileSystem final : public test::ForwardingFileSystem {
 public:
  explicit BusyFileSystem(test::FakeFileSystem& disk) : ForwardingFileSystem(disk), disk_(disk) {}
  Result<std::unique_ptr<os::ReadableFile>> open_read(const std::string& path) override {
    HALLMARK_TRY(auto file, disk_.open_read(path));
    return std::make_unique<File>(disk_, path, std::move(file));
  }

 private:
  class File final : public os::ReadableFile {
   public:
    File(test::FakeFileSystem& disk, std::string path, std::unique_ptr<os::ReadableFile> inner)
        : disk_(disk), path_(std::move(path)), inner_(std::move(inner)) {}
    Result<std::size_t> read(std::span<std::uint8_t> into) override {
      (void)disk_.touch(path_, 1);
      return inner_->read(into);
    }
    Result<FileStat> stat() override { return inner_->stat(); }

   private:
    test::FakeFileSystem& disk_;
    std::string path_;
    std::unique_ptr<os::ReadableFile> inner_;
  };
  test::FakeFileSystem& disk_;
};

TEST(PlainHasher, AFileThatChangesMeanwhileHasNoDigest) {
  test::FakeClock clock;
  test::FakeFileSystem disk(clock);
  disk.put("/f", "bytes");
  BusyFileSystem busy(disk);
  EXPECT_FALSE(PlainHasher(busy).hash("/f").has_value());
}

}  // namespace
}  // namespace hallmark::engine
