#include "inspect/ninja_manifest.h"

#include <gtest/gtest.h>

#include <set>

#include "support/fake_clock.h"
#include "support/fake_file_system.h"

namespace hallmark::inspect {
namespace {

using Words = std::vector<std::string>;

class NinjaManifestTest : public ::testing::Test {
 protected:
  NinjaManifest read(const std::string& text) {
    disk_.put("/b/build.ninja", text);
    auto manifest = NinjaManifest::read(disk_, "/b");
    EXPECT_TRUE(manifest.has_value());
    return *std::move(manifest);
  }
  std::set<std::string> outputs(const std::string& text) {
    std::set<std::string> all;
    const auto manifest = read(text);
    for (const auto& edge : manifest.edges()) all.insert(edge.outputs.begin(), edge.outputs.end());
    return all;
  }
  using Paths = std::set<std::string>;

  test::FakeClock clock_;
  test::FakeFileSystem disk_{clock_};
};

TEST_F(NinjaManifestTest, AnEdgeHasItsParts) {
  const auto manifest = read(
      "rule cc\n"
      "  command = cc -o $out $in\n"
      "# build comment/x: cc a\n"
      "build obj/b.o gen/b.h | implicit/c.h: cc b.c b2.c | dep/d.h || order/e.h |@ check/f\n"
      "build top: phony obj/b.o\n"
      "default top\n");
  ASSERT_EQ(manifest.edges().size(), 2U);
  const auto& edge = manifest.edges()[0];
  EXPECT_EQ(edge.rule, "cc");
  EXPECT_EQ(edge.outputs, (Words{"obj/b.o", "gen/b.h", "implicit/c.h"}));
  EXPECT_EQ(edge.explicit_outputs, 2U);
  EXPECT_EQ(edge.inputs, (Words{"b.c", "b2.c"}));
  EXPECT_EQ(edge.implicit_inputs, Words{"dep/d.h"});
  EXPECT_EQ(edge.order_only, Words{"order/e.h"});
  EXPECT_EQ(manifest.value(edge, "command"), "cc -o obj/b.o gen/b.h b.c b2.c");
  EXPECT_EQ(manifest.value(edge, "depfile"), "");
  EXPECT_TRUE(manifest.edges()[1].is_phony());
}

TEST_F(NinjaManifestTest, PathsAreResolvedByText) {
  EXPECT_EQ(outputs("build /abs/../x.o ../out//y.o ./z/. a/../../b: cc x.c\n"),
            (Paths{"/x.o", "../out/y.o", "z", "../b"}));
  EXPECT_EQ(ninja_path("a/.."), ".");
  EXPECT_EQ(ninja_path("/.."), "/");
}

TEST_F(NinjaManifestTest, VariablesAndEscapes) {
  EXPECT_EQ(outputs("dir = one\n"
                    "both=$dir/two\n"
                    "spaced   =   x y\n"
                    "build $dir/a.o: cc a\n"
                    "build ${both}/a.o: cc a\n"
                    "build $dir.d/a.o: cc a\n"
                    "build my$ dir/a$:b.o: cc a\n"
                    "build cost$$/a.o: cc a\n"
                    "build q/$spaced/a.o: cc a\n"
                    "build $unknown/r/a.o: cc a\n"
                    "dir = later\n"
                    "build $dir/a.o: cc a\n"),
            (Paths{"one/a.o", "one/two/a.o", "one.d/a.o", "my dir/a:b.o", "cost$/a.o", "q/x y/a.o", "/r/a.o",
                   "later/a.o"}))
      << "a value counts from its line on";
}

TEST_F(NinjaManifestTest, ContinuedLines) {
  EXPECT_EQ(outputs("build one/a.o $\n"
                    "    two/b.o$\n"
                    " | three/c.o: cc a $\n"
                    "    four/in\n"
                    "# a comment is not continued $\n"
                    "dir = fi$\n"
                    "  ve\n"
                    "build $dir/x: cc a\n"
                    "build six/a|seven/b: cc a\n"
                    "price = 5$$\n"
                    "build eight/x:cc a\n"),
            (Paths{"one/a.o", "two/b.o", "three/c.o", "five/x", "six/a", "seven/b", "eight/x"}));
}

TEST_F(NinjaManifestTest, ValuesOfRulesAreWorkedOutForEachEdge) {
  const auto manifest = read(
      "rule cc\n"
      "  command = $cc $flags -MF $depfile $in -o $out && $post\n"
      "  depfile = $out.d\n"
      "  deps = gcc\n"
      "flags = -O2\n"
      "post = :\n"
      "build a.o: cc it's$ odd.c\n"
      "  flags = -g $flags\n"
      "build b.o: cc b.c\n"
      "cc = gcc\n");
  EXPECT_EQ(manifest.value(manifest.edges()[0], "command"),
            "gcc -g -O2 -MF a.o.d 'it'\\''s odd.c' -o a.o && :")
      << "names that no edge sets are those at the end of the file";
  EXPECT_EQ(manifest.value(manifest.edges()[1], "command"), "gcc -O2 -MF b.o.d b.c -o b.o && :");
  EXPECT_EQ(manifest.value(manifest.edges()[1], "deps"), "gcc");
}

TEST_F(NinjaManifestTest, BindingsInACircleEnd) {
  const auto manifest = read("rule r\n  command = $description\n  description = x$command\nbuild a: r\n");
  EXPECT_LT(manifest.value(manifest.edges()[0], "command").size(), 100U);
}

TEST_F(NinjaManifestTest, ValuesThatGrowWithoutBoundAreCut) {
  std::string text = "a = 0123456789\n";
  for (int i = 0; i < 60; ++i) text += "a = $a$a\n";
  text += "rule r\n  x0 = y\n";
  for (int i = 1; i < 15; ++i) {
    const auto inner = "$x" + std::to_string(i - 1) + " ";
    text += "  x" + std::to_string(i) + " =";
    for (int n = 0; n < 50; ++n) text += inner;
    text += "\n";
  }
  const auto manifest = read(text + "  command = $x14\nbuild o: r\n  b = $a\n");
  EXPECT_LE(manifest.value(manifest.edges()[0], "b").size(), kNinjaValueBytes);
  EXPECT_LE(manifest.value(manifest.edges()[0], "command").size(), kNinjaValueBytes);
}

TEST_F(NinjaManifestTest, IncludesShareVariablesAndSubninjasHaveTheirOwn) {
  disk_.put("/b/sub/inc.ninja", "dir = included\nrule inner\n  command = one\n");
  disk_.put("/b/sub/own.ninja",
            "build $dir/own/x: inner a\ndir = private\nrule inner\n  command = two\nbuild $dir/x: inner a\n");
  const auto manifest = read(
      "where = sub\n"
      "include $where/inc.ninja\n"
      "subninja $where/own.ninja\n"
      "include none.ninja\n"
      "build $dir/y: inner a\n");
  ASSERT_EQ(manifest.edges().size(), 3U);
  EXPECT_EQ(manifest.edges()[1].outputs, Words{"private/x"});
  EXPECT_EQ(manifest.value(manifest.edges()[1], "command"), "two");
  EXPECT_EQ(manifest.edges()[2].outputs, Words{"included/y"});
  EXPECT_EQ(manifest.value(manifest.edges()[2], "command"), "one");
  EXPECT_EQ(manifest.files(),
            (Words{"/b/build.ninja", "/b/sub/inc.ninja", "/b/sub/own.ninja", "/b/none.ninja"}));
}

TEST_F(NinjaManifestTest, AFileThatIncludesItselfEnds) {
  EXPECT_EQ(outputs("build a/x: cc a\ninclude build.ninja\n"), Paths{"a/x"});
}

TEST_F(NinjaManifestTest, FilesThatIncludeEachOtherManyTimesEnd) {
  std::string text;
  for (int i = 0; i < 8; ++i) text += "include build.ninja\ninclude other.ninja\n";
  disk_.put("/b/other.ninja", text);
  EXPECT_LT(read(text + "build a: cc b\n").files().size(), 100U);
}

TEST_F(NinjaManifestTest, LineBreaksOfWindows) {
  const auto manifest = read("rule cc\r\n  command = gcc $\r\n    -c $in\r\nbuild a.o: cc $\r\n  b.c\r\n");
  EXPECT_EQ(manifest.value(manifest.edges().at(0), "command"), "gcc -c b.c");
}

TEST_F(NinjaManifestTest, NamesThatTheShellMustNotSee) {
  const auto manifest = read("rule cc\n  command = gcc $in\nbuild a.o: cc \xc3\xbc.c\n");
  EXPECT_EQ(manifest.value(manifest.edges().at(0), "command"), "gcc '\xc3\xbc.c'") << "as Ninja quotes it";
}

TEST_F(NinjaManifestTest, OddTextIsReadWithoutHarm) {
  EXPECT_EQ(outputs("build\nbuild \n$\n${\nbuild ${: x\nx\n= y\n  z = 1\npool p\n  depth = 1\nbuild a/b: c"),
            Paths{"a/b"});
  EXPECT_EQ(NinjaManifest::read(disk_, "/none").error().kind, ErrorKind::not_found);
}

}  // namespace
}  // namespace hallmark::inspect
