#include "engine/environment.h"

#include <gtest/gtest.h>

#include "support/fake_clock.h"
#include "support/fake_file_system.h"

namespace hallmark::engine {
namespace {

using Words = std::vector<std::string>;
using Env = model::Environment;

/// The Bindings of a command in /r/build with this environment, root /r and build folder /r/build.
struct Bound {
  explicit Bound(model::Environment environment, std::string root = "/r", std::string build = "/r/build",
                 const std::string& output = "")
      : command{{"g++"}, build.empty() ? root : build, std::move(environment)},
        bindings(command, root, build, output) {}
  model::Command command;
  Bindings bindings;
};

/// Tokens as "<R>" instead of marker bytes.
std::string shown(std::string text) {
  for (char& c : text) c = c == '\x01' ? '<' : c == '\x02' ? '>' : c;
  return text;
}

TEST(Environment, VariablesOfTerminalAndSessionDoNotCount) {
  for (const char* name : {"TERM", "SHLVL", "_", "SSH_AUTH_SOCK", "VSCODE_PID", "XDG_SESSION_ID", "MAKELEVEL",
                           "HALLMARK_STORE", "CCACHE_DIR", "TERM_PROGRAM", "TERM_PROGRAM_VERSION"})
    EXPECT_TRUE(is_ignored_variable(name, {})) << name;
  for (const char* name : {"CPATH", "NVCC_APPEND_FLAGS", "LANG", "LC_ALL", "SOURCE_DATE_EPOCH", "CFLAGS",
                           "CUDA_PATH", "TERMS", "XTERM", "MAKEFLAGS", "LD_LIBRARY_PATH", "SSH", "", "term"})
    EXPECT_FALSE(is_ignored_variable(name, {})) << name;
}

TEST(Environment, TheConfigurationAddsNamesAndPatterns) {
  const Words more{"CI_JOB_ID", "GITHUB_*"};
  EXPECT_TRUE(is_ignored_variable("CI_JOB_ID", more));
  EXPECT_TRUE(is_ignored_variable("GITHUB_RUN_ID", more));
  EXPECT_FALSE(is_ignored_variable("CI_JOB_IDS", more));
  EXPECT_FALSE(is_ignored_variable("XGITHUB_RUN_ID", more));
}

TEST(Environment, EveryIgnoredVariableSaysWhy) {
  EXPECT_GT(ignored_variables().size(), 50u);
  for (const auto& known : ignored_variables()) {
    EXPECT_FALSE(known.why.empty()) << known.pattern;
    EXPECT_FALSE(is_bound_variable(known.pattern)) << known.pattern;
  }
}

TEST(Environment, TemporaryFoldersAreTheUsualOnesAndTmpdir) {
  const auto usual = temporary_folders({});
  EXPECT_NE(std::find(usual.begin(), usual.end(), "/tmp"), usual.end());
  EXPECT_EQ(temporary_folders({{"TMPDIR", "relative"}}), usual);
  const auto own = temporary_folders({{"TMPDIR", "/scratch/u/"}});
  EXPECT_NE(std::find(own.begin(), own.end(), "/scratch/u"), own.end());
}

TEST(Bindings, PathsStandAsTokens) {
  const Bound bound(Env{{"HOME", "/home/u"}, {"TMPDIR", "/scratch/"}, {"VIRTUAL_ENV", "/home/u/env"}});
  const auto fold = [&](const char* text) { return shown(bound.bindings.fold_or_mark(text)); };
  EXPECT_EQ(fold("-I/r/include"), "-I<R>/include");
  EXPECT_EQ(fold("/r/build/a.o"), "<B>/a.o");
  EXPECT_EQ(fold("/home/u/.config"), "<HOME>/.config");
  EXPECT_EQ(fold("/home/u/env/bin"), "<VIRTUAL_ENV>/bin");
  EXPECT_EQ(fold("/scratch/x"), "<TMPDIR>/x");
  EXPECT_EQ(fold("/rest"), "/rest");
}

TEST(Bindings, ATextWithMarkerBytesEqualsNoFoldedOne) {
  const Bound bound(Env{});
  EXPECT_EQ(bound.bindings.fold_or_mark("\x01R\x02/x"), "\x02\x01R\x02/x");
  EXPECT_NE(bound.bindings.fold_or_mark("\x01R\x02/x"), bound.bindings.fold_or_mark("/r/x"));
}

TEST(Bindings, PlacesThatOverlapArePartOfTheKey) {
  EXPECT_EQ(Bound(Env{{"HOME", "/home/u"}}).bindings.relations(), Words{"B=R/build"});
  EXPECT_EQ(Bound(Env{{"HOME", "/r/home"}}, "/r", "").bindings.relations(), Words{"HOME=R/home"});
  EXPECT_EQ(Bound(Env{{"HOME", "/home/u"}}, "/home/u/r", "").bindings.relations(), Words{})
      << "a checkout below HOME is reached by its own name only";
  EXPECT_EQ(Bound(Env{{"VIRTUAL_ENV", "/r"}}, "/r", "").bindings.relations(), Words{"VIRTUAL_ENV=R/."});
  EXPECT_EQ(Bound(Env{}, "/r", "/r").bindings.relations(), Words{}) << "a build in the source tree";
}

TEST(Bindings, ValuesThatAreNoPathCountAsText) {
  EXPECT_EQ(Bound(Env{{"HOME", "relative"}}, "/r", "").bindings.relations(), Words{"HOME=relative"});
  EXPECT_EQ(Bound(Env{{"HOME", "/"}}, "/r", "").bindings.relations(), Words{});
  EXPECT_EQ(Bound(Env{{"TMPDIR", ""}}, "/r", "").bindings.relations(), Words{});
}

TEST(Bindings, AWorkingFolderSpelledThroughALinkIsAToken) {
  const Bound same(Env{{"PWD", "/r"}}, "/r", "");
  EXPECT_EQ(same.bindings.value_of("PWD"), nullptr) << "equal to the folder itself";
  EXPECT_EQ(same.bindings.relations(), Words{});
  const Bound other(Env{{"PWD", "/link"}}, "/r", "");
  EXPECT_EQ(shown(other.bindings.fold_or_mark("/link/a.c")), "<PWD>/a.c");
}

TEST(Environment, PwdIsComparedWithTheWorkingFolder) {
  test::FakeClock clock;
  test::FakeFileSystem disk(clock);
  for (const char* folder : {"/r", "/other"}) (void)disk.make_folder(folder, 0755);
  (void)disk.make_link("/r", "/link");
  const auto kind = [&](const char* pwd) { return pwd_kind(disk, {{"g++"}, "/r", {{"PWD", pwd}}}); };
  EXPECT_EQ(pwd_kind(disk, {{"g++"}, "/r", {}}), PwdKind::unset);
  EXPECT_EQ(kind("/r"), PwdKind::folder_itself);
  EXPECT_EQ(kind("/link"), PwdKind::other_name);
  EXPECT_EQ(kind("/r/"), PwdKind::other_name);
  EXPECT_EQ(kind("/other"), PwdKind::another_folder);
  EXPECT_EQ(kind("/gone"), PwdKind::another_folder);
  EXPECT_EQ(kind("r"), PwdKind::another_folder);
  EXPECT_EQ(kind(""), PwdKind::another_folder);
}

TEST(Bindings, PipsIsolatedFolderIsAToken) {
  for (const char* name : {"PYTHONPATH", "PATH"}) {
    const Bound bound(Env{{name, "/usr/bin:/tmp/pip-build-env-x1y2/overlay/bin"}, {"TMPDIR", "/tmp"}});
    ASSERT_NE(bound.bindings.value_of("ISOLATED"), nullptr) << name;
    EXPECT_EQ(*bound.bindings.value_of("ISOLATED"), "/tmp/pip-build-env-x1y2");
    EXPECT_EQ(bound.bindings.relations(), Words{"B=R/build"}) << "where it lies does not matter";
  }
  EXPECT_EQ(Bound(Env{{"PATH", "pip-build-env-x/bin"}}).bindings.value_of("ISOLATED"), nullptr);
}

TEST(Bindings, AnOutputInATemporaryFolderNamesThatFolder) {
  const auto value = [](const Bound& bound) {
    const auto* found = bound.bindings.value_of("OUT");
    return found == nullptr ? std::string("none") : *found;
  };
  EXPECT_EQ(value(Bound(Env{}, "/r", "", "/tmp/tmpab12/lib/a.o")), "/tmp/tmpab12");
  EXPECT_EQ(value(Bound(Env{{"TMPDIR", "/scratch"}}, "/r", "", "/scratch/x/a.o")), "/scratch/x");
  EXPECT_EQ(value(Bound(Env{}, "/r", "", "/tmp/a.o")), "none") << "the temporary folder itself";
  EXPECT_EQ(value(Bound(Env{}, "/r", "", "a.o")), "none");
  EXPECT_EQ(value(Bound(Env{}, "/tmp/x/r", "", "/tmp/x/r/a.o")), "none") << "inside the root";
  EXPECT_EQ(value(Bound(Env{}, "/r", "", "/opt/a/a.o")), "none");
}

TEST(Bindings, SearchFoldersAreTheAbsoluteOnesOfPath) {
  const Bound plain(Env{{"PATH", "/usr/bin/:/bin"}});
  EXPECT_EQ(plain.bindings.search_folders(), (Words{"/usr/bin", "/bin"}));
  EXPECT_FALSE(plain.bindings.path_is_text());
  const Bound mixed(Env{{"PATH", "/usr/bin::./tools:/bin"}});
  EXPECT_EQ(mixed.bindings.search_folders(), (Words{"/usr/bin", "/bin"}));
  EXPECT_TRUE(mixed.bindings.path_is_text()) << "its meaning depends on the working folder";
  EXPECT_TRUE(Bound(Env{}).bindings.path_is_text());
  EXPECT_TRUE(Bound(Env{{"PATH", ""}}).bindings.path_is_text());
}

TEST(Bindings, MentionsNameTokensAndLooseValues) {
  const Bound bound(Env{{"HOME", "/home/u"}, {"USER", "alice"}, {"LOGNAME", "alice"}, {"PATH", "/usr/bin"}});
  const auto mentioned = [&](const char* bytes) {
    auto names = bound.bindings.mentioned_in(bytes);
    std::sort(names.begin(), names.end());
    return names;
  };
  EXPECT_EQ(mentioned("built in /r/src by alice"), (Words{"LOGNAME", "R", "USER"}));
  EXPECT_EQ(mentioned("/r/build/x"), (Words{"B", "R"}));
  EXPECT_EQ(mentioned("PATH is /usr/bin"), Words{"PATH"});
  EXPECT_EQ(mentioned("nothing"), Words{});
  auto all = bound.bindings.all_names();
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all, (Words{"B", "HOME", "LOGNAME", "PATH", "R", "USER"}));
  EXPECT_EQ(*bound.bindings.value_of("USER"), "alice");
  EXPECT_EQ(*bound.bindings.value_of("R"), "/r");
  EXPECT_EQ(bound.bindings.value_of("NOBODY"), nullptr);
}

}  // namespace
}  // namespace hallmark::engine
