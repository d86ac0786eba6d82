// Attestation: the statement `ARTIFACT.intoto.json` that lies beside an artifact: an in-toto Statement v1
// with a SLSA provenance v1 predicate. It names every file that the artifact was made of, and carries the
// chain of recorded steps, by which the artifact is judged where no store is. docs/formats/stamp.md describes
// it.
//
// Nothing is signed: it binds against mix-ups, not against forgers.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "digest/digest.h"
#include "prove/chain.h"

namespace hallmark::app {

inline constexpr std::string_view kAttestationSuffix = ".intoto.json";
inline constexpr std::size_t kAttestationBytes = 512u << 20;  ///< a larger one is not read

struct Attestation {
  std::string name;          ///< of the artifact, without its folder
  digest::Sha256 content{};  ///< of its bytes
  prove::Chain chain;
};

/// One line. Equal attestations are equal bytes; nothing in them names the checkout or the hour. Errors:
/// limit.
Result<std::string> to_json(const Attestation& attestation);

/// Bytes of any origin. Errors: corrupt, unsupported (a statement of something else), limit, newer_format.
Result<Attestation> parse_attestation(std::string_view json);

}  // namespace hallmark::app
