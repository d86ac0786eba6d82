// Chain: the recorded steps from an artifact to its sources, as an attestation carries them, so that the
// Prover can judge the artifact where no store is.
//
// A step is what the Prover asks of a store: the derivation, what the run made, its folders. Nothing in a
// chain depends on when or in which checkout it was written: folders below the root stand as tokens, and
// those that the step does not mention are left out. docs/formats/stamp.md has the bytes.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "model/record.h"
#include "prove/evidence.h"
#include "prove/proof.h"

namespace hallmark::prove {

/// Of one chain, unpacked; a longer one is not written and not read.
inline constexpr std::size_t kChainBytes = 256u << 20;

/// A file that a step made.
struct ChainOutput {
  std::string path;  ///< folded
  digest::Digest content;
  auto operator<=>(const ChainOutput&) const = default;
};

struct ChainStep {
  digest::Key strong;
  model::Places places;              ///< values folded by the root, which is among them
  model::Derivation derivation;      ///< without the environment, which may hold secrets
  std::vector<ChainOutput> outputs;  ///< sorted
  std::vector<std::string> doubts;   ///< folded: where inputs came from could not be told
  bool operator==(const ChainStep&) const = default;
};

struct Chain {
  std::vector<ChainStep> steps;  ///< the artifact's own first
  bool operator==(const Chain&) const = default;
};

/// A file that no step of the chain made.
struct Leaf {
  std::string path;  ///< absolute
  digest::Digest content;
  bool in_tree = false;  ///< below the root, wherever that is
  auto operator<=>(const Leaf&) const = default;
};

/// The chain of an artifact that was proven by `evidence`. `content`: of its bytes. Errors: not_found (its
/// own step is not recorded), limit, and those of the evidence.
Result<Chain> chain_of(const Steps& steps, const Proof& proof, const digest::Digest& content,
                       Evidence& evidence);

/// As they are called in the tree `root`; sorted, none twice.
std::vector<Leaf> leaves_of(const Chain& chain, const std::string& root);

/// The leaves below the root, named from there, in no order; one that several steps read comes several times.
std::vector<std::string> sources_in_tree(const Chain& chain);

/// Names what a run read: a digest of the paths (folded) and contents of all files.
digest::Key inputs_key(const model::Derivation& derivation);

/// Errors: limit.
Result<std::string> encode(const Chain& chain);
/// Errors: corrupt, newer_format.
Result<Chain> decode_chain(std::string_view bytes);
/// The encoded chain as a zstd frame, and back. Errors: corrupt, limit.
Result<std::string> pack_chain(std::string_view encoded);
Result<std::string> unpack_chain(std::string_view frame);

/// A chain, which outlives it, seen in the tree `root`.
class ChainEvidence final : public Evidence {
 public:
  ChainEvidence(const Chain& chain, const std::string& root);

  Result<std::vector<Maker>> makers_of(const digest::Digest& content,
                                       std::optional<std::uint64_t> place) override;
  Result<std::optional<Maker>> last_maker_at(std::uint64_t place) override;
  /// What was lost when the chain was written stands among its doubts.
  Result<bool> has_all_notes() override { return true; }
  Result<std::optional<model::Places>> places(const digest::Key& key) override;
  Result<std::optional<model::Derivation>> derivation(const digest::Key& strong) override;
  Result<std::optional<model::Record>> record(const digest::Key& strong) override;
  std::vector<std::string> doubts_of(const digest::Key& strong) override;
  bool is_carried() const override { return true; }

 private:
  const Chain& chain_;
  std::string root_;
  std::multimap<digest::Key, const ChainStep*> steps_;  ///< by strong key
  std::map<digest::Key, model::Places> places_;         ///< as they are in the tree
  std::unordered_multimap<digest::Sha256, Maker, digest::HashOfSha256> by_content_;
  std::unordered_map<std::uint64_t, Maker> by_place_;
};

}  // namespace hallmark::prove
