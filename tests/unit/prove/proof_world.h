// ProofTest: a disk and a store in memory, and recorded steps that are made by hand: what they read is on the
// disk when they are recorded, what they make is put there.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/answers.h"
#include "engine/environment.h"
#include "prove/internal/today.h"
#include "prove/prover.h"
#include "store/local_store.h"
#include "support/fake_clock.h"
#include "support/fake_file_system.h"

namespace hallmark::test {

class FakeMachine final : public engine::Machine {
 public:
  std::optional<std::string> identity(std::string_view what) override { return "this " + std::string(what); }
  bool has_fine_stamps(const std::string&) override { return true; }
};

class ProofTest : public ::testing::Test {
 protected:
  using Paths = std::vector<std::string>;

  ProofTest() {
    disk_.put("/r/include/k.h", "k");
    disk_.put("/r/a.cu", "a");
    disk_.put("/r/b.cu", "b");
    disk_.put("/usr/bin/nvcc", "nvcc", 0755);
    store_ = store::LocalStore::open(disk_, clock_, "/store").value();
    places_ = {{"R", "/r"}, {"HOME", "/home/u"}, {"PATH", "/usr/bin"}};
  }

  struct Made {
    digest::Key strong;
    std::string path;
  };

  /// Records a run that reads `inputs`, finds `absent` absent, asks `more` (folded), and makes `output`.
  /// `flag` makes it another command.
  Made record(const Paths& inputs, const std::string& output, const std::string& bytes,
              const Paths& absent = {}, std::vector<model::Question> more = {},
              const std::string& flag = {}) {
    const auto bindings = engine::Bindings::of_places(places_, environment_);
    model::Derivation derivation;
    derivation.command.argv = {"nvcc", "-o", bindings.fold_or_mark(output)};
    if (!flag.empty()) derivation.command.argv.push_back(flag);
    derivation.command.cwd = bindings.fold_or_mark("/r");
    derivation.command.others = {"uid=1000", "umask=022"};
    derivation.weak_key = {digest::digest_of(output + flag).hash};
    auto& questions = derivation.paths.questions;
    for (const auto& input : inputs)
      questions.push_back({model::Aspect::content, bindings.fold_or_mark(input)});
    for (const auto& name : absent) questions.push_back({model::Aspect::kind, bindings.fold_or_mark(name)});
    questions.insert(questions.end(), more.begin(), more.end());
    std::sort(questions.begin(), questions.end());
    prove::Today now({disk_, store_->hasher(), machine_, environment_, true}, places_);
    for (const auto* known : now.ask(derivation.paths)) derivation.answers.push_back(known->answer);

    disk_.put(output, bytes);
    clock_.advance_ms(1000);
    const auto strong = model::strong_key(derivation.weak_key, derivation.paths, derivation.answers);
    const auto content = digest::digest_of(bytes);
    const auto folded = bindings.fold_or_mark(output);
    model::Record record;
    record.weak_key = derivation.weak_key;
    record.tier = model::Tier::hybrid;
    record.created_ns = clock_.now_ns();
    record.outputs.push_back({folded, NodeKind::file, 0644, model::OutputRole::plain, content, ""});
    EXPECT_TRUE(store_->put_derivation(strong, derivation).has_value());
    EXPECT_TRUE(store_->put_record(strong, record).has_value());
    EXPECT_TRUE(store_->note_made(strong, places_, {{content, output}}).has_value());
    return {strong, output};
  }

  /// a.cu and k.h -> a.o, b.cu -> b.o, both -> lib.so.
  void build() {
    a_ = record({"/r/a.cu", "/r/include/k.h", "/usr/bin/nvcc"}, "/r/build/a.o", "object a", {"/r/k.h"});
    b_ = record({"/r/b.cu", "/usr/bin/nvcc"}, "/r/build/b.o", "object b");
    lib_ = record({"/r/build/a.o", "/r/build/b.o"}, "/r/build/lib.so", "library", {},
                  {{model::Aspect::kind, "\x01R\x02/build"}});
  }

  /// A replay, or another run with the same inputs, puts `bytes` there.
  void note(const Made& made, const std::string& path, const std::string& bytes) {
    EXPECT_TRUE(store_->note_made(made.strong, places_, {{digest::digest_of(bytes), path}}).has_value());
  }

  void edit(const std::string& path, const std::string& bytes) {
    clock_.advance_ms(1000);
    disk_.put(path, bytes);
    clock_.advance_ms(1000);
  }

  /// As another process would see it.
  prove::Proof proof_of(const std::string& artifact, const prove::Trees& trees = {}) {
    store_ = store::LocalStore::open(disk_, clock_, "/store").value();
    prove::StoreEvidence evidence(*store_);
    prove::Prover prover({disk_, store_->hasher(), evidence, machine_, environment_, uid_, accept_weaker_});
    auto proof = prover.prove(artifact, trees);
    EXPECT_TRUE(proof.has_value());
    steps_ = prover.steps();
    return proof.value_or(prove::Proof{});
  }
  prove::Verdict verdict_of(const std::string& artifact, const prove::Trees& trees = {}) {
    return proof_of(artifact, trees).verdict;
  }
  /// Outputs of the chain, the artifact first, then the cause.
  Paths cause_of(const std::string& artifact, const prove::Trees& trees = {}) {
    const auto proof = proof_of(artifact, trees);
    Paths lines;
    const auto chain = chain_to_cause(steps_, proof);
    for (const auto index : chain) lines.push_back(steps_[index].output);
    if (chain.empty()) {
      lines.push_back(proof.doubt);
    } else if (proof.verdict == prove::Verdict::stale) {
      lines.push_back(model::sentence(steps_[chain.back()].differences.front()));
    } else if (proof.verdict == prove::Verdict::unknown) {
      lines.emplace_back(doubt_of(steps_[chain.back()]));
    }
    return lines;
  }

  FakeClock clock_;
  FakeFileSystem disk_{clock_};
  FakeMachine machine_;
  std::uint32_t uid_ = 1000;
  bool accept_weaker_ = false;
  model::Environment environment_ = {{"HOME", "/home/u"}, {"USER", "u"}};
  model::Places places_;
  std::unique_ptr<store::LocalStore> store_;
  prove::Steps steps_;
  Made a_;
  Made b_;
  Made lib_;
};

}  // namespace hallmark::test
