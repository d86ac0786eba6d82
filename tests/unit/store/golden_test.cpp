// The bytes that docs/formats/store.md and docs/formats/digest-table.md describe.
#include "support/golden.h"

#include <gtest/gtest.h>

#include "store/internal/digest_table.h"
#include "store/internal/frame.h"
#include "store/internal/payloads.h"
#include "unit/store/sample.h"

namespace hallmark::store {
namespace {

using test::key_of;

class StoreGolden : public test::StoreTest {};

TEST_F(StoreGolden, Frame) {
  const std::string frame = seal_frame(FrameKind::record, key_of("k"), "payload");
  test::expect_golden(HALLMARK_SOURCE_DIR, "frame", frame);
  EXPECT_EQ(open_frame(FrameKind::record, key_of("k"), frame).value(), "payload");
}

TEST_F(StoreGolden, FrameRefusals) {
  const std::string frame = seal_frame(FrameKind::record, key_of("k"), "payload");
  EXPECT_EQ(open_frame(FrameKind::site, key_of("k"), frame).error().kind, ErrorKind::corrupt);
  EXPECT_EQ(open_frame(FrameKind::record, key_of("l"), frame).error().kind, ErrorKind::corrupt);
  EXPECT_EQ(open_frame(FrameKind::record, key_of("k"), "").error().kind, ErrorKind::corrupt);
  EXPECT_EQ(open_frame(FrameKind::record, key_of("k"), frame + "x").error().kind, ErrorKind::corrupt);
  // An intact frame of a later version is not damage.
  std::string later = frame.substr(0, frame.size() - 32);
  later[9] = 2;
  later.append(as_text(digest::digest_of(later).hash));
  EXPECT_EQ(open_frame(FrameKind::record, key_of("k"), later).error().kind, ErrorKind::newer_format);
}

TEST_F(StoreGolden, FramesOfALaterVersionAreKept) {
  const auto store = open();
  const test::Sample sample("a");
  ASSERT_TRUE(store->put_weak_entry(sample.weak, sample.entry).has_value());
  const std::string file = disk_.files_below("/store/weak")[0];
  std::string later = disk_.bytes(file);
  later.resize(later.size() - 32);
  later[9] = 2;
  later.append(as_text(digest::digest_of(later).hash));
  disk_.damage(file, later);
  EXPECT_EQ(store->weak_entry(sample.weak).error().kind, ErrorKind::newer_format);
  EXPECT_EQ(disk_.bytes(file), later);
}

TEST_F(StoreGolden, Site) {
  const std::string payload = encode_site({key_of("1"), key_of("2")});
  test::expect_golden(HALLMARK_SOURCE_DIR, "site", payload);
  EXPECT_EQ(decode_site(payload).value().size(), 2u);
}

TEST_F(StoreGolden, LastMiss) {
  const LocalStore::LastMiss miss{"g++ -c k.cpp", 77, {{model::ReasonCode::first_run, "", "", ""}}};
  test::expect_golden(HALLMARK_SOURCE_DIR, "last_miss", encode_last_miss("/root", miss));
}

TEST_F(StoreGolden, Tests) {
  const std::vector<TestHistory::TestRun> runs = {
      {"/r/b/attn_test", 77, {"/r/b/libattn.so", "/r/b/attn_test"}}, {"ctest -R attn", 78, {}}};
  const auto payload = encode_tests("/r", runs);
  test::expect_golden(HALLMARK_SOURCE_DIR, "tests", payload);
  EXPECT_EQ(decode_tests(payload).value(), runs);
}

TEST_F(StoreGolden, DigestTable) {
  (void)open();
  const Layout layout(test::kStore);
  Scratch scratch(files_, clock_, layout);
  DigestTable table(files_, scratch, layout.at(Layout::kDigestTable), false, 16);
  const FileStat stat{.device = 0x0801,
                      .inode = 77,
                      .size_bytes = 6,
                      .mtime_ns = 1'000'000'007,
                      .ctime_ns = 2'000'000'009,
                      .mode = 0644,
                      .kind = NodeKind::file};
  const auto object = digest::digest_of("object").hash;
  table.insert(stat, {object, std::nullopt});
  ASSERT_TRUE(table.flush().has_value());
  const std::string bytes = disk_.bytes("/store/digests");
  test::expect_golden(HALLMARK_SOURCE_DIR, "digest_table_header", bytes.substr(0, 48));
  EXPECT_EQ(bytes.substr(48, 4096 - 48).find_first_not_of('\0'), std::string::npos);
  const std::size_t entry = bytes.find_first_not_of('\0', 4096);
  ASSERT_NE(entry, std::string::npos);
  test::expect_golden(HALLMARK_SOURCE_DIR, "digest_table_entry", bytes.substr(entry, 80));
  test::expect_golden(HALLMARK_SOURCE_DIR, "digest_table_place", std::to_string(entry));
  table.insert(stat, {object, digest::ClockWords{.date = true, .timestamp = true}});
  ASSERT_TRUE(table.flush().has_value());
  test::expect_golden(HALLMARK_SOURCE_DIR, "digest_table_clock",
                      disk_.bytes("/store/digests").substr(entry, 80));
}

TEST_F(StoreGolden, Counters) {
  open()->count({1, 2, 3, 4, 5, 6});
  test::expect_golden(HALLMARK_SOURCE_DIR, "counters", disk_.bytes("/store/counters"));
}

TEST_F(StoreGolden, AnOldStoreIsStillRead) {
  // What version 1 wrote, byte for byte, without the help of today's encoders.
  (void)open();
  const std::string frame = test::golden_bytes(HALLMARK_SOURCE_DIR, "whole_weak_entry_file");
  const auto key = key_of("weak golden");
  test::expect_golden(
      HALLMARK_SOURCE_DIR, "whole_weak_entry_file",
      seal_frame(FrameKind::weak_entry, key, test::golden_bytes(HALLMARK_SOURCE_DIR, "weak_entry")));
  disk_.put("/store/weak/" + key.hex().substr(0, 2) + "/" + key.hex(), frame);
  const auto entry = open()->weak_entry(key).value();
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->command.argv[0], "g++");
  EXPECT_EQ(entry->sets.size(), 3u);
}

}  // namespace
}  // namespace hallmark::store
