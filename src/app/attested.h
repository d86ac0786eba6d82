// Attested: judges a file whose bytes the store does not know: by the stamp that it bears, if the store knows
// the run, else by the attestation beside it.
//
// A stamp that does not fit the file's code makes it stale; one that cannot be read, or a missing or foreign
// attestation, makes it unknown. Executes nothing. Not thread-safe.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/attestation.h"
#include "app/session.h"
#include "digest/content_hasher.h"
#include "engine/ports.h"
#include "inspect/stamp.h"
#include "prove/prover.h"

namespace hallmark::app {

class Attested {
 public:
  struct Tools {
    const Session& session;
    digest::ContentHasher& hasher;
    engine::Machine& machine;
    prove::Prover* by_store;  ///< nullptr: there is no store
    std::string attestation;  ///< where it is, absolute; empty: beside each artifact
  };

  explicit Attested(Tools tools) : tools_(std::move(tools)) {}

  /// `bytes`: where they are read. nullopt: it bears no stamp and has no attestation, or cannot be read.
  /// Steps of a proof by attestation are in steps(); else in those of the store's Prover.
  std::optional<prove::Proof> prove(const std::string& artifact, const prove::Trees& trees,
                                    const std::string& bytes);

  /// Whether there may be something to say of a file outside of every tree: its attestation is there.
  bool has_attestation(const std::string& artifact) const;

  const prove::Steps& steps() const& { return steps_; }
  prove::Steps steps() && { return std::move(steps_); }

 private:
  prove::Proof by_store(const prove::Proof& asked, const prove::Trees& trees,
                        const inspect::Stamped& stamped);
  std::string attestation_of(const std::string& artifact) const;
  Result<prove::Proof> by_attestation(const std::string& artifact, const prove::Trees& trees,
                                      std::string_view bytes, const std::optional<inspect::Stamped>& stamped);
  Result<std::string> tree_of(const prove::Chain& chain, const prove::Trees& trees) const;

  Tools tools_;
  prove::Steps steps_;
};

}  // namespace hallmark::app
