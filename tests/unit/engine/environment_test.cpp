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
                 const std::string& output = "", const char* program = "g++")
      : command{{program}, build.empty() ? root : build, std::move(environment)},
        bindings(command, root, build, output) {}
  /// Sorted.
  Words mentioned_in(std::string_view bytes) const {
    auto names = bindings.mentioned_in(bytes);
    std::sort(names.begin(), names.end());
    return names;
  }
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
  const Bound bound(Env{{"HOME", "/home/u"}, {"USER", "alice"}, {"LOGNAME", "alice"}, {"PATH", "/usr/bin"}},
                    "/src/proj", "/src/proj/build", "", "sh");
  EXPECT_EQ(bound.mentioned_in("built in /src/proj/a by alice"), (Words{"LOGNAME", "R", "R_NAME", "USER"}));
  EXPECT_EQ(bound.mentioned_in("/src/proj/build/x"), (Words{"B", "R", "R_NAME"}));
  EXPECT_EQ(bound.mentioned_in("PATH is /usr/bin"), Words{"PATH"});
  EXPECT_EQ(bound.mentioned_in("nothing"), Words{});
  auto all = bound.bindings.all_names();
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all, (Words{"B", "HOME", "LOGNAME", "PATH", "R", "R_NAME", "USER"}));
  EXPECT_EQ(*bound.bindings.value_of("USER"), "alice");
  EXPECT_EQ(*bound.bindings.value_of("R"), "/src/proj");
  EXPECT_EQ(*bound.bindings.value_of("R_NAME"), "proj");
  EXPECT_EQ(bound.bindings.value_of("NOBODY"), nullptr);
}

TEST(Bindings, ValuesThatToolsEscapeAlwaysCount) {
  for (const char* root : {"/co 1", "/\xc3\xa4", "/co#1", "/a\"b", "/a\\b", "/a$b", "/a:b", "/a,b"}) {
    const Bound bound(Env{{"HOME", "/home/u"}, {"PATH", "/usr bin"}}, root, "");
    EXPECT_EQ(bound.mentioned_in("co\\ 1"), Words{"R"}) << root;
    EXPECT_EQ(bound.mentioned_in(root), Words{"R"}) << root;
    EXPECT_EQ(bound.mentioned_in(""), Words{}) << "nothing was shown";
  }
  const Env named{{"HOME", "/home/an other"}, {"USER", "an other"}, {"OLDPWD", "/an other"}};
  EXPECT_EQ(Bound(named, "/src/proj", "", "", "sh").mentioned_in("text"), (Words{"HOME", "OLDPWD", "USER"}));
  EXPECT_EQ(Bound(Env{{"HOME", "/home/u"}}, "/src/a_b.c+1@x-y=z~", "").mentioned_in("text"), Words{});
}

TEST(Bindings, NamesAndTheLastFolderMeanNothingToACompiler) {
  const Env environment{{"USER", "root"}, {"LOGNAME", "root"}, {"OLDPWD", "/"}};
  for (const char* program : {"g++", "/usr/bin/clang-14", "nvcc", "ld", "as"})
    EXPECT_EQ(Bound(environment, "/co1", "", "", program).mentioned_in("/ root co1"), Words{}) << program;
  for (const char* program : {"sh", "rustc", "nasm", "ccache"})
    EXPECT_EQ(Bound(environment, "/co1", "", "", program).mentioned_in("/ root co1"),
              (Words{"LOGNAME", "OLDPWD", "R_NAME", "USER"}))
        << program << ": its sources can name a variable";
}

TEST(Bindings, AShortNameIsAWordOfItsOwn) {
  const auto shows = [](const std::string& user, const char* text) {
    return !Bound(Env{{"USER", user}}, "/", "", "", "sh").mentioned_in(text).empty();
  };
  for (const char* text : {"root", "by root.", "root/x", "tree_root", "root1", "a\\nroot", "chroot root"})
    EXPECT_TRUE(shows("root", text)) << text;
  for (const char* text : {"chroot", "roots", "uprooted", "ROOT", "roo"})
    EXPECT_FALSE(shows("root", text)) << text;
  EXPECT_TRUE(shows("scenario", "thescenarios")) << "a long one is hardly there by chance";
}

TEST(Bindings, TheRootsNameCountsWhereItIsShown) {
  const auto shows = [](const char* root, const char* text) {
    return !Bound(Env{}, root, "", "", "sh").mentioned_in(text).empty();
  };
  EXPECT_TRUE(shows("/w/co1", "project co1"));
  EXPECT_TRUE(shows("/w/co1", "co1-1.0.tar"));
  EXPECT_FALSE(shows("/w/co1", "falco1"));
  EXPECT_TRUE(shows("/w/hallmark", "libhallmark.a"));
  EXPECT_FALSE(shows("/w/hallmark", "hall"));
  EXPECT_TRUE(shows("/w/ab", "nothing")) << "too short to be searched for";
  EXPECT_TRUE(shows("/w/a b", "nothing")) << "may be escaped";
  EXPECT_FALSE(shows("/w/ab", ""));
}

TEST(Bindings, TheFolderOfBeforeIsNotTheBeginningOfAnother) {
  const auto shows = [](const char* before, const char* text) {
    const auto names = Bound(Env{{"OLDPWD", before}}, "/tmp/proj", "", "", "sh").mentioned_in(text);
    return std::find(names.begin(), names.end(), "OLDPWD") != names.end();
  };
  EXPECT_TRUE(shows("/tmp", "was in /tmp"));
  EXPECT_TRUE(shows("/tmp", "/tmp/other"));
  EXPECT_FALSE(shows("/tmp", "in /tmp/proj/x"));
  EXPECT_TRUE(shows("/tmp", "in /tmp/proj/x from /tmp"));
  EXPECT_TRUE(shows("/tmp/proj", "in /tmp/proj"));
  EXPECT_TRUE(shows("/", "from / to"));
  EXPECT_TRUE(shows("/", "/"));
  EXPECT_FALSE(shows("/", "/usr/bin and a/b"));
}

}  // namespace
}  // namespace hallmark::engine
