#include "app/look_alikes.h"

#include <gmock/gmock.h>

#include "support/fake_clock.h"
#include "support/fake_file_system.h"

namespace hallmark::app {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Place = prove::LookAlike::Place;

class LookAlikes : public ::testing::Test {
 protected:
  LookAlikes() {
    command_.argv = {"t"};
    command_.cwd = "/w";
  }
  std::vector<std::string> found() {
    std::vector<std::string> texts;
    for (const auto& pair : look_alikes(files_, command_, loaded_, {}, built_)) {
      const auto* place = pair.place == Place::beside     ? "beside"
                          : pair.place == Place::searched ? "searched"
                                                          : "elsewhere";
      texts.push_back(pair.loaded + " " + pair.other + " " + place + (pair.is_newer ? " newer" : ""));
    }
    return texts;
  }
  void put(const std::string& path, std::string_view bytes) {
    clock_.advance_ns(1'000'000'000);
    files_.put(path, bytes);
  }

  test::FakeClock clock_;
  test::FakeFileSystem files_{clock_};
  model::Command command_;
  std::vector<std::string> loaded_;
  std::vector<std::string> built_;
};

TEST(PythonModule, IsWhatIsLeftOfItsName) {
  EXPECT_EQ(python_module_of("_C.cpython-311-x86_64-linux-gnu.so"), "_C");
  EXPECT_EQ(python_module_of("attn.abi3.so"), "attn");
  EXPECT_EQ(python_module_of("attn.so"), "attn");
  EXPECT_EQ(python_module_of("libattn.so"), "");
  EXPECT_EQ(python_module_of("attn.so.2"), "");
  EXPECT_EQ(python_module_of("attn.backup.so"), "");
  EXPECT_EQ(python_module_of(".so"), "");
}

TEST_F(LookAlikes, ALibraryInFoldersThatAreSearched) {
  put("/old/libk.so", "1");
  put("/new/libk.so", "2");
  loaded_ = {"/old/libk.so"};
  EXPECT_THAT(found(), IsEmpty());
  command_.environment["LD_LIBRARY_PATH"] = "/old:/new::/absent";
  EXPECT_THAT(found(), ElementsAre("/old/libk.so /new/libk.so searched newer"));
  loaded_ = {"/new/libk.so"};
  EXPECT_THAT(found(), ElementsAre("/new/libk.so /old/libk.so searched"));
  loaded_ = {"/new/libk.so", "/old/libk.so"};
  EXPECT_THAT(found(), IsEmpty()) << "both were loaded";
  put("/new/libk.so", "1");
  loaded_ = {"/old/libk.so"};
  EXPECT_THAT(found(), IsEmpty()) << "the same bytes";
}

TEST_F(LookAlikes, ALinkToWhatWasLoadedIsNoOther) {
  put("/w/lib/libk.so", "1");
  ASSERT_TRUE(files_.make_folder("/w/links", 0755).has_value());
  ASSERT_TRUE(files_.make_link("../lib/libk.so", "/w/links/libk.so").has_value());
  loaded_ = {"/w/lib/libk.so"};
  command_.environment["LD_LIBRARY_PATH"] = "links";
  EXPECT_THAT(found(), IsEmpty());
}

TEST_F(LookAlikes, AModuleUnderAnOlderName) {
  put("/w/k.cpython-311-x86_64-linux-gnu.so", "1");
  put("/w/k.so", "2");
  put("/w/kk.so", "3");
  loaded_ = {"/w/k.cpython-311-x86_64-linux-gnu.so"};
  EXPECT_THAT(found(), ElementsAre("/w/k.cpython-311-x86_64-linux-gnu.so /w/k.so beside newer"));
}

TEST_F(LookAlikes, AModuleInAnotherFolderOfPython) {
  put("/site/pkg/__init__.py", "");
  put("/site/pkg/_C.so", "1");
  put("/w/build/pkg/_C.abi3.so", "2");
  put("/w/build/_C.so", "3");
  loaded_ = {"/site/pkg/_C.so"};
  command_.environment["PYTHONPATH"] = "/site:build";
  EXPECT_THAT(found(), ElementsAre("/site/pkg/_C.so /w/build/pkg/_C.abi3.so searched newer"));
}

TEST_F(LookAlikes, WhatABuildMakesUnderThatName) {
  put("/site/torch/__init__.py", "");
  put("/site/torch/_C.so", "1");
  put("/site/flash.so", "1");
  put("/w/b/attn/_C.so", "2");
  put("/w/b/torch/_C.so", "2");
  put("/w/b/flash.so", "2");
  loaded_ = {"/site/flash.so", "/site/torch/_C.so"};
  built_ = {"/w/b/attn/_C.so", "/w/b/flash.so", "/w/b/torch/_C.so"};
  EXPECT_THAT(found(), ElementsAre("/site/flash.so /w/b/flash.so elsewhere newer",
                                   "/site/torch/_C.so /w/b/torch/_C.so elsewhere newer"))
      << "another package may have a module of that name";
}

}  // namespace
}  // namespace hallmark::app
