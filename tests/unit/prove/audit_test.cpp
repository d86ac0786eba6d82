#include "prove/audit.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/fake_clock.h"
#include "support/fake_file_system.h"

namespace hallmark::prove {
namespace {

using Lines = std::vector<std::string>;

class AuditTest : public ::testing::Test {
 protected:
  AuditTest() {
    for (const char* path :
         {"/r/a.cu", "/r/b.cu", "/r/k.h", "/r/gen.py", "/usr/include/x.h", "/opt/cutlass/c.h"})
      disk_.put(path, "");
    disk_.put("/r/b/CMakeCache.txt", "# x\nCMAKE_HOME_DIRECTORY:INTERNAL=/r\n");
    manifest(kManifest);
  }

  static constexpr const char* kManifest =
      "rule cc\n"
      "  command = nvcc -MF $out.d -c $in -o $out\n"
      "  depfile = $out.d\n"
      "rule run\n"
      "  command = python3 ../gen.py\n"
      "rule again\n"
      "  command = cmake\n"
      "  generator = 1\n"
      "build a.o: cc ../a.cu\n"
      "build b.o: cc ../b.cu\n"
      "build table.inc: run | ../list.txt\n"
      "build all: phony a.o b.o\n"
      "build build.ninja: again ../CMakeLists.txt\n";

  void manifest(const std::string& text) { disk_.put("/r/b/build.ninja", text); }

  /// What the edge of an output reads and writes; others are not known.
  void reads(const std::string& output, std::vector<std::string> read,
             std::vector<std::string> written = {}) {
    known_[output] = {Testimony::record, std::move(read), std::move(written)};
  }

  Audit audited() {
    const auto graph = BuildGraph::read(disk_, "/r/b");
    EXPECT_TRUE(graph.has_value());
    std::vector<std::optional<StepReads>> reads;
    for (const auto& edge : graph->edges()) {
      const auto found = known_.find(edge.outputs.front());
      reads.push_back(found == known_.end() ? std::nullopt : std::optional(found->second));
    }
    auto result = audit(disk_, *graph, reads);
    repairs_ = repair_lines(*graph, result, true);
    return result;
  }
  /// "file: output output", system files in brackets.
  Lines gaps() {
    Lines lines;
    for (const auto& gap : audited().gaps) {
      auto line = gap.is_system ? "(" + gap.file + "):" : gap.file + ":";
      for (const auto& reader : gap.readers) line += " " + reader.output.substr(5);
      lines.push_back(line);
    }
    return lines;
  }
  /// "kind subject".
  Lines findings() {
    Lines lines;
    for (const auto& finding : audited().findings)
      lines.push_back(std::string(name_of(finding.kind)) + " " + finding.subject);
    return lines;
  }

  test::FakeClock clock_;
  test::FakeFileSystem disk_{clock_};
  std::map<std::string, StepReads> known_;
  Lines repairs_;
};

TEST_F(AuditTest, WhatIsReadAndNotComparedGroupedByFile) {
  disk_.put("/r/b/a.o.d", "a.o: ../a.cu\n");
  disk_.put("/r/b/b.o.d", "b.o: ../b.cu ../k.h\n");
  reads("/r/b/a.o",
        {"/r/a.cu", "/r/k.h", "/usr/include/x.h", "/opt/cutlass/c.h", "/usr/bin/nvcc", "/r/b/a.o.d"});
  reads("/r/b/b.o", {"/r/b.cu", "/r/k.h", "/opt/cutlass/c.h", "/r/b/b.o"});
  EXPECT_EQ(gaps(), (Lines{"/opt/cutlass/c.h: a.o b.o", "/r/k.h: a.o", "(/usr/bin/nvcc): a.o",
                           "(/usr/include/x.h): a.o"}));
  EXPECT_EQ(repairs_, Lines{"cmake -DCMAKE_CUDA_COMPILER_LAUNCHER='hallmark;run;--' /r/b"});
  const auto result = audited();
  EXPECT_EQ(result.edges, 3U);
  EXPECT_EQ(result.recorded, 2U);
  EXPECT_EQ(result.unknown, 1U);
}

TEST_F(AuditTest, InputsBehindPhonyEdgesAreCompared) {
  manifest(std::string(kManifest) +
           "build headers: phony ../k.h\nbuild c.o: cc ../a.cu | headers || ../gen.py\n");
  disk_.put("/r/b/c.o.d", "c.o: ../a.cu\n");
  reads("/r/b/c.o", {"/r/a.cu", "/r/k.h", "/r/gen.py"});
  EXPECT_EQ(gaps(), Lines{"/r/gen.py: c.o"}) << "order only is not compared";
}

TEST_F(AuditTest, AStepThatOrdersNoDependencyFile) {
  reads("/r/b/table.inc", {"/r/gen.py", "/r/list.txt"}, {"/r/b/table.inc"});
  EXPECT_EQ(gaps(), Lines{"/r/gen.py: table.inc"});
  ASSERT_EQ(repairs_.size(), 3U);
  EXPECT_EQ(repairs_.back(), "# for table.inc: python3 ../gen.py");
}

TEST_F(AuditTest, WhatIsNotBuiltYetRunsAnyway) {
  reads("/r/b/a.o", {"/r/a.cu", "/r/k.h"});
  EXPECT_EQ(gaps(), Lines{}) << "it has no dependency file";
  EXPECT_EQ(audited().complaints, Lines{"2 edges are not built yet: what they read is not known"});
}

TEST_F(AuditTest, NamesThatLeadToTheSameFileAreOne) {
  disk_.put("/r/real/k.h", "");
  (void)disk_.remove("/r/k.h");
  (void)disk_.make_link("real/k.h", "/r/k.h");
  disk_.put("/r/b/a.o.d", "a.o: ../a.cu ../k.h\n");
  reads("/r/b/a.o", {"/r/a.cu", "/r/real/k.h"});
  EXPECT_EQ(gaps(), Lines{});
}

TEST_F(AuditTest, WhatAHeaderIsMadeOfThatIsCompiledBeforehand) {
  manifest(std::string(kManifest) + "build pch.h.gch: cc ../pch.h\nbuild d.o: cc ../a.cu | pch.h.gch\n");
  disk_.put("/r/b/d.o.d", "d.o: ../a.cu\n");
  disk_.put("/r/b/pch.h.gch.d", "x: ../pch.h ../k.h\n");
  reads("/r/b/d.o", {"/r/a.cu", "/r/pch.h", "/r/k.h"});
  EXPECT_EQ(gaps(), Lines{});
}

TEST_F(AuditTest, ASoundBuildHasNothing) {
  reads("/r/b/a.o", {"/r/a.cu"}, {"/r/b/a.o", "/r/b/a.o.d"});
  EXPECT_EQ(gaps(), Lines{});
  EXPECT_EQ(findings(), Lines{});
}

TEST_F(AuditTest, SourcesOfTheConfiguration) {
  disk_.put("/r/b/gen/t.cu", "");
  disk_.put("/r/b/conf.h", "");
  disk_.put("/r/conf.h.in", "");
  manifest(std::string(kManifest) +
           "build t.o: cc gen/t.cu | conf.h CMakeFiles/x.rsp\nbuild build2.ninja: again ../conf.h.in\n");
  EXPECT_EQ(findings(), Lines{"made_at_configure /r/b/gen/t.cu"});
}

TEST_F(AuditTest, ABuildAmongItsSources) {
  disk_.put("/r/b/CMakeCache.txt", "# x\nCMAKE_HOME_DIRECTORY:INTERNAL=/r/b\n");
  disk_.put("/r/b/a.cu", "");
  disk_.put("/r/b/old.o", "");
  manifest("rule cc\n  command = cc $in\nbuild a.o: cc a.cu\n");
  EXPECT_EQ(findings(), Lines{}) << "nobody can tell what is a source there";
}

TEST_F(AuditTest, Globs) {
  disk_.put("/r/CMakeLists.txt", "project(p)\nfile(GLOB s *.cu)\nfile(GLOB t CONFIGURE_DEPENDS *.cu)\n");
  EXPECT_EQ(findings(), Lines{"glob /r/CMakeLists.txt:2"});
}

TEST_F(AuditTest, DependenciesThatAreGone) {
  disk_.put("/r/b/a.o.d", "a.o: ../a.cu /tmp/tmpxft_1.h /tmp/tmpxft_2.h\n");
  EXPECT_EQ(findings(), Lines{"temporary /tmp/tmpxft_1.h"}) << "one for each edge";
}

TEST_F(AuditTest, ArtifactsWithoutRule) {
  for (const char* path :
       {"/r/b/a.o", "/r/b/old.o", "/r/b/CMakeFiles/3.25.1/x.o", "/r/b/ext/build.ninja", "/r/b/ext/y.o"})
    disk_.put(path, "");
  EXPECT_EQ(findings(), Lines{"no_rule /r/b/old.o"});
}

TEST_F(AuditTest, OutputsThatNobodyDeclares) {
  disk_.put("/r/b/side.o", "");
  reads("/r/b/table.inc", {}, {"/r/b/table.inc", "/r/b/side.o"});
  EXPECT_EQ(findings(), Lines{"undeclared /r/b/side.o"});
}

TEST_F(AuditTest, TwoEdgesThatWriteOneFile) {
  reads("/r/b/a.o", {}, {"/r/b/a.o", "/r/b/log.txt"});
  reads("/r/b/b.o", {}, {"/r/b/b.o", "/r/b/log.txt"});
  reads("/r/b/table.inc", {}, {"/r/b/table.inc", "/r/b/b.o"});
  EXPECT_EQ(findings(), (Lines{"two_writers /r/b/b.o", "two_writers /r/b/log.txt"}));
  known_.clear();
  manifest("rule cc\n  command = cc\n  depfile = same.d\nbuild a.o: cc ../a.cu\nbuild b.o: cc ../b.cu\n");
  EXPECT_EQ(findings(), Lines{"two_writers /r/b/same.d"});
}

TEST_F(AuditTest, OfMakeWhatItSaidAndOfCMakesMakefilesWhatTheCompilerWrote) {
  disk_.put("/r/b/a.o", "");
  disk_.put("/r/b/a.o.d", "a.o: ../a.cu ../k.h\n");
  const std::vector<inspect::MakeTarget> targets = {
      {"/r/b", "a.o", {"../a.cu"}, "nvcc -MD -MF a.o.d -c ../a.cu -o a.o"}, {"/r/b", "all", {"a.o"}, "echo"}};
  const auto of_cmake = BuildGraph::of_make(disk_, "/r/b", targets);
  ASSERT_EQ(of_cmake.edges().size(), 1U) << "all is no file";
  EXPECT_EQ(of_cmake.edges()[0].noted, (Lines{"/r/a.cu", "/r/k.h"}));
  (void)disk_.remove("/r/b/CMakeCache.txt");
  const auto of_others = BuildGraph::of_make(disk_, "/r/b", targets);
  EXPECT_EQ(of_others.edges()[0].noted, Lines{}) << "whether the makefile includes it, Make has said";
  EXPECT_EQ(of_others.edges()[0].inputs, Lines{"/r/a.cu"});
}

TEST_F(AuditTest, OfCompileCommands) {
  disk_.put("/r/b/a.d", "a.o: ../a.cu ../k.h\n");
  const auto graph = BuildGraph::of_compile_commands(
      disk_, "/r",
      {{"/r/b", "nvcc -MD -c ../a.cu -o a.o", "../a.cu", ""}, {"/r/b", "nvcc -c b.cu", "b.cu", ""}});
  ASSERT_EQ(graph.edges().size(), 1U);
  EXPECT_EQ(graph.edges()[0].outputs, Lines{"/r/b/a.o"});
  EXPECT_EQ(graph.edges()[0].noted, (Lines{"/r/a.cu", "/r/k.h"}));
  EXPECT_EQ(graph.complaints().size(), 1U);
}

class ScratchCommandTest : public AuditTest {
 protected:
  /// The words of the compile as it would be observed into /s; or why it is not.
  std::string led(const std::string& command, const std::string& more = {}) {
    manifest("rule r\n  command = " + command + "\n" + more + "build out/a.o: r ../a.cu\n");
    const auto graph = BuildGraph::read(disk_, "/r/b");
    std::string why_not;
    const auto led = command_into(disk_, graph->edges()[0], "/s", why_not);
    if (!led) return "not: " + why_not;
    std::string line;
    for (const auto& word : led->argv) line += (line.empty() ? "" : " ") + word;
    return led->cwd == "/r/b" ? line : line + " in " + led->cwd;
  }
};

TEST_F(ScratchCommandTest, WhatTheCompilerWritesGoesElsewhere) {
  EXPECT_EQ(led("nvcc -MD -MF $out.d -MT $out -c $in -o $out"),
            "nvcc -MD -MF /s/dependencies.d -MT out/a.o -c ../a.cu -o /s/a.o");
  EXPECT_EQ(led("ccache nvcc -MF$out.d -c $in -o$out"), "nvcc -MF/s/dependencies.d -c ../a.cu -o/s/a.o");
  EXPECT_EQ(led("hallmark run --depfile x -- g++ -Wp,-MD,x.d -c $in -o '/r/b/$out'"),
            "g++ -Wp,-MD,/s/dependencies.d -c ../a.cu -o /s/a.o");
  EXPECT_EQ(led("cd out && A=1 g++ -c ../../a.cu -o a.o && : done"),
            "g++ -c ../../a.cu -o /s/a.o in /r/b/out");
  EXPECT_EQ(led("g++ @$out.rsp -c $in -o $out", "  rspfile = $out.rsp\n  rspfile_content = -Iinc -DX\n"),
            "g++ -Iinc -DX -c ../a.cu -o /s/a.o");
}

TEST_F(ScratchCommandTest, WhatNobodyCanTellIsNotRun) {
  for (const char* command : {"python3 gen.py $in -o $out", "sh build.sh $in", "echo x >> $in && touch $out",
                              "rm -rf d && cp $in d", "python3 gen.py --emit-cpp $in -o $out"})
    EXPECT_EQ(led(command), "not: it is not one compile") << command;
  for (const char* command :
       {"g++ -c $in -o $out 2> log", "g++ -c $in -o $out | tee log", "g++ -c $$SRC $in -o $out",
        "test -e x || g++ -c $in -o $out", "g++ -c *.c $in -o $out"})
    EXPECT_EQ(led(command), "not: the shell does more in it than to start the compiler") << command;
  EXPECT_EQ(led("(cd x && g++ -c $in -o $out)"), "not: it is not one compile");
  EXPECT_EQ(led("g++ -c $in -o $out && g++ -c $in -o other.o"), "not: it is not one compile");
  EXPECT_EQ(led("g++ -c $in"), "not: it names no output with -o");
  EXPECT_EQ(led("g++ -c $in -o b.o && mv b.o $out"), "not: it writes to b.o, which is no output of the edge");
  EXPECT_EQ(led("g++ -save-temps -c $in -o $out"), "not: -save-temps writes into places of its own");
  EXPECT_EQ(led("clang++ -MJ x.json -c $in -o $out"), "not: -MJ writes into places of its own");
  EXPECT_EQ(led("nvcc --keep -c $in -o $out"), "not: --keep writes into places of its own");
}

}  // namespace
}  // namespace hallmark::prove
