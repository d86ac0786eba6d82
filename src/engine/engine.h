// Engine: one command. Looks it up, replays it or runs it under observation, publishes, writes the depfile.
// Every decision carries its Reasons.
//
// Contract: the command's effect is delivered whatever happens to the store, the cache or the observation;
// only a command that cannot be started, or whose stdout or stderr cannot be delivered, is an Error. A replay
// is byte for byte what an execution now would make, or it does not happen.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/ports.h"
#include "model/command.h"
#include "model/observation.h"
#include "model/reason.h"
#include "observe/observer.h"
#include "os/clock.h"
#include "os/file_system.h"
#include "store/local_store.h"

namespace hallmark::engine {

struct RunOptions {
  std::string depfile;               ///< --depfile, as the caller spelled it; empty: none
  std::vector<std::string> outputs;  ///< --output, as spelled; also allow writes there
  bool restat = false;               ///< the caller's rule compares contents: equal outputs keep their mtime
  bool cache_any = false;            ///< --cache: replay a program of any kind
  std::function<bool(int)> is_ancestor;        ///< whether this process descends from that one; may be empty
  bool in_build_edge = false;                  ///< an ancestor is a build tool
  std::optional<std::int64_t> ninja_start_ns;  ///< when it started, if it is Ninja; since the epoch
  std::string root;                            ///< absolute, normal form
  std::string build_folder;                    ///< second root; empty: none found
  std::vector<std::string> ignored_variables;  ///< environment names that no compiler, assembler or linker
                                               ///< reads (defaults and configured)
  model::Tier best_tier = model::Tier::hybrid;
  std::string hallmark_program;
  std::string agent_library;
  Finisher* finisher = nullptr;  ///< of outputs; nullptr: none
};

enum class Outcome : std::uint8_t {
  replayed,     ///< nothing was executed
  published,    ///< executed and recorded
  unproven,     ///< executed, delivered, not recorded
  failed,       ///< executed, exit status not 0, not recorded
  uncacheable,  ///< executed, never looked up
};

std::string_view name_of(Outcome outcome);

struct RunResult {
  Outcome outcome{};
  int exit_code = 0;                   ///< as a shell gives it: 128 + n for signal n
  std::vector<model::Reason> reasons;  ///< why it ran, or that it was replayed; then why it was not published
  std::vector<std::string> warnings;   ///< lines for a person: only what is wrong
  digest::Key weak_key;
  std::optional<digest::Key> strong_key;
  std::int64_t wall_ns = 0;
  model::Tier tier = model::Tier::none;
  std::size_t inputs = 0;
  std::size_t outputs = 0;
  /// Of a run that is or was recorded: the regular files that stand there now as it makes them; absolute.
  std::vector<std::string> files;
};

/// Stand-ins for a test: what the engine else takes from this machine and process.
struct Ports {
  Runner& runner;
  Machine& machine;
  Streams& streams;
};

/// Runs a command under observation, and nothing else: it is neither looked up nor recorded.
Result<model::Observation> watch(os::FileSystem& files, const observe::Request& request);

/// `store` may be nullptr: the command is then observed and runs, nothing is looked up or recorded.
class Engine {
 public:
  Engine(os::FileSystem& files, os::Clock& clock, store::LocalStore* store)
      : files_(files), clock_(clock), store_(store) {}
  Engine(os::FileSystem& files, os::Clock& clock, store::LocalStore* store, Ports ports)
      : files_(files), clock_(clock), store_(store), ports_(ports) {}

  Result<RunResult> run(const model::Command& command, const RunOptions& options);

 private:
  os::FileSystem& files_;
  os::Clock& clock_;
  store::LocalStore* store_;
  std::optional<Ports> ports_;
};

}  // namespace hallmark::engine
