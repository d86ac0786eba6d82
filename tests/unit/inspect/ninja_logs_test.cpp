#include "inspect/ninja_logs.h"

#include <gtest/gtest.h>

namespace hallmark::inspect {
namespace {

using Paths = std::vector<std::string>;

constexpr std::string_view kHex =
    "23206e696e6a61646570730a0400000008000000612e6f00ffffffff08000000612e6300feffffff200000002f757372"
    "2f696e636c7564652f737464632d7072656465662e680000fdffffff08000000682e6800fcffffff1800008000000000"
    "a36314aab0bfed18010000000200000003000000";

TEST(NinjaLogTest, TheLastLineOfAnOutputCounts) {
  // Lines as Ninja 1.11 wrote them for `true > a.o` and `echo hi > b c`.
  const auto log = parse_ninja_log(
      "# ninja log v5\n"
      "0\t12\t1700000000000000001\ta.o\t1\n"
      "0\t9\t1700000000000000002\tdir/b c\tab54d2\n"
      "13\t20\t1700000000000000003\ta.o\tffffffffffffffff\n");
  ASSERT_TRUE(log.has_value());
  EXPECT_EQ(log->version, 5);
  ASSERT_EQ(log->outputs.size(), 2U);
  EXPECT_EQ(log->outputs.at("a.o").mtime_ns, 1700000000000000003);
  EXPECT_EQ(log->outputs.at("a.o").command_hash, 0xffffffffffffffffU);
  EXPECT_EQ(log->outputs.at("dir/b c").command_hash, 0xab54d2U);
}

TEST(NinjaLogTest, WhatIsNoLineIsPassedOver) {
  const auto log = parse_ninja_log(
      "# ninja log "
      "v5\n\n1\t2\t3\ta\n1\t2\tx\ta\t1\n1\t2\t3\t\t1\n1\t2\t3\ta\tg\n1\t2\t3\ta\t1\textra\n1\t2\t3\tcut\t1");
  ASSERT_TRUE(log.has_value());
  EXPECT_TRUE(log->outputs.empty());
}

TEST(NinjaLogTest, TheHashIsNinjas) {
  // As Ninja 1.11.1 logged them.
  const auto log = parse_ninja_log(
      "# ninja log v5\n"
      "1\t2\t1796302591866407161\ts\taa43d89207e6026b\n"
      "1\t6\t1796302591869389596\tr\t43592cfe7684fef0\n"
      "0\t15\t1796302591879308195\ta.o\ted36089e3b2fb971\n");
  ASSERT_TRUE(log.has_value());
  const auto made_by = [&](const char* output, const char* command) {
    return log->is_made_by(log->outputs.at(output), command);
  };
  EXPECT_EQ(made_by("s", "echo 1234567 > s"), true);
  EXPECT_EQ(made_by("r", "cat r.rsp > r;rspfile=x y"), true);
  EXPECT_EQ(made_by("a.o", "gcc -MD -MF a.o.d -c a.c -o a.o"), true);
  EXPECT_EQ(made_by("a.o", "gcc -MD -MF a.o.d -c a.c -o b.o"), false);
  const auto later = parse_ninja_log("# ninja log v7\n1\t2\t3\ts\t1\n");
  EXPECT_EQ(later->is_made_by(later->outputs.at("s"), "x"), std::nullopt);
}

TEST(NinjaLogTest, OtherVersionsAreRefused) {
  EXPECT_EQ(parse_ninja_log("# ninja log v3\n").error().kind, ErrorKind::unsupported);
  EXPECT_EQ(parse_ninja_log("# ninja log v99\n").error().kind, ErrorKind::unsupported);
  EXPECT_EQ(parse_ninja_log("# ninja log v5x\n").error().kind, ErrorKind::unsupported);
  EXPECT_EQ(parse_ninja_log("int main").error().kind, ErrorKind::invalid);
  EXPECT_EQ(parse_ninja_log("# ninja log v4\n0\t1\t9223372036854775807\ta\t1\n")->outputs.size(), 0U);
}

/// What Ninja 1.11.1 wrote when it ran gcc for a.o.
std::string deps_of_ninja() {
  const std::string_view hex = kHex;
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes.push_back(static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  return bytes;
}

TEST(NinjaDepsTest, OfNinja) {
  const auto deps = parse_ninja_deps(deps_of_ninja());
  ASSERT_TRUE(deps.has_value());
  EXPECT_EQ(deps->paths, (Paths{"a.o", "a.c", "/usr/include/stdc-predef.h", "h.h"}));
  ASSERT_EQ(deps->outputs.size(), 1U);
  const auto& entry = deps->outputs.at("a.o");
  EXPECT_EQ(entry.mtime_ns, 1796302591879308195);
  EXPECT_EQ(entry.paths, (std::vector<std::uint32_t>{1, 2, 3}));
}

TEST(NinjaDepsTest, WhatFollowsADamagedRecordIsNotThere) {
  const auto whole = deps_of_ninja();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto deps = parse_ninja_deps(whole.substr(0, size));
    EXPECT_TRUE(!deps.has_value() || deps->outputs.empty()) << size;
  }
  auto damaged = whole;
  damaged[whole.find("h.h") + 4] ^= 1;  // the number of the path
  EXPECT_EQ(parse_ninja_deps(damaged)->paths.size(), 3U);
  EXPECT_TRUE(parse_ninja_deps(damaged)->outputs.empty());
}

TEST(NinjaDepsTest, OtherVersionsAreRefused) {
  using namespace std::string_view_literals;
  EXPECT_EQ(parse_ninja_deps("# ninjadeps\n\5\0\0\0"sv).error().kind, ErrorKind::unsupported);
  EXPECT_EQ(parse_ninja_deps("# ninjadeps\n\4\0"sv).error().kind, ErrorKind::invalid);
  EXPECT_EQ(parse_ninja_deps("int main").error().kind, ErrorKind::invalid);
  // Version 3: seconds.
  const auto old = parse_ninja_deps(
      "# ninjadeps\n\3\0\0\0\10\0\0\0ab\0\0\xff\xff\xff\xff\14\0\0\x80\0\0\0\0\7\0\0\0\0\0\0\0"sv);
  ASSERT_TRUE(old.has_value());
  EXPECT_EQ(old->outputs.at("ab").mtime_ns, 7'000'000'000);
  EXPECT_EQ(old->outputs.at("ab").paths, std::vector<std::uint32_t>{0});
}

}  // namespace
}  // namespace hallmark::inspect
