#include "os/tree.h"

#include <gmock/gmock.h>

#include "base/limits.h"
#include "support/fake_clock.h"
#include "support/fake_file_system.h"

namespace hallmark::os {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class TreeTest : public ::testing::Test {
 protected:
  TreeTest() {
    files_.put("/t/b/c", "");
    files_.put("/t/a", "");
    files_.put("/precious/x", "");
    EXPECT_TRUE(files_.make_link("/precious", "/t/b/link").has_value());
  }
  test::FakeClock clock_;
  test::FakeFileSystem files_{clock_};
};

TEST_F(TreeTest, ListsFilesAndLinksAndFollowsNone) {
  EXPECT_THAT(*files_below(files_, "/t"), ElementsAre("a", "b/c", "b/link"));
  EXPECT_THAT(*files_below(files_, "/none"), IsEmpty());
}

TEST_F(TreeTest, RemovesAllAndFollowsNoLink) {
  ASSERT_TRUE(remove_tree(files_, "/t").has_value());
  EXPECT_FALSE((*files_.lstat("/t")).has_value());
  EXPECT_TRUE((*files_.lstat("/precious/x")).has_value());
  EXPECT_TRUE(remove_tree(files_, "/t").has_value()) << "absent is fine";
}

TEST_F(TreeTest, DepthIsLimited) {
  std::string deep = "/d";
  for (std::size_t i = 0; i < limits::kFolderDepth + 2; ++i) deep += "/d";
  files_.put(deep, "");
  const auto found = files_below(files_, "/d");
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().kind, ErrorKind::limit);
  EXPECT_EQ(remove_tree(files_, "/d").error().kind, ErrorKind::limit);
}

}  // namespace
}  // namespace hallmark::os
