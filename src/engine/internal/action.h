// Action: one call of Engine::run, from its key to its result.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "engine/environment.h"
#include "engine/internal/depfile_step.h"
#include "engine/keys.h"
#include "engine/kinds.h"
#include "engine/lookup.h"
#include "engine/outputs.h"
#include "engine/program_search.h"
#include "engine/questions.h"
#include "engine/replay.h"
#include "engine/states.h"

namespace hallmark::engine {

class Action {
 public:
  struct Tools {
    os::FileSystem& files;
    os::Clock& clock;
    store::LocalStore* store;  ///< nullptr: none
    digest::ContentHasher& hasher;
    Ports ports;
  };

  Action(Tools tools, const model::Command& asked, const RunOptions& options);

  Result<RunResult> run();

 private:
  States::World world();
  void bypass_ccache();
  std::optional<model::Reason> why_not_looked_up();
  /// True if the outputs stand as an execution would have left them.
  Result<bool> look_up_and_replay();
  Result<bool> replay(const Hit& hit, States& states, std::int64_t start_ns);
  bool read_streams(const Hit& hit, std::string& out, std::string& err);
  void note_replayed(const Hit& hit);
  void note_unproven(const model::Observation& observation);
  void remember_outputs(const Lookup& lookup);
  Status execute();
  Status finish_execution(const model::Observation& observation);
  bool publish(const model::Observation& observation, Asked asked,
               const std::map<std::string, std::string>& depfiles);
  Status tell_build_tool(const model::Observation& observation, const Asked& asked, States& states,
                         const std::map<std::string, std::string>& depfiles, bool succeeded);
  bool asks_for_native() const;
  digest::ClockWords named_clock_words() const;
  Territory territory() const;
  void warn(std::string line);

  Tools tools_;
  ProgramFile program_;
  model::Command command_;
  const RunOptions& options_;
  std::vector<std::string> response_files_;  ///< absolute
  std::vector<std::string> words_;           ///< argv with response files expanded
  Arguments arguments_;
  std::string output_;  ///< as spelled: the first --output, or -o
  Bindings bindings_;
  DepfileStep depfile_;
  CommandKey key_;
  digest::Key site_;
  bool looked_up_ = false;
  /// With restat: outputs as they stood before the command ran, with the digest of their bytes.
  std::map<std::string, digest::ContentHasher::Hashed> earlier_outputs_;
  std::unique_ptr<os::FileLock> lock_;
  RunResult result_;
};

}  // namespace hallmark::engine
