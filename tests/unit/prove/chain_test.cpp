#include "prove/chain.h"

#include <gmock/gmock.h>

#include "support/golden.h"
#include "unit/prove/proof_world.h"

namespace hallmark::prove {
namespace {

using test::ProofTest;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ChainTest : public ProofTest {
 protected:
  Chain chain_at(const std::string& artifact) {
    const auto proof = proof_of(artifact);
    StoreEvidence evidence(*store_);
    const auto content = store_->hasher().hash(artifact);
    auto chain = chain_of(steps_, proof, content->digest, evidence);
    EXPECT_TRUE(chain.has_value()) << chain.error().what;
    return chain.has_value() ? *std::move(chain) : Chain{};
  }

  /// What the chain alone says in the tree `root`; its cause first: the difference or doubt.
  Verdict offline(const Chain& chain, const std::string& root = "/r") {
    ChainEvidence evidence(chain, root);
    Prover prover({disk_, store_->hasher(), evidence, machine_, environment_, uid_});
    const auto proof = prover.prove_run("/opt/lib.so", chain.steps.front().strong, {});
    steps_ = prover.steps();
    outputs_.clear();
    for (const auto index : chain_to_cause(steps_, proof)) outputs_.push_back(steps_[index].output);
    cause_.clear();
    if (const auto path = chain_to_cause(steps_, proof); !path.empty()) {
      const auto& step = steps_[path.back()];
      cause_ =
          proof.verdict == Verdict::stale ? model::sentence(step.differences.front()) : step.doubts.front();
    }
    return proof.verdict;
  }

  void copy_tree(const std::string& to) {
    for (const char* name : {"include/k.h", "a.cu", "b.cu"})
      disk_.put(to + "/" + name, *os::read_file(disk_, std::string("/r/") + name, 100));
  }

  Paths outputs_;
  std::string cause_;
};

TEST_F(ChainTest, ItHoldsEachStepWithWhatItMade) {
  build();
  const auto chain = chain_at("/r/build/lib.so");
  ASSERT_EQ(chain.steps.size(), 3u);
  EXPECT_EQ(chain.steps[0].strong, lib_.strong);
  EXPECT_THAT(chain.steps[1].outputs,
              ElementsAre(ChainOutput{"\x01R\x02/build/a.o", digest::digest_of("object a")}));
  EXPECT_THAT(chain.steps[1].places, ElementsAre(std::pair<std::string, std::string>("R", "\x01R\x02")));
  EXPECT_EQ(offline(chain), Verdict::fresh);
}

TEST_F(ChainTest, ItSaysTheSameAsTheStoreWithoutIt) {
  build();
  const auto chain = chain_at("/r/build/lib.so");
  edit("/r/include/k.h", "another");
  EXPECT_EQ(offline(chain), Verdict::stale);
  EXPECT_EQ(cause_, "/r/include/k.h changed");
  EXPECT_THAT(outputs_, ElementsAre("/r/build/lib.so", "/r/build/a.o"));
  edit("/r/include/k.h", "k");
  EXPECT_EQ(offline(chain), Verdict::fresh);
  edit("/r/k.h", "in front of the other");
  EXPECT_EQ(offline(chain), Verdict::stale);
  EXPECT_THAT(cause_, HasSubstr("/r/k.h"));
}

TEST_F(ChainTest, AnotherCheckoutIsJudgedByItsOwnFiles) {
  build();
  const auto chain = chain_at("/r/build/lib.so");
  copy_tree("/s");
  EXPECT_EQ(offline(chain, "/s"), Verdict::fresh) << "nothing was built there";
  edit("/s/b.cu", "another");
  EXPECT_EQ(offline(chain, "/s"), Verdict::stale);
  EXPECT_EQ(cause_, "/s/b.cu changed");
  EXPECT_EQ(offline(chain, "/r"), Verdict::fresh);
}

TEST_F(ChainTest, WhatLiesBetweenMayBeGoneButNotBeUnknown) {
  build();
  const auto chain = chain_at("/r/build/lib.so");
  (void)disk_.remove("/r/build/a.o");
  EXPECT_EQ(offline(chain), Verdict::fresh);
  edit("/r/build/b.o", "made by somebody else");
  EXPECT_EQ(offline(chain), Verdict::unknown);
  EXPECT_THAT(cause_, HasSubstr("/r/build/b.o is not what was used"));
  edit("/r/b.cu", "another");
  EXPECT_EQ(offline(chain), Verdict::stale);
}

TEST_F(ChainTest, WhatCouldNotBeToldThenIsNotKnownLater) {
  build();
  disk_.put("/r/gen.h", "generated");
  EXPECT_TRUE(store_->note_made(std::nullopt, places_, {{{}, "/r/gen.h"}}).has_value());
  record({"/r/build/a.o", "/r/gen.h"}, "/r/build/lib2.so", "another library");
  const auto chain = chain_at("/r/build/lib2.so");
  EXPECT_EQ(offline(chain), Verdict::unknown);
  EXPECT_EQ(cause_, "/r/gen.h: it was made by a command whose run could not be recorded");
  copy_tree("/s");
  disk_.put("/s/gen.h", "generated");
  EXPECT_EQ(offline(chain, "/s"), Verdict::unknown);
  EXPECT_EQ(cause_, "/s/gen.h: it was made by a command whose run could not be recorded");
}

TEST_F(ChainTest, ADerivationThatTheStoreLostIsADoubt) {
  build();
  ASSERT_TRUE(
      disk_.remove("/store/derivations/" + a_.strong.hex().substr(0, 2) + "/" + a_.strong.hex()).has_value());
  const auto chain = chain_at("/r/build/lib.so");
  EXPECT_EQ(chain.steps.size(), 2u);
  EXPECT_EQ(offline(chain), Verdict::unknown);
  EXPECT_EQ(cause_, "/r/build/a.o: what it was made of was not recorded");
}

TEST_F(ChainTest, OfSeveralRunsItHoldsTheOneThatCountsToday) {
  build();
  edit("/r/a.cu", "a // a comment");
  record({"/r/a.cu", "/r/include/k.h", "/usr/bin/nvcc"}, "/r/build/a.o", "object a", {"/r/k.h"});
  const auto chain = chain_at("/r/build/lib.so");
  EXPECT_EQ(chain.steps.size(), 3u);
  EXPECT_EQ(offline(chain), Verdict::fresh) << "the object is the same, and so the library";
  edit("/r/a.cu", "a");
  EXPECT_EQ(offline(chain), Verdict::stale);
}

TEST_F(ChainTest, BytesThatARecordDoesNotHoldAreFollowedAsTheyWereRead) {
  a_ = record({"/r/a.cu"}, "/r/build/a.o", "object a");
  edit("/r/build/a.o", "object A");
  note(a_, "/r/build/a.o", "object A");
  record({"/r/build/a.o"}, "/r/build/lib.so", "library");
  const auto chain = chain_at("/r/build/lib.so");
  ASSERT_EQ(chain.steps.size(), 2u);
  EXPECT_EQ(chain.steps[1].outputs.size(), 2u);
  EXPECT_EQ(offline(chain), Verdict::fresh);
  edit("/r/a.cu", "another");
  EXPECT_EQ(offline(chain), Verdict::stale);
}

TEST_F(ChainTest, NothingInItNamesTheCheckoutOrTheHour) {
  places_ = {
      {"R", "/some/checkout"}, {"B", "/some/checkout/build"}, {"HOME", "/home/u"}, {"PATH", "/usr/bin"}};
  disk_.put("/some/checkout/a.cu", "a");
  record({"/some/checkout/a.cu"}, "/some/checkout/build/a.o", "object", {},
         {{model::Aspect::program, "nvcc"}});
  const auto bytes = encode(chain_at("/some/checkout/build/a.o"));
  clock_.advance_ms(5000);
  const auto later = encode(chain_at("/some/checkout/build/a.o"));
  ASSERT_TRUE(bytes.has_value() && later.has_value());
  EXPECT_EQ(*bytes, *later);
  EXPECT_EQ(bytes->find("checkout"), std::string::npos);
  EXPECT_EQ(bytes->find("/home/u"), std::string::npos) << "nothing mentions it";
  EXPECT_NE(bytes->find("/usr/bin"), std::string::npos) << "a program was looked up";
}

TEST_F(ChainTest, LeavesAreWhatNoStepMade) {
  build();
  const auto chain = chain_at("/r/build/lib.so");
  Paths paths;
  for (const auto& leaf : leaves_of(chain, "/t"))
    paths.push_back(leaf.path + (leaf.in_tree ? " in tree" : ""));
  EXPECT_THAT(paths,
              ElementsAre("/t/a.cu in tree", "/t/b.cu in tree", "/t/include/k.h in tree", "/usr/bin/nvcc"));
}

TEST_F(ChainTest, RecordsThatLeadInACircle) {
  build();
  auto chain = chain_at("/r/build/lib.so");
  chain.steps[0].outputs.push_back({"\x01R\x02/a.cu", digest::digest_of("a")});
  EXPECT_EQ(offline(chain), Verdict::unknown);
  EXPECT_EQ(cause_, "the records of /r/a.cu lead in a circle");
}

TEST_F(ChainTest, WhatBelongsToAnotherRunIsUnknown) {
  build();
  auto chain = chain_at("/r/build/lib.so");
  chain.steps[1].derivation.answers[0] = engine::answer_digest(digest::digest_of("forged"));
  EXPECT_EQ(offline(chain), Verdict::unknown);
  EXPECT_THAT(cause_, HasSubstr("belongs to another run"));
}

TEST_F(ChainTest, CodecAndGolden) {
  build();
  const auto chain = chain_at("/r/build/lib.so");
  const auto bytes = encode(chain);
  ASSERT_TRUE(bytes.has_value());
  test::expect_golden(HALLMARK_SOURCE_DIR, "chain", *bytes);
  const auto frame = pack_chain(*bytes);
  ASSERT_TRUE(frame.has_value());
  EXPECT_EQ(unpack_chain(*frame).value(), *bytes);
  EXPECT_EQ(decode_chain(*bytes).value(), chain);
  for (std::size_t size = 0; size < bytes->size(); ++size)
    EXPECT_FALSE(decode_chain(std::string_view(*bytes).substr(0, size)).has_value()) << size;
  for (std::size_t size = 0; size < frame->size(); ++size)
    EXPECT_FALSE(unpack_chain(std::string_view(*frame).substr(0, size)).has_value()) << size;
}

}  // namespace
}  // namespace hallmark::prove
