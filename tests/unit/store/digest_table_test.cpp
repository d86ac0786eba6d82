#include "store/internal/digest_table.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "base/limits.h"
#include "store/internal/table_hasher.h"
#include "unit/store/sample.h"

namespace hallmark::store {
namespace {

using test::StoreTest;

class DigestTableTest : public StoreTest {
 protected:
  DigestTableTest() { (void)open(); }

  std::unique_ptr<DigestTable> table(bool read_only = false) {
    return std::make_unique<DigestTable>(files_, scratch_, layout_.at(Layout::kDigestTable), read_only);
  }
  static FileStat stat_of(std::uint64_t inode) {
    return {.device = 1,
            .inode = inode,
            .size_bytes = inode * 10,
            .mtime_ns = 1000,
            .ctime_ns = 2000,
            .mode = 0644,
            .kind = NodeKind::file};
  }
  static DigestTable::Known known_of(std::uint64_t inode) {
    DigestTable::Known known{digest::digest_of(std::to_string(inode)).hash, std::nullopt};
    if (inode % 3 != 0) known.clock = digest::ClockWords{inode % 3 == 1, inode % 5 == 0, inode % 7 == 0};
    return known;
  }

  Layout layout_{test::kStore};
  Scratch scratch_{files_, clock_, layout_};
};

TEST_F(DigestTableTest, WhatIsFlushedIsFound) {
  const auto writer = table();
  for (std::uint64_t i = 1; i <= 2000; ++i) writer->insert(stat_of(i), known_of(i));
  EXPECT_EQ(table()->find(stat_of(1)), std::nullopt) << "not yet flushed";
  EXPECT_EQ(writer->find(stat_of(1)), known_of(1)) << "but known to its writer";
  ASSERT_TRUE(writer->flush().has_value());
  const auto reader = table(true);
  for (std::uint64_t i = 1; i <= 2000; ++i) EXPECT_EQ(reader->find(stat_of(i)), known_of(i));
  EXPECT_EQ(reader->find(stat_of(2001)), std::nullopt);
}

TEST_F(DigestTableTest, EveryPartOfTheStatCounts) {
  const auto writer = table();
  writer->insert(stat_of(5), known_of(5));
  ASSERT_TRUE(writer->flush().has_value());
  const auto reader = table();
  for (int part = 0; part < 5; ++part) {
    FileStat stat = stat_of(5);
    if (part == 0) ++stat.device;
    if (part == 1) ++stat.inode;
    if (part == 2) ++stat.size_bytes;
    if (part == 3) ++stat.mtime_ns;
    if (part == 4) ++stat.ctime_ns;
    EXPECT_EQ(reader->find(stat), std::nullopt) << part;
  }
  EXPECT_EQ(reader->find(stat_of(5)), known_of(5));
}

TEST_F(DigestTableTest, ANewStateOfAFileReplacesTheOld) {
  const auto writer = table();
  writer->insert(stat_of(5), known_of(5));
  ASSERT_TRUE(writer->flush().has_value());
  FileStat later = stat_of(5);
  later.ctime_ns = 3000;
  const auto second = table();
  second->insert(later, known_of(6));
  ASSERT_TRUE(second->flush().has_value());
  EXPECT_EQ(table()->find(later), known_of(6));
  EXPECT_EQ(table()->find(stat_of(5)), std::nullopt);
}

TEST_F(DigestTableTest, WritersKeepEachOthersEntries) {
  const auto one = table();
  const auto two = table();
  (void)one->find(stat_of(1));
  (void)two->find(stat_of(1));  // both have read the page
  one->insert(stat_of(1), known_of(1));
  two->insert(stat_of(2), known_of(2));
  ASSERT_TRUE(one->flush().has_value());
  ASSERT_TRUE(two->flush().has_value());
  EXPECT_EQ(table()->find(stat_of(1)), known_of(1));
  EXPECT_EQ(table()->find(stat_of(2)), known_of(2));
}

TEST_F(DigestTableTest, AFullPageForgetsAndGoesOn) {
  const auto writer = table();
  // The same page over and over: neighbours of one inode on one device share it, other devices fall into it
  // by chance.
  for (std::uint64_t device = 0; device < 40'000; ++device) {
    FileStat stat = stat_of(64);
    stat.device = device;
    for (std::uint64_t i = 0; i < 16; ++i) {
      stat.inode = 64 + i;
      writer->insert(stat, known_of(device));
    }
  }
  ASSERT_TRUE(writer->flush().has_value());
  EXPECT_LE(disk_.bytes("/store/digests").size(), (limits::kDigestTablePages + 1) * DigestTable::kPageBytes);
  FileStat last = stat_of(64);
  last.inode = 64 + 15;
  last.device = 39'999;
  EXPECT_EQ(table()->find(last), known_of(39'999));
}

TEST_F(DigestTableTest, ATableOfAnotherShapeIsMadeAnew) {
  for (const std::string& content : {std::string(), std::string("junk"), std::string(10'000, 'j')}) {
    disk_.put("/store/digests", content);
    const auto writer = table();
    EXPECT_EQ(writer->find(stat_of(1)), std::nullopt);
    writer->insert(stat_of(1), known_of(1));
    ASSERT_TRUE(writer->flush().has_value());
    EXPECT_EQ(table()->find(stat_of(1)), known_of(1));
  }
}

TEST_F(DigestTableTest, NoFlippedBitOfAnEntryIsBelieved) {
  const auto writer = table();
  writer->insert(stat_of(1), known_of(1));
  ASSERT_TRUE(writer->flush().has_value());
  const std::string good = disk_.bytes("/store/digests");
  const std::size_t entry = good.find_first_not_of('\0', DigestTable::kPageBytes);
  ASSERT_NE(entry, std::string::npos);
  for (std::size_t bit = 0; bit < DigestTable::kEntryBytes * 8; ++bit) {
    auto file = disk_.open_random("/store/digests", true).value();
    const auto write = [&](char byte) {
      ASSERT_TRUE(file->write_at(entry + bit / 8, as_bytes({&byte, 1})).has_value());
    };
    write(static_cast<char>(good[entry + bit / 8] ^ (1 << bit % 8)));
    EXPECT_EQ(table()->find(stat_of(1)), std::nullopt) << bit;
    write(good[entry + bit / 8]);
  }
  EXPECT_EQ(table()->find(stat_of(1)), known_of(1));
}

TEST_F(DigestTableTest, AnEntryInAnotherPageIsNone) {
  // Two pages whose contents the file system has swapped. Each holds a file that belongs into the other.
  const auto open_small = [&] {
    return DigestTable(files_, scratch_, layout_.at(Layout::kDigestTable), false, 2);
  };
  auto writer = open_small();
  for (std::uint64_t i = 0; i < 40; ++i) writer.insert(stat_of(i * 32), known_of(i));
  ASSERT_TRUE(writer.flush().has_value());
  const std::string bytes = disk_.bytes("/store/digests");
  const auto page = [&](std::size_t number) {
    return bytes.substr(number * DigestTable::kPageBytes, DigestTable::kPageBytes);
  };
  disk_.damage("/store/digests", page(0) + page(1) + page(1));
  auto reader = open_small();
  std::uint64_t found = 0;
  for (std::uint64_t i = 0; i < 40; ++i) {
    const auto known = reader.find(stat_of(i * 32));
    if (!known) continue;
    EXPECT_EQ(*known, known_of(i));
    ++found;
  }
  const std::uint64_t damaged = open_small().count_damaged(false).value();
  EXPECT_EQ(damaged, found) << "the copies of those of page 1";
  EXPECT_GT(damaged, 0u);
  EXPECT_EQ(open_small().count_damaged(true).value(), damaged);
  EXPECT_EQ(open_small().count_damaged(false).value(), 0u);
}

TEST_F(DigestTableTest, ASizeThatLeavesNoRoomForClockWordsIsNotKept) {
  const auto writer = table();
  auto huge = stat_of(1);
  huge.size_bytes = std::uint64_t{1} << 56;
  writer->insert(huge, known_of(1));
  EXPECT_EQ(writer->find(huge), std::nullopt);
  huge.size_bytes -= 1;
  writer->insert(huge, known_of(1));
  EXPECT_EQ(writer->find(huge), known_of(1));
}

TEST_F(DigestTableTest, FailingReadsAreAsIfNothingWereKnown) {
  const auto writer = table();
  writer->insert(stat_of(1), known_of(1));
  ASSERT_TRUE(writer->flush().has_value());
  files_.fail_reads_from(1);
  EXPECT_EQ(table()->find(stat_of(1)), std::nullopt);
}

TEST_F(DigestTableTest, AFullDiskIsAnErrorOfFlushAlone) {
  const auto writer = table();
  writer->insert(stat_of(1), known_of(1));
  files_.fail_from(1, ENOSPC);
  EXPECT_EQ(writer->flush().error().kind, ErrorKind::no_space);
  EXPECT_EQ(writer->find(stat_of(1)), known_of(1));
  files_.heal();
  EXPECT_TRUE(writer->flush().has_value());
  EXPECT_EQ(table()->find(stat_of(1)), known_of(1));
}

class TableHasherTest : public DigestTableTest {
 protected:
  struct Fresh {
    explicit Fresh(TableHasherTest& test)
        : table(test.files_, test.scratch_, test.layout_.at(Layout::kDigestTable), false),
          hasher(test.files_, test.clock_, table) {}
    DigestTable table;
    TableHasher hasher;
  };

  /// Hashes as a new process would; how many reads of file contents it took.
  std::uint64_t reads_of_hash(const std::string& path, const std::string& content) {
    Fresh fresh(*this);
    // The table's own reads are those of a look-up in an otherwise empty hasher.
    const std::uint64_t before = files_.reads();
    const auto hashed = fresh.hasher.hash(path);
    EXPECT_TRUE(hashed.has_value());
    EXPECT_EQ(hashed->digest, digest::digest_of(content));
    EXPECT_EQ(hashed->stat, *disk_.stat(path).value());
    const std::uint64_t after = files_.reads();
    EXPECT_TRUE(fresh.hasher.flush().has_value());
    return after - before;
  }
  bool is_remembered(const std::string& path, const std::string& content) {
    (void)reads_of_hash(path, content);
    const std::uint64_t second = reads_of_hash(path, content);
    disk_.damage(path, std::string(content.size(),
                                   '!'));  // behind the stat's back: only a remembered digest is still right
    Fresh fresh(*this);
    const bool remembered = fresh.hasher.hash(path).value().digest == digest::digest_of(content);
    disk_.damage(path, content);
    EXPECT_LE(second, 4u);
    return remembered;
  }
};

TEST_F(TableHasherTest, AnOldFileIsReadOnce) {
  disk_.put("/w/a", "content");
  clock_.advance_ms(1000);
  EXPECT_TRUE(is_remembered("/w/a", "content"));
}

TEST_F(TableHasherTest, AFileWrittenJustNowIsNotRemembered) {
  disk_.put("/w/a", "content");
  EXPECT_FALSE(is_remembered("/w/a", "content"));
  clock_.advance_ms(19);
  EXPECT_FALSE(is_remembered("/w/a", "content"));
  clock_.advance_ms(2);
  EXPECT_TRUE(is_remembered("/w/a", "content"));
}

TEST_F(TableHasherTest, AChangeTimeAheadOfTheClockIsNotBelieved) {
  disk_.put("/w/a", "content");
  clock_.advance_ms(-60'000);
  EXPECT_FALSE(is_remembered("/w/a", "content"));
}

TEST_F(TableHasherTest, AModificationTimeThatIsSetToNowIsNotBelieved) {
  disk_.put("/w/a", "content");
  const std::int64_t written_ns = clock_.now_ns();
  clock_.advance_ms(1000);
  ASSERT_TRUE(disk_.touch("/w/a", written_ns + 2'000'000'000).has_value());
  clock_.advance_ms(1000);
  EXPECT_FALSE(is_remembered("/w/a", "content"));
  clock_.advance_ms(1000);
  EXPECT_TRUE(is_remembered("/w/a", "content"));
}

TEST_F(TableHasherTest, ANetworkFileIsReadEachTime) {
  disk_.set_network(true);
  disk_.put("/w/a", "content");
  clock_.advance_ms(1000);
  EXPECT_FALSE(is_remembered("/w/a", "content"));
}

TEST_F(TableHasherTest, AChangedFileIsReadAgain) {
  disk_.put("/w/a", "content");
  clock_.advance_ms(1000);
  (void)reads_of_hash("/w/a", "content");
  disk_.put("/w/a", "CONTENT");
  (void)reads_of_hash("/w/a", "CONTENT");
  clock_.advance_ms(1000);
  (void)reads_of_hash("/w/a", "CONTENT");
}

TEST_F(TableHasherTest, LinksAreFollowedAndOtherThingsRefused) {
  disk_.put("/w/a", "content");
  ASSERT_TRUE(disk_.make_link("a", "/w/l").has_value());
  Fresh fresh(*this);
  EXPECT_EQ(fresh.hasher.hash("/w/l").value().digest, digest::digest_of("content"));
  EXPECT_EQ(fresh.hasher.hash("/w").error().kind, ErrorKind::invalid);
  EXPECT_EQ(fresh.hasher.hash("/w/none").error().kind, ErrorKind::not_found);
}

TEST_F(TableHasherTest, LongFilesHashLikeShortOnes) {
  for (const std::size_t size : {0u, 1u, 65'535u, 65'536u, 65'537u, 1'000'000u}) {
    const std::string content(size, 'z');
    disk_.put("/w/a", content);
    Fresh fresh(*this);
    EXPECT_EQ(fresh.hasher.hash("/w/a").value().digest, digest::digest_of(content)) << size;
  }
}

}  // namespace
}  // namespace hallmark::store
