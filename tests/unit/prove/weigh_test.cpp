// Steps that nobody recorded: what Ninja's graph and logs, #include lines and times of files show.
#include "unit/prove/proof_world.h"

namespace hallmark::prove {
namespace {

using test::ProofTest;

class WeighTest : public ProofTest {
 protected:
  WeighTest() {
    (void)disk_.make_folder("/r/.git", 0755);
    disk_.put("/r/third/impl.h", "int tile();\n");
    disk_.put("/r/include/k.h",
              "#pragma once\n#include <impl.h>\n#ifdef FAST\n#include \"fast.h\"\n#endif\n");
    disk_.put("/r/include/fast.h", "");
    disk_.put("/r/a.cu", "#include \"k.h\"\n");
    disk_.put("/r/main.cc", "int main() {}\n");
    disk_.put("/r/CMakeLists.txt", "");
    clock_.advance_ms(1000);
    disk_.put("/r/b/build.ninja", kManifest);
    clock_.advance_ms(1000);
    make("a.o");
    make("main.o");
    make("libp.so");
    make("t");
    write_log();
  }

  static constexpr const char* kManifest =
      "rule cc\n"
      "  command = nvcc -I../include -isystem ../third -c $in -o $out\n"
      "rule ld\n"
      "  command = : && g++ $in -o $out && :\n"
      "rule again\n"
      "  command = cmake\n"
      "  generator = 1\n"
      "build a.o: cc ../a.cu\n"
      "build main.o: cc ../main.cc\n"
      "build libp.so: ld a.o\n"
      "build t: ld main.o | libp.so\n"
      "build all: phony t libp.so\n"
      "build build.ninja: again ../CMakeLists.txt\n";

  void make(const std::string& output) {
    clock_.advance_ms(1000);
    disk_.put("/r/b/" + output, output);
    log_ += "0\t1\t" + std::to_string(clock_.now_ns()) + "\t" + output + "\t" + hashes_.at(output) + "\n";
  }
  void write_log() {
    disk_.put("/r/b/.ninja_log", "# ninja log v7\n" + log_);
    clock_.advance_ms(1000);
  }
  Verdict weaker(const std::string& artifact) {
    accept_weaker_ = true;
    const auto verdict = verdict_of(artifact);
    accept_weaker_ = false;
    return verdict;
  }

  std::string log_;
  std::map<std::string, std::string> hashes_ = {{"a.o", "1"},      {"main.o", "2"},  {"libp.so", "3"},
                                                {"t", "4"},        {"v.h", "5"},     {"p", "6"},
                                                {"pkg/l.so", "7"}, {"sub/y.o", "8"}, {"m.o", "9"}};
};

TEST_F(WeighTest, NothingNewerIsNoProof) {
  EXPECT_EQ(verdict_of("/r/b/t"), Verdict::unknown);
  EXPECT_EQ(weaker("/r/b/t"), Verdict::fresh);
  for (const auto& step : steps_) EXPECT_FALSE(step.is_recorded);
}

TEST_F(WeighTest, AnIncludeThatTheBuildDoesNotKnow) {
  edit("/r/third/impl.h", "long tile();\n");
  EXPECT_EQ(cause_of("/r/b/libp.so"),
            (Paths{"/r/b/libp.so", "/r/b/a.o",
                   "/r/third/impl.h is newer than /r/b/a.o (/r/include/k.h:2 names it)"}));
  EXPECT_EQ(weaker("/r/b/libp.so"), Verdict::stale);
  EXPECT_EQ(verdict_of("/r/b/main.o"), Verdict::unknown);
}

TEST_F(WeighTest, AnIncludeThatMayBeSkippedIsADoubt) {
  edit("/r/include/fast.h", "//\n");
  EXPECT_EQ(verdict_of("/r/b/a.o"), Verdict::unknown);
  EXPECT_EQ(
      cause_of("/r/b/a.o").back(),
      "/r/include/fast.h is newer, and /r/include/k.h:4 may include it (its conditions are not worked out)");
  EXPECT_EQ(weaker("/r/b/a.o"), Verdict::unknown);
}

TEST_F(WeighTest, AProgramIsNotLinkedAgainWithALibraryThatItLoads) {
  edit("/r/a.cu", "#include \"k.h\"\n//\n");
  make("a.o");
  make("libp.so");
  write_log();
  EXPECT_EQ(weaker("/r/b/libp.so"), Verdict::fresh);
  EXPECT_EQ(weaker("/r/b/t"), Verdict::fresh) << "older than the library";
  edit("/r/a.cu", "#include \"k.h\"\n///\n");
  EXPECT_EQ(weaker("/r/b/t"), Verdict::stale) << "what it loads is";
  const auto proof = proof_of("/r/b/t");
  EXPECT_FALSE(would_run_again(steps_, *proof.step));
}

TEST_F(WeighTest, AnObjectThatWasMadeAgainIsNewer) {
  make("a.o");
  write_log();
  EXPECT_EQ(cause_of("/r/b/libp.so").back(), "/r/b/a.o is newer than /r/b/libp.so (build.ninja names it)");
}

TEST_F(WeighTest, AnOutputThatWasLeftAsItIsIsAsNewAsTheLogSays) {
  auto manifest = std::string(kManifest);
  manifest.replace(manifest.find("rule ld"), 0, "  restat = 1\n");
  disk_.put("/r/b/build.ninja", manifest);
  edit("/r/main.cc", "int main() {} //\n");
  log_ += "0\t1\t" + std::to_string(clock_.now_ns()) + "\tmain.o\t2\n";
  write_log();
  EXPECT_EQ(weaker("/r/b/main.o"), Verdict::fresh);
  edit("/r/main.cc", "int main() {} ///\n");
  EXPECT_EQ(weaker("/r/b/main.o"), Verdict::stale);
}

TEST_F(WeighTest, WhatIsGone) {
  (void)disk_.remove("/r/main.cc");
  EXPECT_EQ(cause_of("/r/b/t").back(), "/r/main.cc is gone (it was there)");
}

TEST_F(WeighTest, OlderTimesThatCameLaterAreADoubt) {
  edit("/r/third/impl.h", "long tile();\n");
  (void)disk_.touch("/r/third/impl.h", 1);
  EXPECT_EQ(cause_of("/r/b/a.o").back(),
            "/r/third/impl.h was put there or changed after /r/b/a.o was made, though its time is older");
}

TEST_F(WeighTest, ALinkThatWasSwitchedIsADoubt) {
  disk_.put("/r/v1/impl.h", "int tile();\n");
  disk_.put("/r/v2/impl.h", "long tile();\n");
  ASSERT_TRUE(disk_.remove("/r/third/impl.h").has_value());
  ASSERT_TRUE(disk_.remove_folder("/r/third").has_value());
  ASSERT_TRUE(disk_.make_link("current", "/r/third").has_value());
  ASSERT_TRUE(disk_.make_link("v1", "/r/current").has_value());
  log_.clear();
  make("a.o");
  write_log();
  EXPECT_EQ(weaker("/r/b/a.o"), Verdict::fresh);
  clock_.advance_ms(1000);
  ASSERT_TRUE(disk_.remove("/r/current").has_value());
  ASSERT_TRUE(disk_.make_link("v2", "/r/current").has_value());
  EXPECT_EQ(weaker("/r/b/a.o"), Verdict::unknown) << "the header of today is as old as that of then";
  EXPECT_EQ(cause_of("/r/b/a.o").back(),
            "/r/v2/impl.h is reached through the link /r/current, which was made after /r/b/a.o");
}

TEST_F(WeighTest, TheCompilersDependencyFileNamesMore) {
  auto manifest = std::string(kManifest);
  manifest.replace(manifest.find("rule ld"), 0, "  depfile = $out.d\n");
  disk_.put("/r/b/build.ninja", manifest);
  disk_.put("/r/odd.inc", "");
  disk_.put("/r/b/a.o.d", "a.o: ../a.cu ../odd.inc\n");
  clock_.advance_ms(1000);
  make("a.o");
  make("libp.so");
  write_log();
  EXPECT_EQ(weaker("/r/b/libp.so"), Verdict::fresh);
  edit("/r/odd.inc", "1");
  EXPECT_EQ(cause_of("/r/b/a.o").back(), "/r/odd.inc is newer than /r/b/a.o (its dependency file names it)");
}

TEST_F(WeighTest, WhatTheLogDoesNotKnowIsADoubt) {
  disk_.put("/r/b/.ninja_log", "# ninja log v5\n");
  EXPECT_EQ(cause_of("/r/b/main.o").back(), "Ninja's log does not know that it was made");
  disk_.put("/r/b/.ninja_log", "garbage");
  EXPECT_EQ(weaker("/r/b/main.o"), Verdict::unknown);
}

TEST_F(WeighTest, AnotherCommandMadeIt) {
  disk_.put("/r/b/.ninja_log", "# ninja log v5\n" + log_);
  EXPECT_EQ(cause_of("/r/b/main.o").back(),
            "/r/b/main.o was made by another command than the build's of today");
}

TEST_F(WeighTest, AManifestThatWouldBeMadeAgainIsADoubt) {
  edit("/r/CMakeLists.txt", "#\n");
  EXPECT_EQ(weaker("/r/b/main.o"), Verdict::unknown);
}

TEST_F(WeighTest, ANameWithoutAFileIsNoInput) {
  disk_.put("/r/b/build.ninja",
            std::string(kManifest) + "build always: phony\nbuild v.h: cc ../main.cc | always\n");
  make("v.h");
  write_log();
  EXPECT_EQ(cause_of("/r/b/v.h").back(), "it is made in every build");
}

TEST_F(WeighTest, ASharedLibraryThatNoEdgeMakesIsLoadedAsItIs) {
  disk_.put("/r/ext/libf.so", "1");
  disk_.put("/r/b/build.ninja", std::string(kManifest) + "build p: ld main.o | ../ext/libf.so\n");
  make("p");
  write_log();
  edit("/r/ext/libf.so", "2");
  EXPECT_EQ(weaker("/r/b/p"), Verdict::fresh);
}

TEST_F(WeighTest, ACopyHasTheBytesOfALibrary) {
  disk_.put("/r/b/build.ninja",
            std::string(kManifest) + "rule cp\n  command = cp $in $out\nbuild pkg/l.so: cp libp.so\n");
  make("pkg/l.so");
  make("libp.so");
  write_log();
  EXPECT_EQ(cause_of("/r/b/pkg/l.so").back(),
            "/r/b/libp.so is newer than /r/b/pkg/l.so (build.ninja names it)");
}

TEST_F(WeighTest, TheOuterBuildMakesWhatLiesBesideAnInnerManifest) {
  disk_.put("/r/b/sub/build.ninja", "build x.o: cc ../../a.cu\n");
  disk_.put("/r/b/build.ninja",
            std::string(kManifest) + "subninja sub/build.ninja\nbuild sub/y.o: cc ../main.cc\n");
  make("sub/y.o");
  write_log();
  EXPECT_EQ(weaker("/r/b/sub/y.o"), Verdict::fresh);
  edit("/r/main.cc", "//\n");
  EXPECT_EQ(weaker("/r/b/sub/y.o"), Verdict::stale);
}

TEST_F(WeighTest, LostNotesAreADoubt) {
  auto manifest = std::string(kManifest);
  manifest.replace(manifest.find("rule ld"), 0, "  depfile = $out.d\n");
  disk_.put("/r/b/build.ninja", manifest);
  EXPECT_EQ(weaker("/r/b/main.o"), Verdict::unknown);
}

TEST_F(WeighTest, ReplacedInPlaceIsADoubt) {
  // Version 5 notes the time of the output; the hashes are not asked.
  disk_.put("/r/b/.ninja_log", "# ninja log v5\n" + log_);
  edit("/r/b/main.o", "stripped");
  const auto proof = proof_of("/r/b/main.o");
  EXPECT_EQ(steps_[*proof.step].doubts.at(0), "/r/b/main.o was changed since Ninja made it");
}

TEST_F(WeighTest, WhatTheCompilerDoesNotReadIsNoInclude) {
  const auto with = [&](const std::string& command, const std::string& source) {
    disk_.put("/r/m.c", source);
    disk_.put("/r/b/build.ninja",
              std::string(kManifest) + "rule x\n  command = " + command + "\nbuild m.o: x ../m.c\n");
    clock_.advance_ms(1000);
    make("m.o");
    write_log();
    edit("/r/include/k.h", "//\n" + std::to_string(clock_.now_ns()));
    return weaker("/r/b/m.o");
  };
  const std::string else_k = "\n#else\n#include \"k.h\"\n#endif\n";
  EXPECT_EQ(with("gcc -I../include -c $in -o $out", "#ifdef __cplusplus" + else_k), Verdict::stale);
  EXPECT_EQ(with("g++ -I../include -c $in -o $out", "#ifdef __cplusplus" + else_k), Verdict::fresh);
  EXPECT_EQ(with("gcc -xc++ -I../include -c $in -o $out", "#ifdef __cplusplus" + else_k), Verdict::fresh);
  EXPECT_EQ(with("gcc -DX -I../include -c $in -o $out", "#ifdef X" + else_k), Verdict::fresh);
  EXPECT_EQ(with("gcc -DX -I../include -c $in -o $out", "#undef X\n#ifdef X\n#include \"k.h\"\n#endif\n"),
            Verdict::unknown);
  EXPECT_EQ(with("gcc -I../include -c $in -o $out", "#define S \"/*\"\n#include \"k.h\"\n"), Verdict::stale);
  EXPECT_EQ(with("python3 x.py --emit-cpp $in -I../include", "#include \"k.h\"\n"), Verdict::fresh)
      << "no compiler in the place of a program";
  EXPECT_EQ(with("gcc -I../include -I../include/x -isystem ../include -c $in -o $out", "#include <k.h>\n"),
            Verdict::stale);
}

TEST_F(WeighTest, ManifestsThatLeadInACircleEnd) {
  disk_.put("/r/b/build.ninja", "build a.o: cc t\nbuild t: cc a.o\nrule cc\n  command = cc $in\n");
  EXPECT_EQ(weaker("/r/b/t"), Verdict::unknown);
}

TEST_F(WeighTest, ARecordedStepOfAnUnrecordedOne) {
  disk_.put("/r/b/gen.h", "1");
  disk_.put("/r/b/build.ninja", std::string(kManifest) + "build gen.h: cc ../main.cc\n");
  log_ += "0\t1\t" + std::to_string(clock_.now_ns()) + "\tgen.h\t1\n";
  write_log();
  places_.emplace_back("B", "/r/b");
  std::sort(places_.begin(), places_.end());
  record({"/r/b/gen.h", "/usr/bin/nvcc"}, "/r/b/x.o", "object x");
  EXPECT_EQ(verdict_of("/r/b/x.o"), Verdict::unknown);
  EXPECT_EQ(weaker("/r/b/x.o"), Verdict::fresh);
  edit("/r/main.cc", "//\n");
  EXPECT_EQ(cause_of("/r/b/x.o"),
            (Paths{"/r/b/x.o", "/r/b/gen.h", "/r/main.cc is newer than /r/b/gen.h (build.ninja names it)"}));
}

TEST_F(WeighTest, WhatWasStrippedAfterItsRecordedLink) {
  record({"/r/b/a.o", "/usr/bin/nvcc"}, "/r/b/libp.so", "linked");
  disk_.put("/r/b/libp.so", "stripped");
  EXPECT_EQ(verdict_of("/r/b/libp.so"), Verdict::unknown);
  EXPECT_THAT(cause_of("/r/b/libp.so").back(), ::testing::HasSubstr("another one changed its bytes since"));
  log_.clear();
  make("libp.so");
  log_ += "0\t1\t" + std::to_string(clock_.now_ns()) + "\ta.o\t1\n";
  write_log();
  EXPECT_EQ(weaker("/r/b/libp.so"), Verdict::fresh);
}

}  // namespace
}  // namespace hallmark::prove
