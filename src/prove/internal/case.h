// What the Prover has in hand while it judges one step.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/record.h"
#include "prove/internal/today.h"
#include "prove/prover.h"

namespace hallmark::prove {

/// Steps that it leads to come in between: no reference into Prover::steps_ may be kept.
struct Prover::Case {
  std::size_t index;
  const Origin& origin;
  const model::Derivation& derivation;
  const model::Record& record;  ///< empty if it is lost
  std::size_t depth;
  Today& today;          ///< in the tree that is looked at
  model::Tokens logged;  ///< folders as the run had them
  std::string root;      ///< of the tree that is looked at; empty: none
  std::string build_folder;
  std::set<std::string_view> gone{};     ///< folded: absent today, but a step makes them
  std::vector<std::string> made_anew{};  ///< absolute: what is made on the way to the outputs, and they
};

/// One question of the step.
struct Prover::Asked {
  const model::Question& question;
  const model::Answer& before;
  const model::Answer& now;
  const std::optional<std::string>& path;  ///< the subject today, if it is a path
};

}  // namespace hallmark::prove
