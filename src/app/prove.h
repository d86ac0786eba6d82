// Use cases that prove: whether artifacts are what today's files give, and where they come from.
#pragma once

#include <string>
#include <vector>

#include "app/session.h"
#include "base/result.h"
#include "prove/proof.h"

namespace hallmark::app {

struct Proofs {
  std::vector<prove::Proof> proofs;  ///< parallel to the artifacts
  prove::Steps steps;                ///< of all of them
};

/// `spelled` from the working folder, with every link resolved if it exists.
std::string real_or_spelled(const Session& session, const std::string& spelled);

/// `artifacts` as spelled. What cannot be read is unknown, with the reason. With --root (or HALLMARK_ROOT)
/// the inputs are looked for in that tree; else where each artifact was made, and in the trees around it and
/// around the working folder. Executes nothing.
Result<Proofs> prove(const Session& session, const std::vector<std::string>& artifacts);

}  // namespace hallmark::app
