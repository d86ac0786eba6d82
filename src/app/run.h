// Use case: run one command, observed and cached.
//
// The command runs whatever is wrong with the configuration, the store or the cache: those are warnings in
// the result. An Error means that it did not run: not_found and permission speak of the command's program,
// all other kinds of hallmark itself.
#pragma once

#include <string>
#include <vector>

#include "app/session.h"
#include "base/result.h"
#include "engine/engine.h"

namespace hallmark::app {

struct RunRequest {
  std::vector<std::string> argv;     ///< not empty
  std::string depfile;               ///< as spelled; empty: none
  std::vector<std::string> outputs;  ///< as spelled
  bool restat = false;
  bool cache_any = false;
  engine::Finisher* finisher = nullptr;  ///< of outputs; nullptr: none
};

Result<engine::RunResult> run(const Session& session, const RunRequest& request);

}  // namespace hallmark::app
