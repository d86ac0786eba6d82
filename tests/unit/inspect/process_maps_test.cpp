#include "inspect/process_maps.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace hallmark::inspect {
namespace {

TEST(ProcessMaps, EachFileOnceWithItsRights) {
  const auto files = parse_process_maps(
      "55d0a7a00000-55d0a7a02000 r--p 00000000 fe:01 1234   /usr/bin/cat\n"
      "55d0a7a02000-55d0a7a07000 r-xp 00002000 fe:01 1234   /usr/bin/cat\n"
      "55d0a8000000-55d0a8021000 rw-p 00000000 00:00 0      [heap]\n"
      "7f3000000000-7f3000100000 r--p 00000000 fe:01 99     /usr/lib/locale/with blanks (deleted).x\n"
      "7f3000200000-7f3000300000 r-xp 00000000 103:0a 77    /r/build/lib\\012k.so (deleted)\n"
      "7f3000400000-7f3000500000 rwxp 00000000 00:01 5      /memfd:jit (deleted)\n"
      "7f3000600000-7f3000700000 rwxp 00000000 00:00 0 \n"
      "7ffd00000000-7ffd00021000 rw-p 00000000 00:00 0      [stack]\n"
      "nonsense\n\n"
      "7f3000800000-7f3000900000 r-xp 00000000 fe:01 78     /r/build/libk.so");
  ASSERT_EQ(files.size(), 4u);
  EXPECT_EQ(files[0].path, "/usr/bin/cat");
  EXPECT_TRUE(files[0].runs);
  EXPECT_EQ(files[0].range, "55d0a7a00000-55d0a7a02000");
  EXPECT_EQ(files[0].inode, 1234u);
  EXPECT_EQ(files[0].device_major, 0xfeu);
  EXPECT_EQ(files[0].device_minor, 1u);
  EXPECT_EQ(files[1].path, "/usr/lib/locale/with blanks (deleted).x");
  EXPECT_FALSE(files[1].runs);
  EXPECT_FALSE(files[1].deleted);
  EXPECT_EQ(files[2].path, "/r/build/lib\nk.so");
  EXPECT_TRUE(files[2].deleted);
  EXPECT_EQ(files[2].device_major, 0x103u);
  EXPECT_EQ(files[3].path, "/r/build/libk.so");
}

TEST(ProcessMaps, OneNameMayStandForTwoFiles) {
  const auto files = parse_process_maps(
      "1-2 r-xp 0 fe:01 10 /r/lib.so (deleted)\n"
      "3-4 r-xp 0 fe:01 11 /r/lib.so\n");
  ASSERT_EQ(files.size(), 2u) << "loaded, replaced, and loaded again";
}

RC_GTEST_PROP(ProcessMaps, NoiseIsPassedOver, (const std::string& noise)) {
  for (const auto& file : parse_process_maps(noise)) RC_ASSERT(file.path.starts_with('/'));
}

}  // namespace
}  // namespace hallmark::inspect
