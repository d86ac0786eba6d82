#include "inspect/cmake_lists.h"

#include <gtest/gtest.h>

namespace hallmark::inspect {
namespace {

using Words = std::vector<std::string>;

TEST(CMakeLists, CommandsAndArguments) {
  const auto commands = cmake_commands_in(
      "# file(GLOB no *.c)\n"
      "#[[ file(GLOB no *.c)\n]] project( p  CXX )\n"
      "FILE(GLOB srcs # why\n  \"a b/*.c\" [=[x]y]=] \\;z (nested (deep)))\n"
      "if(A)\nendif()\n");
  ASSERT_EQ(commands.size(), 4U);
  EXPECT_EQ(commands[0].name, "project");
  EXPECT_EQ(commands[0].line, 3U);
  EXPECT_EQ(commands[0].arguments, (Words{"p", "CXX"}));
  EXPECT_EQ(commands[1].name, "file");
  EXPECT_EQ(commands[1].line, 4U);
  EXPECT_EQ(commands[1].arguments, (Words{"GLOB", "srcs", "a b/*.c", "x]y", ";z", "nested", "deep"}));
  EXPECT_EQ(commands[3].name, "endif");
}

TEST(CMakeLists, FrozenGlobs) {
  const auto frozen = [](std::string_view text) { return is_frozen_glob(cmake_commands_in(text).at(0)); };
  EXPECT_TRUE(frozen("file(GLOB a *.c)"));
  EXPECT_TRUE(frozen("file(GLOB_RECURSE a RELATIVE x *.c)"));
  EXPECT_FALSE(frozen("file(GLOB a CONFIGURE_DEPENDS *.c)"));
  EXPECT_FALSE(frozen("file(READ a b)"));
  EXPECT_FALSE(frozen("glob(GLOB a *.c)"));
}

TEST(CMakeLists, OddTextIsReadWithoutHarm) {
  for (const char* text : {"(", "a(", "a(\"", "a([==[", "#[[", "#[=", "a\\", "a(\\", "a)", "9 x", ""})
    EXPECT_TRUE(cmake_commands_in(text).empty()) << text;
}

}  // namespace
}  // namespace hallmark::inspect
