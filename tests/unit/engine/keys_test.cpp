#include "engine/keys.h"

#include <gtest/gtest.h>

#include <functional>

namespace hallmark::engine {
namespace {

struct Subject {
  model::Command command{{"g++", "-c", "a.cpp", "-I/r/include"},
                         "/r",
                         {{"PATH", "/usr/bin"}, {"HOME", "/home/u"}, {"CPATH", "/r/inc"}, {"USER", "alice"}}};
  std::string root = "/r";
  std::string build;
  PwdKind pwd = PwdKind::unset;
  std::vector<std::string> ignored;
  std::string machine = "x86_64";

  digest::Key weak() const {
    return key_of(command, Bindings(command, root, build, "a.o"), pwd, ignored, machine).weak;
  }
};

bool changes_key(const std::function<void(Subject&)>& change) {
  Subject changed;
  change(changed);
  return changed.weak() != Subject().weak();
}

bool variable_changes_key(const std::string& name, const std::string& value) {
  return changes_key([&](Subject& s) { s.command.environment[name] = value; });
}

TEST(WeakKey, WordsFolderAndStreamsCount) {
  EXPECT_FALSE(changes_key([](Subject&) {}));
  EXPECT_TRUE(changes_key([](Subject& s) { s.command.argv[1] = "-S"; }));
  EXPECT_TRUE(changes_key([](Subject& s) { s.command.argv.push_back(""); }));
  EXPECT_TRUE(changes_key([](Subject& s) { s.command.argv = {"g++", "-ca.cpp", "-I/r/include"}; }));
  EXPECT_TRUE(changes_key([](Subject& s) { s.command.cwd = "/r/sub"; }));
  EXPECT_TRUE(changes_key([](Subject& s) { s.command.in = model::StreamKind::pipe; }));
  EXPECT_TRUE(changes_key([](Subject& s) { s.command.out = model::StreamKind::tty; }));
  EXPECT_TRUE(changes_key([](Subject& s) { s.command.err = model::StreamKind::tty; }));
  EXPECT_TRUE(changes_key([](Subject& s) { s.command.err = model::StreamKind::closed; }));
  EXPECT_TRUE(changes_key([](Subject& s) { s.command.merged = true; }));
  EXPECT_TRUE(changes_key([](Subject& s) { s.command.uid = 7; }));
  EXPECT_TRUE(changes_key([](Subject& s) { s.command.umask = 077; }));
  EXPECT_TRUE(changes_key([](Subject& s) { s.machine = "aarch64"; }));
}

TEST(WeakKey, WhereOutputGoesCountsOnlyAsATerminal) {
  EXPECT_FALSE(changes_key([](Subject& s) { s.command.out = model::StreamKind::file; }));
  EXPECT_FALSE(changes_key([](Subject& s) { s.command.err = model::StreamKind::null_device; }));
}

TEST(WeakKey, UnknownVariablesCount) {
  EXPECT_TRUE(variable_changes_key("NVCC_APPEND_FLAGS", "-O0"));
  EXPECT_TRUE(variable_changes_key("CPATH", "/r/other"));
  EXPECT_TRUE(variable_changes_key("LANG", ""));
  EXPECT_TRUE(changes_key([](Subject& s) { s.command.environment.erase("CPATH"); }));
  EXPECT_FALSE(variable_changes_key("TERM", "dumb"));
  EXPECT_FALSE(variable_changes_key("SSH_TTY", "/dev/pts/1"));
}

TEST(WeakKey, ConfiguredVariablesDoNotCount) {
  const auto weak = [](const char* run) {
    Subject s;
    s.ignored = {"CI_*"};
    s.command.environment["CI_JOB"] = run;
    return s.weak();
  };
  EXPECT_EQ(weak("1"), weak("2"));
  EXPECT_TRUE(variable_changes_key("CI_JOB", "1"));
}

TEST(WeakKey, BoundVariablesCountByTheirEffect) {
  EXPECT_FALSE(variable_changes_key("PATH", "/opt/bin:/usr/bin"));
  EXPECT_FALSE(variable_changes_key("HOME", "/home/v"));
  EXPECT_FALSE(variable_changes_key("USER", "bob"));
  EXPECT_FALSE(variable_changes_key("OLDPWD", "/"));
  EXPECT_TRUE(changes_key([](Subject& s) { s.command.environment.erase("HOME"); })) << "that it is set";
  EXPECT_TRUE(variable_changes_key("HOME", "")) << "empty is another thing";
  EXPECT_TRUE(variable_changes_key("HOME", "/r/home")) << "it lies in the root";
  EXPECT_TRUE(variable_changes_key("PATH", "./bin:/usr/bin")) << "a part that depends on the folder";
  EXPECT_TRUE(changes_key([](Subject& s) { s.command.environment.erase("PATH"); }))
      << "programs are then found in folders that no look-up compares";
}

TEST(WeakKey, AnotherNameOfTheWorkingFolderCounts) {
  const auto weak = [](const char* program, PwdKind pwd, const char* value) {
    Subject s;
    s.command.argv[0] = program;
    s.pwd = pwd;
    if (pwd != PwdKind::unset) s.command.environment["PWD"] = value;
    return s.weak();
  };
  using enum PwdKind;
  EXPECT_NE(weak("g++", other_name, "/link"), weak("g++", folder_itself, "/r")) << "gcc -g shows it";
  EXPECT_EQ(weak("g++", other_name, "/link"), weak("g++", other_name, "/link2")) << "counts by its effect";
  EXPECT_NE(weak("g++", other_name, "/link"), weak("g++", other_name, "/link/.")) << "two spellings";
  EXPECT_EQ(weak("g++", folder_itself, "/r"), weak("g++", unset, "")) << "the same to a compiler";
  EXPECT_EQ(weak("g++", folder_itself, "/r"), weak("g++", another_folder, "/elsewhere")) << "so is this";
  EXPECT_NE(weak("sh", folder_itself, "/r"), weak("sh", unset, ""));
  EXPECT_NE(weak("sh", folder_itself, "/r"), weak("sh", another_folder, "/elsewhere"));
  EXPECT_NE(weak("rustc", folder_itself, "/r"), weak("rustc", unset, "")) << "env!(\"PWD\")";
}

TEST(WeakKey, AMovedTreeHasTheSameKey) {
  EXPECT_FALSE(changes_key([](Subject& s) {
    s.root = s.command.cwd = "/elsewhere/r2";
    s.command.argv[3] = "-I/elsewhere/r2/include";
    s.command.environment["CPATH"] = "/elsewhere/r2/inc";
  }));
  EXPECT_TRUE(changes_key([](Subject& s) { s.root = "/elsewhere"; })) << "/r is then a path like any other";
}

TEST(WeakKey, TextSaysWhatWentIn) {
  const Subject s;
  const auto text = key_of(s.command, Bindings(s.command, s.root, s.build, "a.o"), s.pwd, {}, "x86_64").text;
  EXPECT_EQ(text.argv.size(), 4u);
  EXPECT_EQ(text.argv[3], "-I\x01R\x02/include");
  EXPECT_EQ(text.cwd, "\x01R\x02");
  const std::vector<std::pair<std::string, std::string>> environment{
      {"CPATH", "\x01R\x02/inc"}, {"HOME", "(any)"}, {"PATH", "(any)"}};
  EXPECT_EQ(text.environment, environment);
  EXPECT_NE(std::find(text.others.begin(), text.others.end(), "umask=18"), text.others.end());
}

TEST(WeakKey, OfMakeflagsCountsWhatChangesAResult) {
  const auto counted = [](std::string_view value) { return counted_makeflags(value, true); };
  EXPECT_EQ(counted("kw -j8 --jobserver-auth=fifo:/tmp/x -- CFLAGS=-O3 X=1"), "-k -- CFLAGS=-O3 X=1");
  EXPECT_EQ(counted("-- X=1"), "-- X=1");
  EXPECT_EQ(counted("X=1"), "X=1") << "as a user may set it";
  EXPECT_EQ(counted("X=1 j8"), "X=1 j8") << "only the first word is letters without a dash";
  EXPECT_EQ(counted("X=a\\ -j8"), "X=a\\ -j8") << "one word";
  EXPECT_EQ(counted("s"), "-s");
  EXPECT_EQ(counted("-s"), "-s");
  EXPECT_EQ(counted("nBw"), "-nB");
  EXPECT_EQ(counted(" -I/x\\ w -j 8 -f j.mk"), "-I/x\\ w -f j.mk");
  EXPECT_EQ(counted("k --warn-undefined-variables --no-print-directory"), "-k --warn-undefined-variables");
  EXPECT_EQ(counted("w -j8 -l2.5 -l 3 -Otarget --output-sync=line --jobs 4 --jobserver-fds=3,4"), "");
  EXPECT_EQ(counted(" -j -- "), "");
  EXPECT_EQ(counted(""), "");
  EXPECT_EQ(counted("a\\"), "-a\\") << "nothing behind the backslash";
}

TEST(WeakKey, OfMakeflagsACompilerReadsNoOptions) {
  EXPECT_EQ(counted_makeflags("kw -j8 --warn-undefined-variables -- X=1", false), "-- X=1");
  EXPECT_EQ(counted_makeflags("s -j X=1", false), "X=1");
  EXPECT_FALSE(variable_changes_key("MAKEFLAGS", "w -j8 --jobserver-auth=3,4"));
  EXPECT_FALSE(variable_changes_key("MAKEFLAGS", "ks"));
  EXPECT_TRUE(variable_changes_key("MAKEFLAGS", "w -- CFLAGS=-O3"));
  EXPECT_TRUE(variable_changes_key("MAKEFLAGS", "CFLAGS=-O3"));
  const auto weak = [](const char* flags) {
    Subject s;
    s.command.argv = {"make"};
    s.command.environment["MAKEFLAGS"] = flags;
    return s.weak();
  };
  EXPECT_NE(weak("n"), weak("")) << "a dry run";
  EXPECT_NE(weak("X=1"), weak("X=2"));
  EXPECT_EQ(weak("w -j8"), weak(""));
}

TEST(Site, IsAPlaceInTheBuildWhateverTheArguments) {
  Subject s;
  const auto site = [&](const std::string& output) { return site_of(s.command, s.root, output); };
  const auto named = site("a.o");
  const auto unnamed = site("");
  s.command.argv[1] = "-O3";
  EXPECT_EQ(site("a.o"), named);
  EXPECT_EQ(site(""), unnamed);
  EXPECT_NE(site("b.o"), named);
  s.command.argv[0] = "/opt/bin/g++";
  EXPECT_EQ(site(""), unnamed) << "the same program elsewhere";
  s.command.argv.back() = "b.cpp";
  EXPECT_NE(site(""), unnamed);
  s.command.cwd = "/r/sub";
  EXPECT_NE(site("a.o"), named);
}

}  // namespace
}  // namespace hallmark::engine
