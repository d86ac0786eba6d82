// The contract of FileSystem, run against the real one and against the fake: what the fake promises to tests
// must hold on disk.
#include "os/file_system.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <thread>

#include "os/clock.h"
#include "support/fake_clock.h"
#include "support/fake_file_system.h"
#include "support/fault_file_system.h"
#include "support/temp_folder.h"

namespace hallmark::os {
namespace {

struct OnDisk {
  FileSystem& files() { return linux_file_system(); }
  std::string at(const std::string& name) { return folder.at(name); }
  test::TempFolder folder;
};

struct InMemory {
  InMemory() { (void)fake.make_folder("/t", 0755); }
  FileSystem& files() { return fake; }
  std::string at(const std::string& name) { return "/t/" + name; }
  test::FakeClock clock;
  test::FakeFileSystem fake{clock};
};

/// The decorator must not change a thing until it is armed.
struct Decorated : InMemory {
  FileSystem& files() { return fault; }
  test::FaultFileSystem fault{fake};
};

template <class Kind>
class FileSystemContract : public ::testing::Test {
 protected:
  FileSystem& files() { return kind_.files(); }
  std::string at(const std::string& name) { return kind_.at(name); }

  void write(const std::string& name, std::string_view bytes) {
    auto file = files().create(at(name), 0644);
    ASSERT_TRUE(file.has_value()) << file.error().what;
    ASSERT_TRUE((*file)->write(as_bytes(bytes)).has_value());
    ASSERT_TRUE((*file)->close().has_value());
  }
  std::string read(const std::string& name) {
    return read_file(files(), at(name), 1 << 20).value_or("(unreadable)");
  }
  std::optional<FileStat> lstat(const std::string& name) { return files().lstat(at(name)).value(); }

 private:
  Kind kind_;
};

using Kinds = ::testing::Types<OnDisk, InMemory, Decorated>;
TYPED_TEST_SUITE(FileSystemContract, Kinds);

TYPED_TEST(FileSystemContract, WhatIsWrittenIsRead) {
  this->write("a", "hello");
  EXPECT_EQ(this->read("a"), "hello");
  const auto stat = this->lstat("a");
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->kind, NodeKind::file);
  EXPECT_EQ(stat->size_bytes, 5u);
  EXPECT_EQ(stat->mode, 0644u);
  EXPECT_FALSE(stat->executable());
}

TYPED_TEST(FileSystemContract, AbsenceIsNoError) {
  EXPECT_EQ(this->lstat("nothing"), std::nullopt);
  this->write("file", "");
  EXPECT_EQ(this->lstat("file/below"), std::nullopt);
  EXPECT_EQ(this->files().open_read(this->at("nothing")).error().kind, ErrorKind::not_found);
  EXPECT_EQ(this->files().list(this->at("nothing")).error().kind, ErrorKind::not_found);
  EXPECT_EQ(this->files().remove(this->at("nothing")).error().kind, ErrorKind::not_found);
  EXPECT_EQ(this->files().open_random(this->at("nothing"), true).error().kind, ErrorKind::not_found);
}

TYPED_TEST(FileSystemContract, CreateRefusesATakenName) {
  this->write("a", "first");
  EXPECT_FALSE(this->files().create(this->at("a"), 0644).has_value());
  EXPECT_EQ(this->read("a"), "first");
}

TYPED_TEST(FileSystemContract, CreateInAnAbsentFolderSaysNotFound) {
  EXPECT_EQ(this->files().create(this->at("no/a"), 0644).error().kind, ErrorKind::not_found);
}

TYPED_TEST(FileSystemContract, AppendAddsAtTheEnd) {
  for (int i = 0; i < 2; ++i) {
    auto file = this->files().append(this->at("log"), 0644);
    ASSERT_TRUE(file.has_value());
    ASSERT_TRUE((*file)->write(as_bytes("ab")).has_value());
  }
  EXPECT_EQ(this->read("log"), "abab");
}

TYPED_TEST(FileSystemContract, RandomFilesReadAndWriteAtAnyPlace) {
  this->write("table", "0123456789");
  auto file = this->files().open_random(this->at("table"), true);
  ASSERT_TRUE(file.has_value());
  ASSERT_TRUE((*file)->write_at(4, as_bytes("xy")).has_value());
  ASSERT_TRUE((*file)->write_at(12, as_bytes("z")).has_value());
  std::array<std::uint8_t, 8> buffer{};
  EXPECT_EQ((*file)->read_at(4, buffer).value(), 8u);
  EXPECT_EQ(as_text(buffer), std::string_view("xy6789\0\0", 8)) << "what was never written reads as zero";
  EXPECT_EQ((*file)->read_at(12, buffer).value(), 1u);
  EXPECT_EQ((*file)->read_at(100, buffer).value(), 0u);
  EXPECT_EQ((*file)->stat().value().size_bytes, 13u);
  auto read_only = this->files().open_random(this->at("table"), false);
  ASSERT_TRUE(read_only.has_value());
  EXPECT_FALSE((*read_only)->write_at(0, as_bytes("q")).has_value());
}

TYPED_TEST(FileSystemContract, RenameReplaces) {
  this->write("a", "new");
  this->write("b", "old");
  const auto before = this->lstat("a");
  ASSERT_TRUE(this->files().rename(this->at("a"), this->at("b")).has_value());
  EXPECT_EQ(this->lstat("a"), std::nullopt);
  EXPECT_EQ(this->read("b"), "new");
  EXPECT_EQ(this->lstat("b")->inode, before->inode);
}

TYPED_TEST(FileSystemContract, RenameNewDoesNotReplace) {
  this->write("a", "new");
  this->write("b", "old");
  EXPECT_EQ(this->files().rename_new(this->at("a"), this->at("b")).value(), false);
  EXPECT_EQ(this->read("a"), "new");
  EXPECT_EQ(this->read("b"), "old");
  EXPECT_EQ(this->files().rename_new(this->at("a"), this->at("c")).value(), true);
  EXPECT_EQ(this->lstat("a"), std::nullopt);
  EXPECT_EQ(this->read("c"), "new");
  EXPECT_EQ(this->files().rename_new(this->at("c"), this->at("no/c")).error().kind, ErrorKind::not_found);
}

TYPED_TEST(FileSystemContract, ExchangeSwaps) {
  this->write("a", "one");
  this->write("b", "other");
  ASSERT_TRUE(this->files().exchange(this->at("a"), this->at("b")).has_value());
  EXPECT_EQ(this->read("a"), "other");
  EXPECT_EQ(this->read("b"), "one");
  EXPECT_EQ(this->files().exchange(this->at("a"), this->at("none")).error().kind, ErrorKind::not_found);
  EXPECT_EQ(this->read("a"), "other");
}

TYPED_TEST(FileSystemContract, ReplaceTakesAnyPlace) {
  for (const std::string_view bytes : {"new", "newer"}) {
    this->write("a", bytes);
    ASSERT_TRUE(replace(this->files(), this->at("a"), this->at("b")).has_value());
    EXPECT_EQ(this->read("b"), bytes);
    EXPECT_EQ(this->lstat("a"), std::nullopt);
  }
  EXPECT_EQ(replace(this->files(), this->at("a"), this->at("b")).error().kind, ErrorKind::not_found);
  this->write("a", "x");
  EXPECT_EQ(replace(this->files(), this->at("a"), this->at("no/b")).error().kind, ErrorKind::not_found);
  EXPECT_EQ(this->read("a"), "x");
}

TYPED_TEST(FileSystemContract, AnOpenFileOutlivesItsName) {
  this->write("a", "kept");
  auto file = this->files().open_read(this->at("a"));
  ASSERT_TRUE(file.has_value());
  ASSERT_TRUE(this->files().remove(this->at("a")).has_value());
  std::array<std::uint8_t, 8> buffer{};
  EXPECT_EQ((*file)->read(buffer).value(), 4u);
}

TYPED_TEST(FileSystemContract, FoldersAreMadeListedAndRemoved) {
  ASSERT_TRUE(make_folders(this->files(), this->at("x/y/z")).has_value());
  ASSERT_TRUE(make_folders(this->files(), this->at("x/y/z")).has_value()) << "twice is as good as once";
  this->write("x/y/b", "");
  this->write("x/y/a", "");
  EXPECT_EQ(this->files().list(this->at("x/y")).value(), (std::vector<std::string>{"a", "b", "z"}));
  EXPECT_FALSE(this->files().remove_folder(this->at("x/y")).has_value()) << "not empty";
  EXPECT_TRUE(this->files().remove_folder(this->at("x/y/z")).has_value());
  EXPECT_FALSE(this->files().remove(this->at("x")).has_value()) << "a folder is no file";
  EXPECT_FALSE(make_folders(this->files(), this->at("x/y/a/b")).has_value()) << "a file is no folder";
}

TYPED_TEST(FileSystemContract, LinksAreLookedAtAndFollowed) {
  this->write("file", "behind");
  ASSERT_TRUE(this->files().make_link("file", this->at("link")).has_value());
  ASSERT_TRUE(this->files().make_link("nowhere", this->at("dangling")).has_value());
  ASSERT_TRUE(this->files().make_link("loop", this->at("loop")).has_value());
  EXPECT_EQ(this->lstat("link")->kind, NodeKind::symlink);
  EXPECT_EQ(this->files().stat(this->at("link")).value()->kind, NodeKind::file);
  EXPECT_EQ(this->read("link"), "behind");
  EXPECT_EQ(this->files().read_link(this->at("link")).value(), "file");
  EXPECT_FALSE(this->files().read_link(this->at("file")).has_value());
  EXPECT_EQ(this->files().stat(this->at("dangling")).value(), std::nullopt);
  EXPECT_EQ(this->files().stat(this->at("loop")).value(), std::nullopt);
  ASSERT_TRUE(this->files().remove(this->at("link")).has_value());
  EXPECT_EQ(this->read("file"), "behind");
}

TYPED_TEST(FileSystemContract, FoldersBehindLinksAreTheSame) {
  ASSERT_TRUE(make_folders(this->files(), this->at("real/in")).has_value());
  ASSERT_TRUE(this->files().make_link("real/in", this->at("short")).has_value());
  this->write("real/a", "up");
  this->write("short/b", "in");
  EXPECT_EQ(this->read("real/in/b"), "in");
  EXPECT_EQ(this->read("short/../a"), "up")
      << "`..` goes up from where the link leads, not from where it stands";
}

TYPED_TEST(FileSystemContract, ModesAndTimes) {
  this->write("a", "");
  ASSERT_TRUE(this->files().set_mode(this->at("a"), 0755).has_value());
  ASSERT_TRUE(this->files().touch(this->at("a"), 1'234'567'890'123'456'789).has_value());
  EXPECT_EQ(this->lstat("a")->mode, 0755u);
  EXPECT_TRUE(this->lstat("a")->executable());
  EXPECT_EQ(this->lstat("a")->mtime_ns, 1'234'567'890'123'456'789);
  ASSERT_TRUE(this->files().touch(this->at("a"), -1).has_value());
  EXPECT_EQ(this->lstat("a")->mtime_ns, -1) << "before the epoch";
}

TYPED_TEST(FileSystemContract, CopiesAreFilesOfTheirOwn) {
  const std::string content(3'000'000, 'c');
  this->write("a", content);
  ASSERT_TRUE(this->files().copy(this->at("a"), this->at("b"), 0600).has_value());
  EXPECT_EQ(read_file(this->files(), this->at("b"), 4'000'000).value(), content);
  EXPECT_EQ(this->lstat("b")->mode, 0600u);
  EXPECT_NE(this->lstat("a")->inode, this->lstat("b")->inode);
  EXPECT_FALSE(this->files().copy(this->at("a"), this->at("b"), 0600).has_value()) << "the name is taken";
  EXPECT_EQ(this->files().copy(this->at("none"), this->at("c"), 0600).error().kind, ErrorKind::not_found);
  EXPECT_EQ(this->lstat("c"), std::nullopt);
}

TYPED_TEST(FileSystemContract, CloneMakesAWholeFileOrNone) {
  this->write("a", "shared");
  const auto cloned = this->files().clone(this->at("a"), this->at("b"), 0600);
  ASSERT_TRUE(cloned.has_value());
  if (*cloned) {
    EXPECT_EQ(this->read("b"), "shared");
  } else {
    EXPECT_EQ(this->lstat("b"), std::nullopt);
  }
}

TYPED_TEST(FileSystemContract, ReadFileRefusesMoreThanItsLimit) {
  this->write("a", "12345");
  EXPECT_EQ(read_file(this->files(), this->at("a"), 5).value(), "12345");
  EXPECT_EQ(read_file(this->files(), this->at("a"), 4).error().kind, ErrorKind::limit);
  this->write("empty", "");
  EXPECT_EQ(read_file(this->files(), this->at("empty"), 0).value(), "");
}

TYPED_TEST(FileSystemContract, AtomicWritesReplaceAndLeaveNothingElse) {
  for (const std::string_view bytes : {"one", "two"}) {
    ASSERT_TRUE(write_file_atomically(this->files(), this->at("a"), bytes, "u", bytes == "two").has_value());
    EXPECT_EQ(this->read("a"), bytes);
  }
  EXPECT_EQ(this->files().list(this->at("")).value(), std::vector<std::string>{"a"});
  EXPECT_FALSE(write_file_atomically(this->files(), this->at("no/a"), "x", "u", false).has_value());
}

TYPED_TEST(FileSystemContract, ExclusiveLocksExclude) {
  auto held = this->files().lock(this->at("l"), LockMode::exclusive, LockWait::no);
  ASSERT_TRUE(held.has_value());
  ASSERT_NE(*held, nullptr);
  EXPECT_EQ(this->files().lock(this->at("l"), LockMode::exclusive, LockWait::no).value(), nullptr);
  EXPECT_EQ(this->files().lock(this->at("l"), LockMode::shared, LockWait::no).value(), nullptr);
  EXPECT_GT(std::atoi(this->read("l").c_str()), 0) << "the holder's process number";
  held->reset();
  EXPECT_NE(this->files().lock(this->at("l"), LockMode::exclusive, LockWait::no).value(), nullptr);
}

TYPED_TEST(FileSystemContract, SharedLocksShare) {
  auto one = this->files().lock(this->at("l"), LockMode::shared, LockWait::no).value();
  auto two = this->files().lock(this->at("l"), LockMode::shared, LockWait::no).value();
  EXPECT_NE(one, nullptr);
  EXPECT_NE(two, nullptr);
  EXPECT_EQ(this->files().lock(this->at("l"), LockMode::exclusive, LockWait::no).value(), nullptr);
}

TYPED_TEST(FileSystemContract, AWaiterGetsALockThatOthersSee) {
  // The holder removes the file before it lets go: whoever waited must not hold a lock on a file that has no
  // name.
  std::atomic<int> inside{0};
  std::atomic<int> most{0};
  const auto work = [&] {
    for (int i = 0; i < 50; ++i) {
      auto lock = this->files().lock(this->at("l"), LockMode::exclusive, LockWait::yes).value();
      const int now = ++inside;
      if (now > most) most = now;
      std::this_thread::yield();
      --inside;
      (void)this->files().remove(this->at("l"));
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(most, 1);
  EXPECT_EQ(this->lstat("l"), std::nullopt);
}

TYPED_TEST(FileSystemContract, OrdinaryPlacesAreWritableAndLocal) {
  EXPECT_TRUE(this->files().is_writable_folder(this->at("")).value());
  EXPECT_FALSE(this->files().is_network(this->at("not/yet/there")).value());
  EXPECT_FALSE(this->files().is_writable_folder(this->at("none")).has_value());
}

TEST(FileSystem, ReplaceDoesWithoutExchange) {
  InMemory kind;
  kind.fake.set_can_exchange(false);  // as on NFS
  kind.fake.put("/t/a", "new");
  kind.fake.put("/t/b", "old");
  ASSERT_TRUE(replace(kind.fake, "/t/a", "/t/b").has_value());
  EXPECT_EQ(kind.fake.bytes("/t/b"), "new");
  EXPECT_EQ(kind.fake.lstat("/t/a").value(), std::nullopt);
}

}  // namespace
}  // namespace hallmark::os
