// Evidence: what is known of who made what, of what. A store knows what its users recorded; an attestation
// knows the steps of its own artifact (prove/chain.h).
//
// Contract: as of store::DerivationStore, which has the words' meaning. Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "digest/digest.h"
#include "model/record.h"
#include "store/local_store.h"

namespace hallmark::prove {

class Evidence {
 public:
  using Maker = store::DerivationStore::Maker;
  virtual ~Evidence() = default;

  virtual Result<std::vector<Maker>> makers_of(const digest::Digest& content,
                                               std::optional<std::uint64_t> place = std::nullopt) = 0;
  virtual Result<std::optional<Maker>> last_maker_at(std::uint64_t place) = 0;
  virtual Result<bool> has_all_notes() = 0;
  virtual Result<std::optional<model::Places>> places(const digest::Key& key) = 0;
  virtual Result<std::optional<model::Derivation>> derivation(const digest::Key& strong) = 0;
  virtual Result<std::optional<model::Record>> record(const digest::Key& strong) = 0;

  /// Why the origin of something that the run read could not be told already when this evidence was written.
  virtual std::vector<std::string> doubts_of(const digest::Key& strong) = 0;
  /// Whether it came along with an artifact: it knows of no later run that may have put other bytes in the
  /// place of what a step made, and not where the tree was.
  virtual bool is_carried() const = 0;
};

/// What a store has recorded. The store outlives it.
class StoreEvidence final : public Evidence {
 public:
  explicit StoreEvidence(store::LocalStore& store) : store_(store) {}

  Result<std::vector<Maker>> makers_of(const digest::Digest& content,
                                       std::optional<std::uint64_t> place) override {
    return store_.makers_of(content, place);
  }
  Result<std::optional<Maker>> last_maker_at(std::uint64_t place) override {
    return store_.last_maker_at(place);
  }
  Result<bool> has_all_notes() override { return store_.has_all_notes(); }
  Result<std::optional<model::Places>> places(const digest::Key& key) override { return store_.places(key); }
  Result<std::optional<model::Derivation>> derivation(const digest::Key& strong) override {
    return store_.derivation(strong);
  }
  Result<std::optional<model::Record>> record(const digest::Key& strong) override {
    return store_.record(strong);
  }
  std::vector<std::string> doubts_of(const digest::Key&) override { return {}; }
  bool is_carried() const override { return false; }

 private:
  store::LocalStore& store_;
};

}  // namespace hallmark::prove
