// Use cases that prove: whether artifacts are what today's files give, and where they come from.
#pragma once

#include <string>
#include <vector>

#include "app/session.h"
#include "base/result.h"
#include "prove/proof.h"

namespace hallmark::app {

struct Proofs {
  std::vector<prove::Proof> proofs;
  prove::Steps steps;      ///< of all of them
  std::size_t others = 0;  ///< files of a process that are not judged
};

/// What makes an artifact fresh.
enum class Accept : std::uint8_t {
  records,  ///< of hallmark, of each step
  weaker,   ///< of steps without a record: Ninja's graph and logs, #include lines, and times of files
};

/// `spelled` from the working folder, with every link resolved if it exists.
std::string real_or_spelled(const Session& session, const std::string& spelled);

/// One proof for each of `artifacts`, as spelled. What cannot be read is unknown, with the reason. With
/// --root (or HALLMARK_ROOT) the inputs are looked for in that tree; else where each artifact was made, and
/// in the trees around it and around the working folder. What the store does not know is judged by its stamp
/// and attestation. Executes nothing. `attestation`: where that of the one artifact is, as spelled; empty:
/// beside each.
Result<Proofs> prove(const Session& session, const std::vector<std::string>& artifacts,
                     Accept accept = Accept::records, const std::string& attestation = {});

/// Of those of `files` (absolute) that a recorded command made or that lie below the session's root.
Result<Proofs> prove_loaded(const Session& session, const std::vector<std::string>& files);

/// Of each artifact of a build folder of Ninja or Make. Errors: invalid (it is none).
Result<Proofs> prove_build(const Session& session, const std::string& folder,
                           Accept accept = Accept::records);

/// Of each file that a process executes code from: those that a recorded command made, and those below the
/// session's root. The bytes that count are those that are mapped, also where their name
/// leads to others by now. Errors: not_found (no such process), permission.
Result<Proofs> prove_process(const Session& session, int process, const std::string& proc = "/proc");

}  // namespace hallmark::app
