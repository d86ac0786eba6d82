#include "base/path.h"

#include <gtest/gtest.h>

namespace hallmark {
namespace {

TEST(Path, JoinPutsOneSlash) {
  EXPECT_EQ(path::join("/a", "b"), "/a/b");
  EXPECT_EQ(path::join("/a/", "b"), "/a/b");
  EXPECT_EQ(path::join("/", "b"), "/b");
  EXPECT_EQ(path::join("a", "b/c"), "a/b/c");
}

TEST(Path, JoinOfAnAbsoluteNameIsThatName) {
  EXPECT_EQ(path::join("/a", "/b"), "/b");
}

TEST(Path, JoinOfNothingIsTheFolder) {
  EXPECT_EQ(path::join("/a", ""), "/a");
  EXPECT_EQ(path::join("", "b"), "b");
}

TEST(Path, ParentAndBaseName) {
  EXPECT_EQ(path::parent("/a/b"), "/a");
  EXPECT_EQ(path::parent("/a"), "/");
  EXPECT_EQ(path::parent("a"), "");
  EXPECT_EQ(path::base_name("/a/b"), "b");
  EXPECT_EQ(path::base_name("a"), "a");
  EXPECT_EQ(path::base_name("/a/"), "");
}

TEST(Path, IsWithinRespectsComponents) {
  EXPECT_TRUE(path::is_within("/a/b", "/a"));
  EXPECT_TRUE(path::is_within("/a", "/a"));
  EXPECT_TRUE(path::is_within("/a", "/"));
  EXPECT_FALSE(path::is_within("/ab", "/a"));
  EXPECT_FALSE(path::is_within("/a", "/a/b"));
  EXPECT_FALSE(path::is_within("a", "/"));
  EXPECT_FALSE(path::is_within("/a", ""));
}

TEST(Path, RelativeBelow) {
  EXPECT_EQ(path::relative_below("/a/b/c", "/a"), "b/c");
  EXPECT_EQ(path::relative_below("/a", "/a"), ".");
  EXPECT_EQ(path::relative_below("/b", "/"), "b");
  EXPECT_EQ(path::relative_below("/ab", "/a"), "/ab");
}

}  // namespace
}  // namespace hallmark
