#include "engine/kinds.h"

#include <gtest/gtest.h>

#include <map>

namespace hallmark::engine {
namespace {

using Words = std::vector<std::string>;

Arguments read(Words words) {
  words.insert(words.begin(), "g++");
  return read_arguments(words);
}

TEST(Kinds, ProgramsAreKnownByTheirLastComponent) {
  for (const char* name :
       {"gcc", "/usr/bin/g++", "nvcc", "hipcc", "clang++", "cc1plus", "ptxas", "rustc", "gfortran", "icpx"})
    EXPECT_EQ(kind_of_program(name), ProgramKind::compiler) << name;
  for (const char* name : {"ld", "/opt/x/ld.lld", "mold", "nvlink", "collect2"})
    EXPECT_EQ(kind_of_program(name), ProgramKind::linker) << name;
  for (const char* name : {"as", "nasm", "objcopy", "fatbinary", "clang-offload-bundler", "llvm-objcopy"})
    EXPECT_EQ(kind_of_program(name), ProgramKind::assembler) << name;
  for (const char* name : {"sccache", "/usr/bin/distcc", "icecc", "gomacc"})
    EXPECT_EQ(kind_of_program(name), ProgramKind::peer_remote) << name;
  EXPECT_EQ(kind_of_program("/usr/lib/ccache"), ProgramKind::peer_cache);
  for (const char* name : {"python3", "sh", "make", "mygcc", "gccx", "", "/", "g++/", "cmake", "xas", "-as"})
    EXPECT_EQ(kind_of_program(name), ProgramKind::other) << name;
}

TEST(Kinds, VersionsTargetsAndSuffixesAreLookedThrough) {
  for (const char* name : {"g++-12", "clang-14.0", "gcc-13.2.1", "aarch64-linux-gnu-gcc",
                           "x86_64-linux-gnu-g++-12", "nvcc.exe", "gcc-12.exe", "x86_64-w64-mingw32-clang++"})
    EXPECT_EQ(kind_of_program(name), ProgramKind::compiler) << name;
  EXPECT_EQ(kind_of_program("arm-none-eabi-ld.bfd"), ProgramKind::linker);
  EXPECT_EQ(kind_of_program("riscv64-linux-gnu-as"), ProgramKind::assembler);
  EXPECT_EQ(kind_of_program("clang-offload-bundler-17"), ProgramKind::assembler);
  for (const char* name :
       {"gcc-", "gcc-12x", "gcc-ar", "gcc-nm-12", "clang-format", "clang-tidy-14", "my-gcc", "x-y-xgcc"})
    EXPECT_EQ(kind_of_program(name), ProgramKind::other) << name;
}

TEST(Kinds, AnUnknownTargetIsWatchedLikeATool) {
  // Its sources may name the clock; and it gets no exemption.
  for (const char* name : {"hexagon-unknown-linux-musl-clang", "my-run-cc"}) {
    EXPECT_TRUE(reads_c_sources(name)) << name;
    EXPECT_FALSE(is_tool_name(name)) << name;
  }
  for (const char* name : {"my-run-opt", "a-b-as", "build-my-ld", "python3", "ccache"})
    EXPECT_FALSE(is_tool_name(name)) << name;
  for (const char* name : {"gcc", "/usr/bin/g++-12", "aarch64-linux-gnu-gcc", "arm-none-eabi-ld.bfd",
                           "clang-offload-bundler-17", "amdgcn-amd-amdhsa-clang"})
    EXPECT_TRUE(is_tool_name(name)) << name;
}

TEST(Kinds, AScriptIsNoKnownToolWhateverItsName) {
  const auto known = [](const char* name, bool script) {
    model::Command command;
    command.argv = {name, "-c", "a.c"};
    command.script = script;
    EXPECT_EQ(shows_any_variable(command), !is_known_tool(command)) << name;
    return is_known_tool(command);
  };
  for (const char* name : {"gcc", "/opt/wrappers/nvcc", "ld", "as"}) {
    EXPECT_TRUE(known(name, false)) << name;
    EXPECT_FALSE(known(name, true)) << name;
  }
  EXPECT_TRUE(known("/opt/rocm/bin/hipcc", true)) << "it comes with the toolkit";
  for (const char* name : {"python3", "ccache", "sccache"}) EXPECT_FALSE(known(name, false)) << name;
}

TEST(Kinds, WhoLooksForExistenceAlone) {
  const auto looks = [](std::vector<std::string> argv, bool script = false) {
    model::Command command;
    command.argv = std::move(argv);
    command.script = script;
    return looks_for_existence_alone(command);
  };
  EXPECT_TRUE(looks({"g++", "-c", "a.cpp"}));
  EXPECT_TRUE(looks({"/opt/h/libexec/hallmark-full", "write-files", "--into", "x"}));
  EXPECT_TRUE(looks({"/opt/h/libexec/hallmark-full", "copy-files", "a"}));
  EXPECT_FALSE(looks({"/opt/h/libexec/hallmark-full", "cache", "stats"}));
  EXPECT_FALSE(looks({"/opt/h/libexec/hallmark-full"}));
  EXPECT_FALSE(looks({"hallmark-full", "copy-files"}, true));
  EXPECT_FALSE(looks({"python3", "write-files"}));
}

TEST(Kinds, SpecialPrograms) {
  EXPECT_TRUE(reads_c_sources("/usr/bin/x86_64-linux-gnu-g++-12"));
  EXPECT_FALSE(reads_c_sources("ld"));
  for (const char* name : {"make", "/usr/bin/ninja", "cmake", "tar", "install", "cp", "rsync"})
    EXPECT_TRUE(reads_timestamps(name)) << name;
  for (const char* name : {"gcc", "sh", "cpx"}) EXPECT_FALSE(reads_timestamps(name)) << name;
  EXPECT_TRUE(is_oracle("/bin/date"));
  EXPECT_TRUE(is_oracle("uuidgen"));
  EXPECT_FALSE(is_oracle("update"));
  EXPECT_TRUE(tells_host("/usr/bin/uname"));
  EXPECT_TRUE(tells_host("nproc"));
  EXPECT_FALSE(tells_host("date"));
}

TEST(Kinds, NvccsTemporariesAreKnownByTheirProcessNumber) {
  EXPECT_TRUE(is_nvcc_temporary("tmpxft_0000a5d3_00000000-6_k.cpp1.ii"));
  EXPECT_TRUE(is_nvcc_temporary("tmpxft_0000A5D3_x"));
  for (const char* name :
       {"tmpxft_", "tmpxft_0000a5d3", "tmpxft_0000a5d_x", "tmpxft_0000a5g3_x", "x_tmpxft_0000a5d3_x", ""})
    EXPECT_FALSE(is_nvcc_temporary(name)) << name;
}

TEST(Kinds, OnlyWordsThatNameADescriptorNeedOne) {
  EXPECT_TRUE(leaves_descriptors_alone({"g++", "-c", "a.cpp"}));
  EXPECT_FALSE(leaves_descriptors_alone({"g++", "-c", "/dev/fd/5"}));
  EXPECT_FALSE(leaves_descriptors_alone({"g++", "-c", "-include", "/proc/self/fd/5"}));
  EXPECT_FALSE(leaves_descriptors_alone({"python3", "gen.py"})) << "nobody knows what it reads";
}

TEST(Kinds, OutputsOfTheKnownSpellings) {
  EXPECT_EQ(read({"-c", "a.cpp", "-o", "a.o"}).output, "a.o");
  EXPECT_EQ(read({"-c", "a.cpp", "-oa.o"}).output, "a.o");
  EXPECT_EQ(read({"--output", "a.o"}).output, "a.o");
  EXPECT_EQ(read({"--output-file", "a.o"}).output, "a.o");
  EXPECT_EQ(read({"--output=a.o"}).output, "a.o");
  EXPECT_EQ(read({"--output-file=a=b.o"}).output, "a=b.o");
  EXPECT_EQ(read({"-o", "a.o", "-o", "b.o"}).output, "b.o") << "the last one counts";
  EXPECT_EQ(read({"-openmp", "-optf", "x", "-c", "a.cpp"}).output, "");
  EXPECT_EQ(read({"a.cpp", "-o"}).output, "") << "nothing follows";
  EXPECT_EQ(read({"-D", "-o", "-c", "a.cpp"}).output, "") << "the value of -D";
}

TEST(Kinds, SourcesAreTheWordsThatAreNeitherOptionNorValue) {
  EXPECT_EQ(read({"-I", "inc", "-c", "a.cpp", "-Xcompiler", "-fPIC", "b.cpp", "-o", "a.o", "-gencode", "x"})
                .sources,
            (Words{"a.cpp", "b.cpp"}));
}

/// "path", " phony" behind it if -MP was given; "none".
std::string depfile(const Words& words) {
  const auto found = read(words);
  if (!found.depfile) return "none";
  return found.depfile->path + (found.depfile->phony_targets ? " phony" : "");
}

TEST(Kinds, DepfilesOfTheKnownSpellings) {
  EXPECT_EQ(depfile({"-c", "a.cpp"}), "none");
  EXPECT_EQ(depfile({"-MP"}), "none") << "it only goes with another";
  EXPECT_EQ(depfile({"-MD"}), "");
  EXPECT_EQ(depfile({"-MMD", "-MP"}), " phony");
  EXPECT_EQ(depfile({"-MP", "-MD", "-MF", "a.d"}), "a.d phony");
  EXPECT_EQ(depfile({"-MD", "-MFa.d"}), "a.d");
  EXPECT_EQ(depfile({"-MD", "-MT", "a.o", "-MF", "a.d"}), "a.d");
  EXPECT_EQ(depfile({"--dependency-output=a.d"}), "a.d");
  EXPECT_EQ(depfile({"--dependency-output", "a.d"}), "a.d");
  for (const char* word : {"--generate-dependencies-with-compile", "--write-dependencies",
                           "--generate-nonsystem-dependencies-with-compile", "--write-user-dependencies"})
    EXPECT_EQ(depfile({word}), "") << word;
  EXPECT_EQ(depfile({"--write-dependencies", "--generate-dependency-targets"}), " phony");
  EXPECT_EQ(depfile({"-Wp,-MD,a.d"}), "a.d");
  EXPECT_EQ(depfile({"-Wp,-MMD,a.d,-MP"}), "a.d phony");
  EXPECT_EQ(depfile({"-Wp,-DX,-MF,a.d"}), "a.d");
  EXPECT_EQ(depfile({"-Wp,-DX"}), "none");
  EXPECT_EQ(depfile({"-Wp,-MD,a.d", "-MF", "b.d"}), "b.d");
}

TEST(Kinds, NativeIsFoundInEverySpelling) {
  for (const Words& words : std::vector<Words>{{"-march=native"},
                                               {"-mtune=native"},
                                               {"-mcpu=native+crypto"},
                                               {"-arch=native"},
                                               {"-arch", "native"},
                                               {"--gpu-architecture", "native"},
                                               {"--offload-arch=native"},
                                               {"-Xcompiler", "-march=native"},
                                               {"-Xcompiler=-march=native"},
                                               {"-Xcompiler=-O3,-march=native"},
                                               {"-Xcompiler=-march=native,-O3"},
                                               {"-Xcompiler", "-march=native,-O3"},
                                               {"-Xcompiler", "-march=native -O3"},
                                               {"-Xcompiler=\"-march=native\""},
                                               {"-Xclang", "-target-cpu", "-Xclang", "native"},
                                               {"-Ctarget-cpu=native"},
                                               {"-C", "target-cpu=native"},
                                               {"-Wa,-march=native"},
                                               {"-xHost"}})
    EXPECT_TRUE(read(words).native_machine) << testing::PrintToString(words);
  for (const Words& words : std::vector<Words>{{"-march=x86-64"},
                                               {"-DMODE=natively"},
                                               {"-DX=alternative"},
                                               {"-DX=native2"},
                                               {"native.cpp"},
                                               {"-Inative"},
                                               {"-fnative"}})
    EXPECT_FALSE(read(words).native_machine) << testing::PrintToString(words);
}

TEST(Kinds, ResponseFilesAreSplitAsCompilersDo) {
  EXPECT_EQ(split_response_file("-c a.cpp\n -o\ta.o\r\n"), (Words{"-c", "a.cpp", "-o", "a.o"}));
  EXPECT_EQ(split_response_file(R"("a b" 'c d' e\ f "g\"h" 'i\j' "")"),
            (Words{"a b", "c d", "e f", "g\"h", "i\\j", ""}));
  EXPECT_EQ(split_response_file(R"(-DX="a b"c)"), Words{"-DX=a bc"});
  EXPECT_EQ(split_response_file("\"open"), Words{"open"});
  EXPECT_EQ(split_response_file("end\\"), Words{"end\\"});
  EXPECT_TRUE(split_response_file(" \n ").empty());
}

Words expanded(const Words& argv, const std::map<std::string, std::string>& texts) {
  return expand_response_files(argv, [&](const std::string& name) {
    const auto text = texts.find(name);
    return text == texts.end() ? std::nullopt : std::optional(text->second);
  });
}

TEST(Kinds, ResponseFilesAreExpandedInTheirPlace) {
  EXPECT_EQ(expanded({"g++", "@a", "x"}, {{"a", "-c k.cpp"}}), (Words{"g++", "-c", "k.cpp", "x"}));
  EXPECT_EQ(expanded({"g++", "@a"}, {{"a", "1 @b 4"}, {"b", "2 3"}}), (Words{"g++", "1", "2", "3", "4"}));
  EXPECT_EQ(expanded({"g++", "@none", "@"}, {}), (Words{"g++", "@none", "@"}));
  for (const Words& words :
       std::vector<Words>{{"-optf", "a"}, {"--options-file", "a"}, {"-optf=a"}, {"--options-file=a"}})
    EXPECT_EQ(expanded(words, {{"a", "-arch native"}}), (Words{"-arch", "native"}));
  EXPECT_EQ(expanded({"-optf", "none"}, {}), (Words{"-optf", "none"}));
  EXPECT_EQ(expanded({"x", "-optf"}, {}), (Words{"x", "-optf"}));
}

TEST(Kinds, AResponseFileThatNamesItselfEnds) {
  const auto words = expanded({"@a"}, {{"a", "x @a"}});
  EXPECT_EQ(words.back(), "@a");
  EXPECT_LT(words.size(), 20u);
}

}  // namespace
}  // namespace hallmark::engine
