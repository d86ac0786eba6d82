// Prover: walks from artifacts through recorded commands to their sources and compares each input with
// today's disk.
//
// Contract: executes nothing and changes nothing but the hasher's memory of files. A record
// that is lost, damaged or leads in a circle makes the verdict unknown. Not thread-safe. One Prover sees one
// world: it asks the disk for each thing once, however many artifacts it judges.
//
// Who made a file is looked up by its bytes and its absolute path: the last run or replay that put these
// bytes there, with the folders that it had. The command is judged as it was recorded; that a build would now
// run it with other words (another flag, another response file) is not seen.
//
// A step that nobody recorded is weighed by what its build tool knows (weigh.cpp); that shows staleness only.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "digest/content_hasher.h"
#include "engine/ports.h"
#include "model/record.h"
#include "os/file_system.h"
#include "prove/evidence.h"
#include "prove/proof.h"

namespace hallmark::prove {

class Today;
class Unrecorded;

/// The trees in which the inputs of an artifact are looked for.
struct Trees {
  std::optional<std::string> only;  ///< this one, wherever the artifact was made
  /// The tree that the artifact lies in. It counts if no run is known to have put the artifact there and it
  /// has its place in this tree (a tree that was copied or moved). A copy elsewhere is judged where it was
  /// made.
  std::optional<std::string> around;
};

class Prover {
 public:
  struct Tools {
    os::FileSystem& files;
    digest::ContentHasher& hasher;
    Evidence& evidence;
    engine::Machine& machine;
    const model::Environment& environment;  ///< for values that are no places: USER and the like
    std::uint32_t uid = 0;                  ///< of whoever asks
    bool accept_weaker = false;  ///< a step that nobody recorded is fresh if nothing speaks against it
  };

  explicit Prover(Tools tools);
  Prover(const Prover&) = delete;
  Prover& operator=(const Prover&) = delete;
  ~Prover();

  /// `artifact`: absolute; a link is followed. `bytes`: where its bytes are read instead, if not empty (a
  /// file that a process has mapped and that has lost its name). Fails if they cannot be read.
  Result<Proof> prove(const std::string& artifact, const Trees& trees, const std::string& bytes = {});

  /// As above, for what the run `strong` made, whatever became of its bytes since: a stamp names the run.
  Proof prove_run(const std::string& artifact, const digest::Key& strong, const Trees& trees);

  /// A build of Ninja that may make what lies outside of its folder. Errors: as BuildGraph::read.
  Status know_build(const std::string& folder);

  /// Of all proofs so far.
  const Steps& steps() const& { return steps_; }
  Steps steps() && { return std::move(steps_); }

 private:
  /// A recorded run, with the folders that it had, seen in a tree (nullopt: its own).
  struct Origin {
    digest::Key strong;
    digest::Key places;
    std::optional<std::string> root;
    auto operator<=>(const Origin&) const = default;
  };
  using Makers = std::vector<Evidence::Maker>;
  struct Case;
  struct Asked;
  struct Scales;

  std::optional<std::size_t> best_of(const Makers& makers, const std::optional<std::string>& root,
                                     const std::string& output, std::size_t depth, const digest::Key* reader);
  std::string made_as(const Evidence::Maker& maker, const std::optional<std::string>& root);
  bool is_same_command(const digest::Key& a, const digest::Key& b);
  std::size_t step(const Origin& origin, const std::string& output, std::size_t depth);
  void doubt_origin(std::size_t index, std::string why);
  void judge(Case& run);
  static bool shows_tree(const Case& run, const model::Question& question);
  bool judge_input(Case& run, const Asked& asked);
  void judge_answer(Case& run, const Asked& asked);
  std::optional<std::size_t> maker_of(Case& run, const Asked& asked);
  std::optional<std::string> why_no_source(Case& run, const Asked& asked);
  bool is_source_of_copy(const Makers& makers, const std::string& path);
  bool is_of_same_command(const Asked& asked, std::size_t maker);
  void finish_step(std::size_t index);
  std::optional<std::size_t> weigh(const std::string& output, std::size_t depth);
  void weigh_edge(Scales& scales);
  void weigh_input(Scales& scales, const std::string& path, std::string who, const std::string& named = {});
  bool is_merely_loaded(const Case& run, const std::string& path);
  std::optional<std::size_t> recorded_or_weighed(const std::string& path, std::size_t depth);
  const model::Places* logged_places(const digest::Key& key);
  Today& today_at(const model::Places& places, bool same_user);

  Tools tools_;
  Steps steps_;
  std::vector<bool> judged_;  ///< parallel to steps_; false: on the way to it
  std::map<Origin, std::size_t> known_;
  std::map<digest::Key, std::optional<model::Places>> places_;
  std::map<std::pair<model::Places, bool>, std::unique_ptr<Today>> todays_;
  std::unique_ptr<Unrecorded> unrecorded_;
  std::map<std::string, std::size_t> weighed_;  ///< by output
};

}  // namespace hallmark::prove
