#include "manifest/parse.h"

#include <gmock/gmock.h>

#include "base/limits.h"
#include "support/fake_clock.h"
#include "support/fake_file_system.h"

namespace hallmark::manifest {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kHead = "schema = 1\n[project]\nname = \"demo\"\n";

/// What is wrong with kHead + `text`, without the file's name; lines count from the first of `text`.
std::vector<std::string> problems(const std::string& text) {
  auto parsed = parse(std::string(kHead) + text, "/p/hallmark.toml");
  std::vector<std::string> lines;
  for (auto& problem : parsed.problems) {
    problem.place.line -= problem.place.line > 3 ? 3 : 0;
    lines.push_back(rendered({problem}, "F"));
  }
  return lines;
}

Manifest parsed(const std::string& text) {
  auto found = parse(std::string(kHead) + text, "/p/hallmark.toml");
  EXPECT_THAT(rendered(found.problems, "F"), "");
  return std::move(found.manifest);
}

/// Of what wants a library.
std::string in_library(const std::string& text) {
  return "[library.k]\nsources = [\"*.c\"]\n" + text;
}

/// Of what wants a kernel, in a library with the axes `dtype` and `dim`.
std::string in_kernel(const std::string& text) {
  return "[library.k.axes]\ndtype = [\"f16\", \"f32\"]\ndim = [64, 128]\n[[library.k.kernel]]\nname = "
         "\"fwd\"\n" +
         text;
}

TEST(Parse, TheExampleOfThePage) {
  const auto manifest = parsed(R"(version = "1.2.0"

[source.cutlass]
git = "../cutlass"
commit = "0123456789ABCDEF0123456789abcdef01234567"

[toolchain.cuda]
flags = ["-O3", "--use_fast_math"]

[build]
archs = ["x86-64-v3", "sm_80", "sm_90"]

[library.fmha]
namespace = "acme::fmha"
include = ["include", "{source.cutlass}/include"]
sources = ["src/*.cpp"]
headers = ["include/acme/*.h"]
exports = ["fmha_*"]

[library.fmha.axes]
dtype = ["f32", "f16", "bf16"]
head_dim = [64, 128]
causal = [false, true]

[[library.fmha.kernel]]
name = "fwd"
source = "kernels/fwd.cu"
axes = { dtype = ["f16", "bf16"] }
skip = [{ head_dim = 128, causal = false }]
per_arch = true
)");
  EXPECT_EQ(manifest.file, "/p/hallmark.toml");
  EXPECT_EQ(manifest.root, "/p");
  EXPECT_EQ(manifest.project, "demo");
  EXPECT_EQ(manifest.version, "1.2.0");
  ASSERT_EQ(manifest.sources.size(), 1U);
  const auto& pin = std::get<GitPin>(manifest.sources[0].pin);
  EXPECT_EQ(pin.location.text, "../cutlass");
  EXPECT_EQ(pin.commit.text, "0123456789abcdef0123456789abcdef01234567");
  EXPECT_EQ(manifest.sources[0].path, ".hallmark/sources/cutlass");
  ASSERT_EQ(manifest.toolchains.size(), 1U);
  EXPECT_EQ(manifest.toolchains[0].kind, ToolchainKind::cuda);
  EXPECT_THAT(manifest.toolchains[0].flags, ElementsAre("-O3", "--use_fast_math"));
  ASSERT_EQ(manifest.libraries.size(), 1U);
  const auto& library = manifest.libraries[0];
  EXPECT_EQ(library.name_space, "acme::fmha");
  EXPECT_EQ(library.header_root, "include");
  EXPECT_EQ(library.output_name, "fmha");
  ASSERT_EQ(library.axes.size(), 3U);
  EXPECT_EQ(library.axes[0].name, "dtype");  // in the order written, not sorted
  EXPECT_EQ(library.axes[2].values[0], (Value{Value::Kind::boolean, "false"}));
  ASSERT_EQ(library.kernels.size(), 1U);
  const auto& kernel = library.kernels[0];
  EXPECT_EQ(kernel.toolchain, ToolchainKind::cuda);
  EXPECT_TRUE(kernel.per_arch);
  EXPECT_FALSE(kernel.is_template);
  EXPECT_EQ(kernel.place.line, 28U);
  ASSERT_EQ(kernel.skip.size(), 1U);
  EXPECT_EQ(kernel.skip[0].first.at("head_dim"), (std::vector<Value>{{Value::Kind::integer, "128"}}));
}

TEST(Parse, Defaults) {
  const auto manifest = parsed("[toolchain.cpu]\n" + in_library(""));
  EXPECT_EQ(manifest.version, "0");
  EXPECT_EQ(manifest.build.standard, "17");
  EXPECT_EQ(manifest.build.folder, "build/hallmark");
  EXPECT_THAT(manifest.toolchains[0].flags, ElementsAre("-O2"));
  EXPECT_EQ(manifest.libraries[0].name_space, "k");
  EXPECT_EQ(manifest.libraries[0].kind, LibraryKind::shared);
  EXPECT_THAT(parsed("[toolchain.cpu]\nflags = []\n" + in_library("")).toolchains[0].flags, IsEmpty());
  EXPECT_EQ(parsed("[library.a-b]\nsources = [\"a.c\"]\n").libraries[0].name_space, "a_b");
}

TEST(Parse, EveryKey) {
  const auto manifest = parsed(R"(
[source.a]
git = "https://example.org/a.git"
commit = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
ref = "main"
submodules = ["x", "y/z"]
patches = ["patches/*.patch"]
path = "third_party/a"
safe_directory = "process"
[[source.a.expects.struct]]
header = "a.h"
name = "args"
wrapper = "src/a.cpp"
variable = "args"
ignore = ["reserved"]
[[source.a.expects.declaration]]
header = "a.h"
text = "int f(int);"
[source.b]
archive = "https://example.org/b.tar.gz"
sha256 = "0123456789ABCDEF0123456789abcdef0123456789abcdef0123456789abcdef"
strip = 2
[source.c]
git = "c"
commit = "0123456789abcdef0123456789abcdef01234567"
submodules = true
[toolchain.cpu]
compiler = "g++"
link_flags = ["-Wl,-z,now"]
required = true
[toolchain.cuda]
host_compiler = "g++-12"
[toolchain.hip]
flags = ["-O2"]
[build]
archs = ["native", "gfx90a:xnack+", "compute_90a"]
toolchains = ["cpu", "hip"]
defines = ["A", "B=1"]
standard = 20
folder = "out"
[option.rounding]
values = [0, 2]
default = 2
define = "ROUND"
toolchains = ["hip"]
help = "How bf16 is rounded"
[profile.small]
archs = ["gfx942"]
toolchains = ["hip"]
defines = ["SMALL"]
options = { rounding = 0 }
libraries = ["k"]
axes = { dim = 64 }
namespace = { k = "small::k" }
[[codegen]]
name = "gen"
list = ["python3", "{root}/gen.py", "{list}"]
generate = ["python3", "{root}/gen.py", "{out}", "{archs}"]
outputs = ["**/*.cpp"]
environment = { A = "1" }
cwd = "{source.a}"
[library.k]
kind = "shared"
namespace = "n::m"
sources = ["src/*.cpp"]
codegen = ["gen"]
include = ["{source.a}/include"]
defines = ["C"]
headers = ["pub/*.h"]
header_root = "pub"
exports = ["n::m::*"]
soversion = 3
output_name = "kernels"
links = ["-lm", "lib/libx.a", "other"]
rpath = ["$ORIGIN/../lib"]
embed = [{ files = ["data/*.bin"], symbol = "blob_{stem}" }]
flags = { cpu = ["-a"], cuda = ["-b"], hip = ["-c"], all = ["-d"] }
axes = { dtype = ["f16", "f32"], dim = [64, 128], causal = [true, false] }
[[library.k.kernel]]
name = "fwd"
template = "fwd.hip.in"
archs = ["gfx90a:xnack+"]
per_arch = true
axes = { dtype = "f16" }
without = ["causal"]
skip = { dim = [64] }
alias = [{ when = { dim = 128 }, set = { dtype = "f32" } }]
defines = ["D=1"]
flags = ["-e"]
include = ["inc"]
memory_mb = 4096
supports = [{ dtype = "f16", when = { "head_dim.max" = 128, list = [1, 2.5, true] } }]
[library.other]
kind = "static"
sources = ["o.cpp"]
)");
  const auto& source = manifest.sources[0];
  EXPECT_EQ(source.path, "third_party/a");
  EXPECT_EQ(source.safe_directory, SafeDirectory::process);
  EXPECT_THAT(std::get<GitPin>(source.pin).submodules, ElementsAre("x", "y/z"));
  EXPECT_EQ(source.structs.at(0).variable, "args");
  EXPECT_THAT(source.structs.at(0).ignore, ElementsAre("reserved"));
  EXPECT_EQ(source.declarations.at(0).text.text, "int f(int);");
  EXPECT_EQ(std::get<ArchivePin>(manifest.sources[1].pin).strip, 2U);
  EXPECT_TRUE(std::get<GitPin>(manifest.sources[2].pin).all_submodules);
  EXPECT_EQ(manifest.toolchains[0].compiler->text, "g++");
  EXPECT_TRUE(manifest.toolchains[0].required);
  EXPECT_EQ(manifest.toolchains[1].host_compiler, "g++-12");
  EXPECT_THAT(*manifest.build.toolchains, ElementsAre(ToolchainKind::cpu, ToolchainKind::hip));
  EXPECT_EQ(manifest.build.standard, "20");
  EXPECT_EQ(manifest.options[0].chosen_by_default.text, "2");
  EXPECT_EQ(manifest.profiles[0].namespaces.at("k"), "small::k");
  EXPECT_EQ(manifest.profiles[0].options.at("rounding").text, "0");
  EXPECT_EQ(manifest.codegens[0].cwd.text, "{source.a}");
  const auto& library = manifest.libraries[0];
  EXPECT_EQ(library.soversion, "3");
  EXPECT_THAT(library.flags.hip, ElementsAre("-c"));
  const auto& kernel = library.kernels[0];
  EXPECT_TRUE(kernel.is_template);
  EXPECT_EQ(kernel.toolchain, ToolchainKind::hip);
  EXPECT_EQ(kernel.memory_mb, 4096U);
  EXPECT_EQ(kernel.supports_json, R"([{"dtype":"f16","when":{"head_dim.max":128,"list":[1,2.5,true]}}])");
  EXPECT_EQ(manifest.libraries[1].kind, LibraryKind::static_archive);
}

TEST(Parse, SyntaxAndSchema) {
  EXPECT_THAT(rendered(parse("schema = 1\nx = \n", "/p/F").problems, "F"), HasSubstr("F:2:"));
  EXPECT_EQ(rendered(parse("", "/p/F").problems, "F"),
            "F:1:1: schema is missing; write `schema = 1` first\n"
            "F:1:1: [project] is missing; it must hold the `name`");
  EXPECT_EQ(rendered(parse("schema = 2\nnew = 1\n", "/p/F").problems, "F"),
            "F:1:10: schema 2 is not known to this hallmark, which knows 1; use a newer hallmark");
  const std::string deep(100'000, '.');
  EXPECT_THAT(rendered(parse("a" + deep + " = 1\n", "/p/F").problems, "F"), HasSubstr("kManifestKeyParts"));
  std::string nested;
  for (int i = 0; i < 100'000; ++i) nested += "a.";
  EXPECT_THAT(rendered(parse(nested + "b = 1\n", "/p/F").problems, "F"), HasSubstr("kManifestKeyParts"));
}

TEST(Parse, UnknownKeysNameTheNearest) {
  EXPECT_THAT(problems("[libary.k]\n"),
              ElementsAre("F:1:2: hallmark.toml: unknown key \"libary\"; did you mean \"library\"?"));
  EXPECT_THAT(problems("[build]\narch = []\n"),
              ElementsAre("F:2:1: [build]: unknown key \"arch\"; did you mean \"archs\"?"));
  EXPECT_THAT(problems("[toolchain.cdua]\n"),
              ElementsAre("F:1:12: [toolchain]: unknown key \"cdua\"; did you mean \"cuda\"?"));
  EXPECT_THAT(problems("[toolchain.cpu]\nhost_compiler = \"x\"\n"),
              ElementsAre("F:2:1: [toolchain.cpu]: unknown key \"host_compiler\"; known are compiler, flags, "
                          "link_flags, required"));
  EXPECT_THAT(problems(in_library("expots = []\n")),
              ElementsAre("F:3:1: [library.k]: unknown key \"expots\"; did you mean \"exports\"?"));
}

TEST(Parse, WrongTypes) {
  EXPECT_THAT(problems("version = 3\n" + in_library("")),
              ElementsAre("F:1:11: [project]: version must be a text, not a whole number; write \"3\""));
  EXPECT_THAT(problems("[build]\narchs = \"sm_80\"\n"),
              ElementsAre("F:2:9: [build]: archs must be a list of texts, not a text"));
  EXPECT_THAT(problems("[build]\narchs = [\"sm_80\", 3]\n"),
              ElementsAre("F:2:19: [build]: archs must be a list of texts; this is a whole number"));
  EXPECT_THAT(problems("[build]\nstandard = \"18\"\n"),
              ElementsAre(HasSubstr("F:2:12: [build]: standard cannot be \"18\"")));
  EXPECT_THAT(problems(in_kernel("source = \"a.cu\"\nper_arch = \"yes\"\nmemory_mb = -1\n")),
              ElementsAre("F:7:12: [[library.k.kernel]]: per_arch must be true or false, not a text",
                          "F:8:13: [[library.k.kernel]]: memory_mb must be a whole number, 0 or more"));
  EXPECT_THAT(problems("[library]\nk = 1\n"),
              ElementsAre("F:2:1: library.k must be a table, not a whole number; [library.k]"));
}

TEST(Parse, Names) {
  EXPECT_THAT(rendered(parse("schema = 1\n[project]\nname = \"a b\"\n", "F").problems, "F"),
              "F:3:8: [project]: \"a b\" is no name; letters, digits, _ and -, a letter first");
  EXPECT_THAT(problems("[library.\"a/b\"]\nsources = [\"a.c\"]\n"),
              ElementsAre(HasSubstr("F:1:10: [library.a/b]")));
  EXPECT_THAT(problems(in_library("[[library.k.kernel]]\nname = \"a-b\"\nsource = \"a.c\"\n")),
              ElementsAre(HasSubstr("F:4:8: [[library.k.kernel]]: \"a-b\" is no name of a kernel")));
  EXPECT_THAT(problems(in_library("axes = { a-b = [1] }\n")),
              ElementsAre(HasSubstr("\"a-b\" is no name of an axis")));
  EXPECT_THAT(problems(in_library("namespace = \"a::\"\n")),
              ElementsAre("F:3:13: [library.k]: \"a::\" is no C++ namespace; such as acme::fmha"));
  for (const char* good : {"a", "a::b_c", "_x::__y9"})
    EXPECT_THAT(problems(in_library("namespace = \"" + std::string(good) + "\"\n")), IsEmpty()) << good;
  for (const char* bad : {"", "::a", "a:b", "a.b", "9a", "a-b"})
    EXPECT_THAT(problems(in_library("namespace = \"" + std::string(bad) + "\"\n")), ::testing::SizeIs(1))
        << bad;
  EXPECT_THAT(problems(in_library("output_name = \"../k\"\nsoversion = \"\"\n")),
              ElementsAre(HasSubstr("F:3:15:"), HasSubstr("F:4:13:")));
  EXPECT_THAT(problems(in_library("defines = [\"A B\", \"=1\", \"OK=a b\"]\n")),
              ElementsAre(HasSubstr("F:3:12: [library.k]: \"A B\" defines no macro"), HasSubstr("F:3:19:")));
}

TEST(Parse, Pins) {
  EXPECT_THAT(problems("[source.a]\n"),
              ElementsAre("F:1:1: [source.a]: one of `git` and `archive` must be there"));
  EXPECT_THAT(problems("[source.a]\ngit = \"x\"\n"), ElementsAre("F:1:1: [source.a]: commit is missing"));
  EXPECT_THAT(
      problems("[source.a]\ngit = \"x\"\ncommit = \"0123\"\n"),
      ElementsAre("F:3:10: [source.a]: \"0123\" is no whole commit; write all 40 hexadecimal digits"));
  EXPECT_THAT(problems("[source.a]\narchive = \"x\"\nsha256 = \"main\"\n"),
              ElementsAre(HasSubstr("F:3:10: [source.a]: \"main\" is no SHA-256")));
  const std::string pinned = "git = \"x\"\ncommit = \"0123456789abcdef0123456789abcdef01234567\"\n";
  EXPECT_THAT(
      problems("[source.a]\n" + pinned + "[source.b]\n" + pinned + "path = \".hallmark/sources/a/sub\"\n"),
      ElementsAre(HasSubstr("F:4:1: [source.b]: .hallmark/sources/a/sub and .hallmark/sources/a, of source "
                            "a, lie in each other")));
  EXPECT_THAT(problems("[source.a]\n" + pinned + "sha256 = \"\"\n"),
              ElementsAre(HasSubstr("unknown key \"sha256\"")));
}

TEST(Parse, Archs) {
  EXPECT_THAT(
      problems("[build]\narchs = [\"sm80\", \"sm_9\", \"avx512\"]\n"),
      ElementsAre("F:2:10: [build]: \"sm80\" is no known arch; did you mean \"sm_80\"?",
                  HasSubstr("F:2:18: [build]: \"sm_9\" is no known arch; did you mean"),
                  "F:2:26: [build]: \"avx512\" is no known arch; such as x86-64-v3, sm_90, compute_90, "
                  "gfx90a or native"));
  EXPECT_THAT(
      problems(in_kernel("source = \"a.cu\"\narchs = [\"gfx90a\", \"native\", \"sm_80\"]\n")),
      ElementsAre("F:7:10: [[library.k.kernel]]: gfx90a is an arch of hip, and cuda compiles this kernel",
                  HasSubstr("F:7:20: [[library.k.kernel]]: `native` is chosen for a whole build")));
}

TEST(Parse, ChoicesStandWhereTheyAreWrong) {
  EXPECT_THAT(
      problems(in_kernel("source = \"a.cu\"\naxes = { dtyp = \"f16\", dim = [64, 96], dtype = [] }\n")),
      ElementsAre(
          "F:7:10: [[library.k.kernel]] axes: library k has no axis \"dtyp\"; did you mean \"dtype\"?",
          "F:7:35: [[library.k.kernel]] axes: axis dim has no value 96; known are 64, 128",
          HasSubstr("F:7:48: [[library.k.kernel]] axes: dtype is an empty list")));
  EXPECT_THAT(
      problems(in_kernel("source = \"a.cu\"\naxes = { dim = \"64\" }\n")),
      ElementsAre("F:7:16: [[library.k.kernel]] axes: axis dim has no value 64; write it as the axis has it, "
                  "without quotes"));
  EXPECT_THAT(
      problems(in_kernel("source = \"a.cu\"\nwithout = [\"dim\", \"dmi\"]\nskip = [{ dim = 64 }, {}]\n")),
      ElementsAre(HasSubstr("F:7:19: [[library.k.kernel]]: library k has no axis \"dmi\""),
                  HasSubstr("F:8:11: [[library.k.kernel]] skip: the kernel is without axis dim"),
                  HasSubstr("F:8:23: [[library.k.kernel]]: skip names no axis")));
  EXPECT_THAT(problems(in_kernel(
                  "source = \"a.cu\"\nalias = [{ when = { dim = 3 }, set = { dtype = \"f8\", x = 1 } }, "
                  "{ when = { dim = 64 } }]\n")),
              ElementsAre(HasSubstr("F:7:27:"), HasSubstr("F:7:48:"), HasSubstr("F:7:54:"),
                          HasSubstr("`when` and `set` must name axes")));
  EXPECT_THAT(problems(in_library("axes = { a = [1, 1], b = [], c = [1.5] }\n")),
              ElementsAre(HasSubstr("a has the value 1 twice"), HasSubstr("b is an empty list"),
                          HasSubstr("F:3:35")));
}

TEST(Parse, ReferencesBetweenTables) {
  EXPECT_THAT(problems(in_library(
                  "codegen = [\"gne\"]\n[[codegen]]\nname = \"gen\"\ngenerate = [\"x\", \"{out}\"]\n")),
              ElementsAre("F:3:12: [library.k]: no [[codegen]] is named \"gne\"; did you mean \"gen\"?"));
  EXPECT_THAT(
      problems(in_library(
          "links = [\"m\", \"-lm\", \"k2\"]\n[library.k2]\nsources = [\"a.c\"]\nlinks = [\"k\"]\n")),
      ElementsAre(HasSubstr("F:1:1: [library.k]: links itself, through its links"),
                  "F:3:10: [library.k]: links \"m\", which is no library of this manifest; for one of the "
                  "system write -lm",
                  HasSubstr("F:4:1: [library.k2]: links itself")));
  EXPECT_THAT(problems(in_library("[library.l]\nsources = [\"a.c\"]\noutput_name = \"k\"\n")),
              ElementsAre(HasSubstr("F:3:1: [library.l]: its file is that of library k")));
  EXPECT_THAT(
      problems(in_kernel("source = \"a.cu\"\n[[library.k.kernel]]\nname = \"fwd\"\nsource = \"b.cu\"\n")),
      ElementsAre(HasSubstr("F:7:1: [library.k] kernel: a second \"fwd\"; the first is in line 7")));
  EXPECT_THAT(
      problems("[option.a]\nvalues = [1]\ndefine = \"X\"\n[option.b]\nvalues = [1]\ndefine = \"X\"\n"),
      ElementsAre("F:4:1: [option.b]: X is defined by option a, too"));
}

TEST(Parse, Profiles) {
  const auto with = [](const std::string& text) {
    return problems(in_kernel("source = \"a.cu\"\n") +
                    "[option.r]\nvalues = [\"rne\", \"rtz\"]\ndefine = \"R\"\n[profile.p]\n" + text);
  };
  EXPECT_THAT(with("libraries = [\"k\", \"kk\"]\n"),
              ElementsAre("F:11:19: [profile.p]: no library \"kk\"; did you mean \"k\"?"));
  EXPECT_THAT(with("options = { r = \"rtz\", s = 1 }\n"),
              ElementsAre(HasSubstr("F:11:24: [profile.p]: no option \"s\"; known are r")));
  EXPECT_THAT(with("options = { r = \"rtn\" }\n"),
              ElementsAre("F:11:17: [profile.p]: option r cannot be rtn; did you mean \"rtz\"?"));
  EXPECT_THAT(with("axes = { dims = 64, dim = 1 }\n"),
              ElementsAre("F:11:10: [profile.p] axes: no library has an axis \"dims\"; did you mean \"dim\"?",
                          HasSubstr("F:11:27: [profile.p] axes: axis dim has no value 1")));
  EXPECT_THAT(with("namespace = { l = \"x\", k = \"9\" }\n"),
              ElementsAre(HasSubstr("F:11:15: [profile.p]: no library \"l\""),
                          HasSubstr("F:11:28: [profile.p] namespace")));
  EXPECT_THAT(with("archs = [\"sm80\"]\n"), ElementsAre(HasSubstr("F:11:10: [profile.p]: \"sm80\"")));
}

TEST(Parse, PlaceholdersAndPaths) {
  EXPECT_THAT(
      problems(in_library("include = [\"{source.x}/include\", \"{rot}\", \"{\", \"a{{b\"]\n")),
      ElementsAre("F:3:12: \"{source.x}/include\": no source is named \"x\"; write a table [source.NAME]",
                  "F:3:34: \"{rot}\": unknown placeholder {rot}; known are {root}, {source.NAME}; write {{ "
                  "for a brace itself",
                  HasSubstr("F:3:43: \"{\": a brace is not closed")));
  EXPECT_THAT(problems("[library.k]\nsources = [\"../a.c\", \"!x/../../b.c\", \"\", \"{root}/../c.c\"]\n"),
              ElementsAre(HasSubstr("F:2:12: \"../a.c\" leaves the folder"),
                          HasSubstr("F:2:22: \"!x/../../b.c\" leaves the folder"),
                          HasSubstr("F:2:38: an empty path")));
  EXPECT_THAT(problems(in_library("flags = { all = [\"-DX={out}\"] }\n")), ElementsAre(HasSubstr("F:3:18:")));
  EXPECT_THAT(
      problems("[[codegen]]\nname = \"g\"\nlist = [\"{lst}\"]\ngenerate = [\"gen\"]\n"),
      ElementsAre(HasSubstr("F:3:9: \"{lst}\": unknown placeholder {lst}; known are {root}, {source.NAME}, "
                            "{archs}, {list}, {out}"),
                  HasSubstr("F:4:13: [[codegen]]: generate does not say {out}")));
  EXPECT_THAT(problems("[build]\nfolder = \"../out\"\n"),
              ElementsAre(HasSubstr("F:2:10: \"../out\" leaves")));
}

TEST(Parse, Kernels) {
  EXPECT_THAT(problems(in_kernel("")),
              ElementsAre("F:4:1: [[library.k.kernel]]: one of `source` and `template` must be there"));
  EXPECT_THAT(
      problems(in_kernel("source = \"a.cu\"\ntemplate = \"a.cu.in\"\n")),
      ElementsAre("F:4:1: [[library.k.kernel]]: one of `source` and `template` must be there, not both"));
  EXPECT_THAT(problems(in_kernel("source = \"a.txt\"\n")),
              ElementsAre(HasSubstr(
                  "F:6:10: [[library.k.kernel]]: no toolchain compiles \"a.txt\"; known suffixes are")));
  EXPECT_THAT(problems(in_kernel("source = \"a.txt\"\ntoolchain = \"cuda\"\n")), IsEmpty());
  EXPECT_THAT(problems("[library.k]\n"),
              ElementsAre("F:1:1: [library.k] has neither sources, codegen, kernels nor embed"));
  EXPECT_THAT(problems(in_library("kind = \"static\"\nexports = [\"a\"]\n")),
              ElementsAre(HasSubstr("F:4:1: [library.k]: exports is of shared libraries")));
}

TEST(Parse, AllProblemsButNotWithoutEnd) {
  std::string text = "[build]\n";
  for (int i = 0; i < 300; ++i) text += "key" + std::to_string(i) + " = 1\n";
  const auto found = problems(text);
  ASSERT_EQ(found.size(), limits::kManifestProblems + 1);
  EXPECT_THAT(found.back(), HasSubstr("200 more problems are not shown"));
}

class LoadTest : public ::testing::Test {
 protected:
  std::string loaded(const std::string& where, const std::string& cwd) {
    const auto manifest = load(files_, where, cwd);
    return manifest.has_value() ? manifest->file : manifest.error().message();
  }
  test::FakeClock clock_;
  test::FakeFileSystem files_{clock_};
};

TEST_F(LoadTest, FindsTheNearest) {
  files_.put("/a/hallmark.toml", kHead);
  files_.put("/a/b/c/x", "");
  files_.put("/a/b/other.toml", kHead);
  EXPECT_EQ(loaded("", "/a/b/c"), "/a/hallmark.toml");
  EXPECT_EQ(loaded("..", "/a/b"), "/a/b/../hallmark.toml");
  EXPECT_EQ(loaded("/a/", "/"), "/a/hallmark.toml");
  EXPECT_EQ(loaded(".", "/a"), "/a/hallmark.toml");
  EXPECT_EQ(loaded("b/other.toml", "/a"), "/a/b/other.toml");
  EXPECT_EQ(loaded("b", "/a"), "/a/b/hallmark.toml is not there; name the file, or the folder that holds it");
  EXPECT_EQ(loaded("none", "/a"), "/a/none: no such file or folder");
  EXPECT_EQ(loaded("", "/x/y"),
            "no hallmark.toml in /x/y or above it; go to the project's folder, or name the file");
  files_.put("/z/hallmark.toml", std::string(kHead) + "x = 1\ny = 2\n");
  EXPECT_EQ(loaded("/z", "/"),
            "/z/hallmark.toml:4:1: [project]: unknown key \"x\"; known are name, version\n"
            "/z/hallmark.toml:5:1: [project]: unknown key \"y\"; known are name, version");
}

}  // namespace
}  // namespace hallmark::manifest
