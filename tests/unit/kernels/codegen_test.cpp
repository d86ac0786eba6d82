#include "kernels/codegen.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <functional>

#include "base/path.h"
#include "kernels/paths.h"
#include "support/fake_clock.h"
#include "support/fake_file_system.h"

namespace hallmark::kernels {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Generators written in C++: what follows `--` of a run chooses one.
class FakeCommands final : public Commands {
 public:
  explicit FakeCommands(test::FakeFileSystem& files) : files_(files) {}
  using Program = std::function<Ended(const std::vector<std::string>&)>;
  std::map<std::string, Program> programs;
  std::vector<std::vector<std::string>> started;

  Result<Ended> run(const std::vector<std::string>& argv, const std::map<std::string, std::string>&,
                    const std::string& cwd) override {
    const auto rest = std::ranges::find(argv, "--");
    std::vector<std::string> words(rest + 1, argv.end());
    if (words.front() == "/h/full") return copy(words, cwd);
    started.push_back(words);
    return programs.at(words.front())(words);
  }

 private:
  /// copy-files --into FOLDER -- NAME...
  Ended copy(const std::vector<std::string>& words, const std::string& cwd) {
    EXPECT_TRUE(copy_files(files_, {words.begin() + 5, words.end()}, cwd, words[3]).has_value());
    return {};
  }

  test::FakeFileSystem& files_;
};

class CodegenTest : public ::testing::Test {
 protected:
  CodegenTest() {
    manifest_.file = "/p/hallmark.toml";
    manifest_.root = "/p";
    codegen_.name = "gen";
    codegen_.place = {7, 1};
    codegen_.list = {{"list", {}}};
    codegen_.generate = {{"make", {}}, {"{out}", {}}};
    codegen_.cwd = {"{root}", {}};
    files_.put("/b/build.ninja", "");
    commands_.programs["list"] = [this](const auto&) { return Commands::Ended{0, listed_}; };
    commands_.programs["make"] = [this](const auto& words) {
      for (const auto& [path, bytes] : makes_) files_.put(path::join(words[1], path), bytes);
      return Commands::Ended{exit_code_, ""};
    };
  }

  Result<Generated> run() {
    return run_codegen({manifest_, codegen_, {}, {}, "/b", "/h/hallmark", "", "/h/full"}, files_, commands_);
  }
  std::map<std::string, std::vector<std::string>> lists() {
    auto lists = generated_lists(files_, "/b", {"gen"});
    EXPECT_TRUE(lists.has_value());
    return *lists;
  }
  std::int64_t mtime_of(const std::string& path) { return (*files_.lstat(path))->mtime_ns; }

  manifest::Manifest manifest_;
  manifest::Codegen codegen_;
  test::FakeClock clock_;
  test::FakeFileSystem files_{clock_};
  FakeCommands commands_{files_};
  std::string listed_ = "a.cpp\nsub/b.cpp\n";
  std::map<std::string, std::string> makes_ = {{"a.cpp", "A"}, {"sub/b.cpp", "B"}};
  int exit_code_ = 0;
};

TEST_F(CodegenTest, SettlesWhatTheListNames) {
  const auto generated = run();
  ASSERT_TRUE(generated.has_value()) << generated.error().message();
  EXPECT_EQ(generated->files, 2u);
  EXPECT_EQ(files_.bytes("/b/gen/gen/sub/b.cpp"), "B");
  EXPECT_THAT(lists()["gen"], ElementsAre("a.cpp", "sub/b.cpp"));
  EXPECT_FALSE((*files_.lstat("/b/gen/gen.new")).has_value());
}

TEST_F(CodegenTest, UnchangedFilesKeepTheirTime) {
  ASSERT_TRUE(run().has_value());
  const auto a = mtime_of("/b/gen/gen/a.cpp");
  const auto list = mtime_of("/b/gen/gen.list");
  clock_.advance_ms(1000);
  const auto again = run();
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->written, 0u);
  EXPECT_EQ(mtime_of("/b/gen/gen/a.cpp"), a);
  EXPECT_EQ(mtime_of("/b/gen/gen.list"), list);
}

TEST_F(CodegenTest, AShorterListPrunes) {
  ASSERT_TRUE(run().has_value());
  listed_ = "a.cpp\n";
  makes_.erase("sub/b.cpp");
  const auto generated = run();
  ASSERT_TRUE(generated.has_value());
  EXPECT_EQ(generated->removed, 1u);
  EXPECT_FALSE((*files_.lstat("/b/gen/gen/sub")).has_value());
  EXPECT_THAT(lists()["gen"], ElementsAre("a.cpp"));
}

TEST_F(CodegenTest, AFailingGeneratorIsFatalAndChangesNothing) {
  ASSERT_TRUE(run().has_value());
  makes_["a.cpp"] = "torn";
  exit_code_ = 3;
  const auto generated = run();
  ASSERT_FALSE(generated.has_value());
  EXPECT_EQ(generated.error().what,
            "/p/hallmark.toml:7:1: generator gen failed with exit code 3: make /b/gen/gen.new");
  EXPECT_EQ(files_.bytes("/b/gen/gen/a.cpp"), "A");
}

TEST_F(CodegenTest, ListAndFilesMustAgree) {
  listed_ = "a.cpp\nsub/b.cpp\nc.cpp\n";
  auto generated = run();
  ASSERT_FALSE(generated.has_value());
  EXPECT_THAT(generated.error().what, HasSubstr("listed but not made: c.cpp"));
  listed_ = "a.cpp\n";
  generated = run();
  ASSERT_FALSE(generated.has_value());
  EXPECT_THAT(generated.error().what, HasSubstr("made but not listed: sub/b.cpp"));
  listed_ = "";
  generated = run();
  ASSERT_FALSE(generated.has_value());
  EXPECT_THAT(generated.error().what, HasSubstr("it lists no files"));
}

TEST_F(CodegenTest, WithoutAListWhateverIsMadeCounts) {
  codegen_.list.clear();
  ASSERT_TRUE(run().has_value());
  EXPECT_THAT(lists()["gen"], ElementsAre("a.cpp", "sub/b.cpp"));
  makes_.clear();
  const auto generated = run();
  ASSERT_FALSE(generated.has_value());
  EXPECT_THAT(generated.error().what, HasSubstr("it made no files"));
}

TEST_F(CodegenTest, WhatWasCutShortAfterwardsIsNotTaken) {
  ASSERT_TRUE(run().has_value());
  files_.put("/b/gen/gen/a.cpp", "");
  EXPECT_TRUE(lists().empty());
  EXPECT_FALSE((*files_.lstat("/b/gen/gen.list")).has_value());
  ASSERT_TRUE(run().has_value());
  EXPECT_EQ(files_.bytes("/b/gen/gen/a.cpp"), "A");
  ASSERT_TRUE(files_.remove("/b/gen/gen/a.cpp").has_value());
  EXPECT_TRUE(lists().empty());
}

TEST_F(CodegenTest, TheDependencyFileHoldsWhatBothCommandsUsed) {
  const auto depends_on = [this](const char* what) {
    files_.put("/b/gen/gen.depfile", std::string("x: ") + what + " /b/gen/gen.new/in\n");
  };
  const auto list = commands_.programs["list"];
  const auto make = commands_.programs["make"];
  commands_.programs["list"] = [&](const auto& words) { return depends_on("gen.py"), list(words); };
  commands_.programs["make"] = [&](const auto& words) { return depends_on("/usr/lib/t.in"), make(words); };
  ASSERT_TRUE(run().has_value());
  const auto depfile = files_.bytes("/b/gen/gen.list.d");
  EXPECT_THAT(depfile, HasSubstr("gen/gen.list:"));
  EXPECT_THAT(depfile, HasSubstr("/p/gen.py"));
  EXPECT_THAT(depfile, HasSubstr("/usr/lib/t.in"));
  EXPECT_THAT(depfile, ::testing::Not(HasSubstr("gen.new")));
}

TEST_F(CodegenTest, AListMayBeAFile) {
  codegen_.list = {{"list", {}}, {"--to={list}", {}}};
  commands_.programs["list"] = [this](const std::vector<std::string>& words) {
    files_.put(words[1].substr(5), "./a.cpp\r\n/b/gen/gen.new/sub/b.cpp\n");
    return Commands::Ended{0, "chatter"};
  };
  ASSERT_TRUE(run().has_value());
  EXPECT_THAT(lists()["gen"], ElementsAre("a.cpp", "sub/b.cpp"));
}

}  // namespace
}  // namespace hallmark::kernels
