#include "manifest/expand.h"

#include <gmock/gmock.h>

#include <chrono>

#include "manifest/parse.h"
#include "manifest/sources.h"
#include "support/fake_clock.h"
#include "support/fake_file_system.h"

namespace hallmark::manifest {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

using Lines = std::vector<std::string>;

class ExpandTest : public ::testing::Test {
 protected:
  ExpandTest() {
    for (const char* path :
         {"/p/src/a.cpp", "/p/src/b.cpp", "/p/src/c.cu", "/p/k/fwd.cu", "/p/k/bwd.hip.in", "/p/k/ref.cpp"})
      files_.put(path, "");
  }

  /// Expands what follows the head. The manifest lives as long as the test.
  Expansion& expand_it(const std::string& text) {
    auto parsed = parse("schema = 1\n[project]\nname = \"demo\"\n" + text, "/p/hallmark.toml");
    EXPECT_EQ(rendered(parsed.problems, "F"), "");
    manifest_ = std::move(parsed.manifest);
    auto expanded = expand(manifest_, selection_, source_folders(manifest_), native_, files_, missing_);
    EXPECT_TRUE(expanded.has_value());
    expanded_ = std::move(*expanded);
    problems_.clear();
    for (const auto& problem : expanded_.problems) problems_.push_back(rendered({problem}, "F"));
    return expanded_.expansion;
  }
  /// "name toolchain archs" of each unit.
  static Lines units(const Expansion& expansion) {
    Lines lines;
    for (const auto& library : expansion.libraries)
      for (const auto& unit : library.units) {
        std::string line = unit.name + " " + name_of(unit.toolchain);
        for (const auto& arch : unit.archs) line += " " + arch;
        lines.push_back(line);
      }
    return lines;
  }
  static Lines not_built(const Expansion& expansion) {
    Lines lines;
    for (const auto& one : expansion.not_built)
      lines.push_back(one.library + "/" + one.kernel + " " + name_of(one.toolchain) + ": " + one.why);
    return lines;
  }
  static Lines archs(const Expansion& expansion) {
    Lines lines;
    for (const auto& arch : expansion.archs)
      lines.push_back(std::string(name_of(arch.toolchain)) + " " + arch.name);
    return lines;
  }

  test::FakeClock clock_;
  test::FakeFileSystem files_{clock_};
  Selection selection_;
  std::map<ToolchainKind, Lines> native_ = {{ToolchainKind::cpu, {"native"}}};
  MissingSources missing_ = MissingSources::are_problems;
  Manifest manifest_;
  Expanded expanded_;
  Lines problems_;
};

constexpr const char* kRich = R"([build]
archs = ["x86-64-v3", "sm_80", "sm_90", "gfx90a:xnack+"]
[library.k]
sources = ["src/*.cpp", "!src/b.cpp", "src/c.cu"]
[library.k.axes]
dtype = ["f32", "f16"]
scale = [-1, 1]
causal = [false, true]
[[library.k.kernel]]
name = "fwd"
source = "k/fwd.cu"
axes = { dtype = "f16" }
skip = [{ scale = 1, causal = true }]
per_arch = true
[[library.k.kernel]]
name = "bwd"
template = "k/bwd.hip.in"
without = ["scale"]
alias = [{ when = { causal = true }, set = { dtype = "f32" } }]
[[library.k.kernel]]
name = "ref"
source = "k/ref.cpp"
without = ["dtype", "scale", "causal"]
)";

TEST_F(ExpandTest, Golden) {
  const auto& expansion = expand_it(kRich);
  EXPECT_THAT(problems_, IsEmpty());
  EXPECT_THAT(
      units(expansion),
      ElementsAre("src/a.cpp cpu x86-64-v3", "src/c.cu cuda sm_80 sm_90", "fwd_f16_m1_false_sm_80 cuda sm_80",
                  "fwd_f16_m1_false_sm_90 cuda sm_90", "fwd_f16_m1_true_sm_80 cuda sm_80",
                  "fwd_f16_m1_true_sm_90 cuda sm_90", "fwd_f16_1_false_sm_80 cuda sm_80",
                  "fwd_f16_1_false_sm_90 cuda sm_90", "bwd_f32_false hip gfx90a:xnack+",
                  "bwd_f32_true hip gfx90a:xnack+", "bwd_f16_false hip gfx90a:xnack+", "ref cpu x86-64-v3"));
  EXPECT_THAT(not_built(expansion), IsEmpty());
  EXPECT_THAT(expansion.toolchains, ElementsAre(ToolchainKind::cpu, ToolchainKind::cuda, ToolchainKind::hip));
  EXPECT_EQ(expansion.archs_origin, Origin::manifest);
  EXPECT_EQ(expansion.folder, "/p/build/hallmark");
  EXPECT_THAT(expansion.listed_folders, ElementsAre("/p/src"));
  const auto& fwd = expansion.libraries[0].units[2];
  EXPECT_EQ(fwd.file, "/p/k/fwd.cu");
  EXPECT_EQ(fwd.axes[1], (std::pair<std::string, Value>("scale", {Value::Kind::integer, "-1"})));
}

TEST_F(ExpandTest, EqualExpansionsForEqualQuestions) {
  const auto first = units(expand_it(kRich));
  EXPECT_EQ(first, units(expand_it(kRich)));
}

TEST_F(ExpandTest, WhoDecidesTheArchs) {
  const std::string with_archs =
      "[build]\narchs = [\"sm_80\"]\n[profile.p]\narchs = [\"sm_90\"]\n[profile.q]\n"
      "[library.k]\nsources = [\"src/a.cpp\"]\n";
  const std::string without = "[library.k]\nsources = [\"src/a.cpp\"]\n";
  selection_.environment_archs = "sm_75,,gfx942";
  EXPECT_THAT(archs(expand_it(with_archs)), ElementsAre("cuda sm_80"));
  EXPECT_EQ(expanded_.expansion.archs_origin, Origin::manifest);
  EXPECT_THAT(archs(expand_it(without)), ElementsAre("cuda sm_75", "hip gfx942"));
  EXPECT_EQ(expanded_.expansion.archs_origin, Origin::environment);
  selection_.profile = "p";
  EXPECT_THAT(archs(expand_it(with_archs)), ElementsAre("cuda sm_90"));
  EXPECT_EQ(expanded_.expansion.archs_origin, Origin::profile);
  selection_.profile = "q";
  EXPECT_THAT(archs(expand_it(with_archs)), ElementsAre("cuda sm_80"));
  selection_.archs = {"sm_100a", "sm_100a", "compute_90"};
  EXPECT_THAT(archs(expand_it(with_archs)), ElementsAre("cuda sm_100a", "cuda compute_90"));
  EXPECT_EQ(expanded_.expansion.archs_origin, Origin::command_line);
  selection_ = {};
  native_ = {{ToolchainKind::cpu, {"native"}}, {ToolchainKind::cuda, {"sm_90"}}};
  EXPECT_THAT(archs(expand_it(without)), ElementsAre("cpu native", "cuda sm_90"));
  EXPECT_EQ(expanded_.expansion.archs_origin, Origin::machine);
  selection_.archs = {"sm90"};
  expand_it(without);
  EXPECT_THAT(problems_, ElementsAre("F: --arch: \"sm90\" is no known arch; did you mean \"sm_90\"?"));
  selection_ = {};
  selection_.environment_archs = "sm90";
  expand_it(without);
  EXPECT_THAT(problems_, ElementsAre(StartsWith("F: HALLMARK_ARCHS: \"sm90\"")));
}

TEST_F(ExpandTest, NothingIsDroppedSilently) {
  selection_.archs = {"native"};
  EXPECT_THAT(not_built(expand_it(kRich)),
              ElementsAre("k/sources cuda: this machine has no cuda device that says what is native here",
                          "k/fwd cuda: this machine has no cuda device that says what is native here",
                          "k/bwd hip: this machine has no hip device that says what is native here"));
  EXPECT_THAT(units(expanded_.expansion), ElementsAre("src/a.cpp cpu native", "ref cpu native"));
  selection_.archs = {"sm_80"};
  EXPECT_THAT(not_built(expand_it(kRich)), ElementsAre("k/bwd hip: no arch of hip is among those asked for"));
  EXPECT_THAT(units(expanded_.expansion), ::testing::Contains("ref cpu")) << "cpu has an arch of its own";
  const std::string kernel =
      "[library.k]\naxes = { a = [1, 2] }\n[[library.k.kernel]]\nname = \"fwd\"\nsource = \"k/fwd.cu\"\n";
  EXPECT_THAT(not_built(expand_it(kernel + "archs = [\"sm_90\"]\n")),
              ElementsAre("k/fwd cuda: none of its archs is among those asked for"));
  EXPECT_THAT(not_built(expand_it(kernel + "skip = [{ a = [1, 2] }]\n")),
              ElementsAre("k/fwd cuda: `skip` and the profile leave no variant of it"));
  EXPECT_THAT(not_built(expand_it("[build]\ntoolchains = [\"cpu\"]\n" + kernel)),
              ElementsAre("k/fwd cuda: toolchain cuda is not chosen"));
}

TEST_F(ExpandTest, PatternsThatMatchNothing) {
  expand_it(
      "[library.k]\nsources = [\"src/*.cpp\", \"scr/*.cpp\", \"!src/z.cpp\"]\nheaders = [\"inc/*.h\"]\n"
      "[[library.k.kernel]]\nname = \"x\"\nsource = \"k/none.cu\"\n");
  EXPECT_THAT(problems_, ElementsAre("F:5:25: \"scr/*.cpp\" matches no file; looked in /p/scr",
                                     "F:5:38: \"!src/z.cpp\" takes nothing away",
                                     "F:6:12: \"inc/*.h\" matches no file; looked in /p/inc",
                                     "F:9:10: \"k/none.cu\" matches no file; looked in /p/k"));
  expand_it(
      "[library.k]\nsources = [\"src/*\"]\n[[library.k.kernel]]\nname = \"x\"\nsource = \"k/*\"\ntoolchain = "
      "\"cuda\"\n");
  EXPECT_THAT(problems_, ElementsAre(HasSubstr("it must be one")));
}

TEST_F(ExpandTest, SourcesThatAreNotCheckedOut) {
  const std::string text =
      "[source.s]\ngit = \"x\"\ncommit = \"0123456789abcdef0123456789abcdef01234567\"\n"
      "[library.k]\nsources = [\"src/a.cpp\", \"{source.s}/*.cpp\"]\ninclude = [\"{source.s}/include\"]\n"
      "[[library.k.kernel]]\nname = \"x\"\nsource = \"{source.s}/x.cpp\"\n";
  expand_it(text);
  EXPECT_EQ(problems_.size(), 2U);
  missing_ = MissingSources::are_awaited;
  const auto& expansion = expand_it(text);
  EXPECT_THAT(problems_, IsEmpty());
  EXPECT_THAT(not_built(expansion), ElementsAre("k/x cpu: its file is not there"));
  EXPECT_THAT(expansion.libraries[0].include, ElementsAre("/p/.hallmark/sources/s/include"));
  files_.put("/p/.hallmark/sources/s/y.cpp", "");
  expand_it(text);
  EXPECT_THAT(problems_, ElementsAre(HasSubstr("x.cpp\" matches no file")));
}

TEST_F(ExpandTest, TwoOfOneName) {
  expand_it(
      "[library.k]\naxes = { a = [\"x-1\", \"x.1\"] }\n[[library.k.kernel]]\nname = \"f\"\nsource = "
      "\"k/ref.cpp\"\n");
  EXPECT_THAT(problems_, ElementsAre(StartsWith("F:6:1: [library.k]: two units are named f_x_1")));
  files_.put("/p/one/x.bin", "");
  files_.put("/p/two/x.bin", "");
  expand_it("[library.k]\nembed = [{ files = [\"one/*\", \"two/*\"], symbol = \"b_{stem}\" }]\n");
  EXPECT_THAT(problems_,
              ElementsAre(HasSubstr("/p/one/x.bin and /p/two/x.bin would both be embedded as b_x")));
  files_.put("/p/i1/a/x.h", "");
  files_.put("/p/i2/a/x.h", "");
  const std::string header =
      "[library.k]\nsources = [\"src/a.cpp\"]\nheaders = [\"i1/a/x.h\"]\nheader_root = \"i1\"\n"
      "[library.l]\nsources = [\"src/a.cpp\"]\nheaders = [\"i2/a/x.h\"]\nheader_root = \"i2\"\n";
  expand_it(header);
  EXPECT_THAT(problems_, ElementsAre(HasSubstr("would both be installed as include/a/x.h")));
  EXPECT_EQ(expanded_.expansion.libraries[0].headers[0].installed, "a/x.h");
  expand_it("[library.k]\nsources = [\"src/a.cpp\"]\nheaders = [\"i1/a/x.h\"]\n");
  EXPECT_THAT(problems_, ElementsAre(HasSubstr("does not lie below header_root")));
}

TEST_F(ExpandTest, OptionsAndTheirOrigin) {
  const std::string text =
      "[option.r]\nvalues = [\"rne\", \"rtz\"]\ndefine = \"R\"\n[option.fast]\nvalues = [true, false]\n"
      "default = false\ndefine = \"F\"\n[profile.p]\noptions = { r = \"rtz\" }\ndefines = [\"P\"]\n"
      "[build]\ndefines = [\"B\"]\n[library.k]\nsources = [\"src/a.cpp\"]\n";
  const auto shown = [this](const Expansion& expansion) {
    Lines lines;
    for (const auto& option : expansion.options)
      lines.push_back(option.name + "=" + option.value.text + " " + name_of(option.origin));
    return lines;
  };
  EXPECT_THAT(shown(expand_it(text)), ElementsAre("r=rne built-in", "fast=false built-in"));
  selection_.profile = "p";
  selection_.options = {{"fast", "true"}};
  EXPECT_THAT(shown(expand_it(text)), ElementsAre("r=rtz profile", "fast=true command line"));
  EXPECT_THAT(expanded_.expansion.defines, ElementsAre("B", "P"));
  EXPECT_EQ(expanded_.expansion.folder, "/p/build/hallmark-p");
  EXPECT_EQ(expanded_.expansion.options[1].value.kind, Value::Kind::boolean);
  selection_.options = {{"fst", "true"}, {"r", "rtn"}};
  expand_it(text);
  EXPECT_THAT(problems_, ElementsAre("F: no option \"fst\"; did you mean \"fast\"?",
                                     "F: option r cannot be \"rtn\"; did you mean \"rtz\"?"));
  selection_ = {};
  selection_.profile = "q";
  expand_it(text);
  EXPECT_THAT(problems_, ElementsAre("F: no profile \"q\"; known are p"));
}

TEST_F(ExpandTest, ProfilesNarrowVariants) {
  selection_.profile = "p";
  const auto& expansion =
      expand_it(std::string(kRich) +
                "[profile.p]\naxes = { dtype = \"f16\", causal = false }\nnamespace = { k = \"p::k\" }\n");
  EXPECT_THAT(units(expansion), ::testing::Contains("fwd_f16_m1_false_sm_80 cuda sm_80"));
  EXPECT_THAT(units(expansion), ::testing::Contains("bwd_f16_false hip gfx90a:xnack+"));
  EXPECT_THAT(units(expansion), ::testing::Contains("ref cpu x86-64-v3")) << "it has no such axis";
  EXPECT_EQ(units(expansion).size(), 8U);
  EXPECT_EQ(expansion.libraries[0].name_space, "p::k");
}

TEST_F(ExpandTest, LibrariesAndWhatTheyLink) {
  const std::string text =
      "[library.a]\nsources = [\"src/a.cpp\"]\nlinks = [\"b\"]\n[library.b]\nsources = [\"src/b.cpp\"]\n"
      "[library.c]\nsources = [\"src/a.cpp\"]\n[profile.p]\nlibraries = [\"c\"]\n";
  const auto names = [](const Expansion& expansion) {
    Lines lines;
    for (const auto& library : expansion.libraries) lines.push_back(library.library->name);
    return lines;
  };
  EXPECT_THAT(names(expand_it(text)), ElementsAre("b", "a", "c")) << "each behind what it links";
  selection_.profile = "p";
  EXPECT_THAT(names(expand_it(text)), ElementsAre("c"));
  selection_.libraries = {"a"};
  EXPECT_THAT(names(expand_it(text)), ElementsAre("b", "a"));
  selection_.libraries = {"d"};
  expand_it(text);
  EXPECT_THAT(problems_, ElementsAre("F: no library \"d\"; known are a, b, c"));
}

TEST_F(ExpandTest, ManyVariantsQuickly) {
  const auto begin = std::chrono::steady_clock::now();
  const auto& expansion = expand_it(R"([build]
archs = ["sm_80", "sm_90"]
[library.k.axes]
a = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]
b = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]
c = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
d = [false, true]
e = ["f16", "bf16", "f32"]
[[library.k.kernel]]
name = "fwd"
source = "k/fwd.cu"
skip = [{ a = 15, b = 15 }]
per_arch = true
)");
  const auto took_ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin);
  EXPECT_EQ(units(expansion).size(), std::size_t{(16 * 16 - 1) * 11 * 2 * 3 * 2});
  RecordProperty("took_ms", static_cast<int>(took_ms.count()));
  EXPECT_LT(took_ms.count(), 3000) << "33,660 units; 0.1 s on the machine of docs/benchmarks.md";
}

TEST_F(ExpandTest, TooManyVariants) {
  std::string text = "[library.k.axes]\n";
  for (char axis = 'a'; axis < 'h'; ++axis)
    text += std::string(1, axis) + " = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]\n";
  expand_it(text + "[[library.k.kernel]]\nname = \"x\"\nsource = \"k/ref.cpp\"\n");
  EXPECT_THAT(problems_,
              ElementsAre(HasSubstr("the axes of kernel x have more than 1000000 points (kVariants)")));
}

TEST_F(ExpandTest, ResolvedSources) {
  files_.put("/p/patches/2.patch", "");
  files_.put("/p/patches/1.patch", "");
  files_.put("/p/first.patch", "");
  auto parsed = parse(R"(schema = 1
[project]
name = "demo"
[source.a]
git = "../a"
commit = "0123456789abcdef0123456789abcdef01234567"
patches = ["first.patch", "patches/*.patch", "none/*.patch"]
[[source.a.expects.struct]]
header = "a.h"
name = "args"
wrapper = "src/a.cpp"
[source.b]
archive = "https://example.org/b.tar.gz"
sha256 = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
path = "b"
[source.c]
git = "git@example.org:c.git"
commit = "0123456789abcdef0123456789abcdef01234567"
submodules = true
)",
                      "/p/hallmark.toml");
  ASSERT_EQ(rendered(parsed.problems, "F"), "");
  const auto resolved = resolve_sources(parsed.manifest, files_);
  ASSERT_TRUE(resolved.has_value());
  EXPECT_EQ(rendered(resolved->problems, "F"), "F:7:46: \"none/*.patch\" matches no file; looked in /p/none");
  ASSERT_EQ(resolved->sources.size(), 3U);
  const auto& a = resolved->sources[0];
  const auto& pin = std::get<model::GitPin>(a.pin);
  EXPECT_EQ(pin.url, "/p/../a");
  EXPECT_THAT(pin.patches, ElementsAre("/p/first.patch", "/p/patches/1.patch", "/p/patches/2.patch"));
  EXPECT_EQ(a.folder, "/p/.hallmark/sources/a");
  EXPECT_EQ(a.place, "hallmark.toml:4");
  ASSERT_EQ(a.fields.size(), 1U);
  EXPECT_EQ(a.fields[0].wrapper, "/p/src/a.cpp");
  EXPECT_EQ(std::get<model::ArchivePin>(resolved->sources[1].pin).url, "https://example.org/b.tar.gz");
  EXPECT_EQ(resolved->sources[1].folder, "/p/b");
  const auto& c = std::get<model::GitPin>(resolved->sources[2].pin);
  EXPECT_EQ(c.url, "git@example.org:c.git");
  EXPECT_EQ(c.submodules, model::Submodules::all);
}

TEST(FilledIn, PlaceholdersAndBraces) {
  Manifest manifest;
  manifest.root = "/p";
  const std::map<std::string, std::string> sources = {{"s", "/s"}};
  const auto filled = [&](std::string_view text) {
    const auto made = filled_in(text, manifest, sources, {{"out", "/o"}});
    return made.has_value() ? *made : made.error().message();
  };
  EXPECT_EQ(filled("{root}/a:{source.s}:{out}"), "/p/a:/s:/o");
  EXPECT_EQ(filled("{{out}} }"), "{out} }");
  EXPECT_EQ(filled("{source.t}"), "\"{source.t}\": no source is named \"t\"; known are s");
  EXPECT_THAT(filled("{list}"),
              HasSubstr("unknown placeholder {list}; known are {root}, {source.NAME}, {out}"));
  EXPECT_EQ(filled(as_literal("{root} a}} {{b")), "{root} a}} {{b");
}

}  // namespace
}  // namespace hallmark::manifest
