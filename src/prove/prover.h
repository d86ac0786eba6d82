// Prover: walks from artifacts through recorded commands to their sources and compares each input with
// today's disk.
//
// Contract: executes nothing and changes nothing but the store's digests of files that it hashed. A record
// that is lost, damaged or leads in a circle makes the verdict unknown. Not thread-safe. One Prover sees one
// world: it asks the disk for each thing once, however many artifacts it judges.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/ports.h"
#include "model/record.h"
#include "os/file_system.h"
#include "prove/proof.h"
#include "store/local_store.h"

namespace hallmark::prove {

class Today;

/// The trees in which the inputs of an artifact are looked for.
struct Trees {
  std::optional<std::string> only;  ///< this one, wherever the artifact was made
  /// Else the one in which the artifact is an output in its very place: where it was made, or one of these.
  /// For a copy elsewhere: where it was made, then these.
  std::vector<std::string> more;
};

class Prover {
 public:
  struct Tools {
    os::FileSystem& files;
    store::LocalStore& store;
    engine::Machine& machine;
    const model::Environment& environment;
  };

  explicit Prover(Tools tools);
  Prover(const Prover&) = delete;
  Prover& operator=(const Prover&) = delete;
  ~Prover();

  /// `artifact`: absolute; a link is followed. `bytes`: where its bytes are read instead, if not empty (a
  /// file that a process has mapped and that has lost its name). Fails if they cannot be read.
  Result<Proof> prove(const std::string& artifact, const Trees& trees, const std::string& bytes = {});

  /// Of all proofs so far.
  const Steps& steps() const { return steps_; }

 private:
  /// A recorded run, seen in a tree; no root: the tree where it ran.
  struct Origin {
    digest::Key strong;
    std::optional<std::string> root;
    auto operator<=>(const Origin&) const = default;
  };
  struct Case;
  struct Asked;
  struct Candidate {
    Origin origin;
    std::string output;
    digest::Key weak;
    bool in_place = false;
  };

  std::vector<Candidate> candidates(const digest::Digest& content,
                                    const std::vector<store::DerivationStore::Maker>& makers,
                                    const std::string& artifact, const Trees& trees);
  digest::Key weak_key_of(const digest::Key& strong);
  std::size_t step(const Origin& origin, const std::string& output, std::size_t depth);
  void judge(Case& run);
  bool judge_input(Case& run, const Asked& asked);
  void judge_answer(Case& run, const Asked& asked);
  std::optional<std::size_t> maker_of(const Case& run, const Asked& asked);
  bool is_of_same_command(const Asked& asked, std::size_t maker);
  Today& today_at(const model::Places& places);

  Tools tools_;
  Steps steps_;
  std::vector<bool> judged_;  ///< parallel to steps_; false: on the way to it
  std::map<Origin, std::size_t> known_;
  std::map<model::Places, std::unique_ptr<Today>> todays_;
};

}  // namespace hallmark::prove
