// Use case: run one command as app/run.h does, stamp what it made, and put an attestation beside each
// artifact.
//
// A replay brings the stamped bytes back; attestations are written anew after each run and replay, as what
// lies below the command in the chain may have changed though the command's own record has not. A run that
// cannot be recorded is not stamped, and a warning says why.
#pragma once

#include "app/run.h"

namespace hallmark::app {

Result<engine::RunResult> run_stamped(const Session& session, const RunRequest& request);

}  // namespace hallmark::app
