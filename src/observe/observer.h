// Observer: runs one command, watches its whole process tree, says what it used and made.
//
// Contract: run() starts the command, passes stdin, terminal, signals and both output streams through live,
// waits for the tree and returns an Observation. It fails only if the command could not be started (the
// Error's kind: not_found for an absent program, permission for one that cannot be executed) or hallmark
// itself failed. Whatever could not be seen is a Reason in Observation::doubts: an observation without doubts
// is complete. One run at a time per process (signals and the child reaper are the process's). Never writes
// to the file system, except through the command.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "digest/content_hasher.h"
#include "model/command.h"
#include "model/observation.h"
#include "os/file_system.h"

namespace hallmark::observe {

using digest::ContentHasher;

struct Request {
  model::Command command;  ///< environment: exactly what the command gets
  /// Path prefixes (normal form) that are neither input nor output: the store.
  std::vector<std::string> invisible;
  /// /proc/self/exe of hallmark. A path that a nested process of this program looks at counts as read by the
  /// command: the inner hallmark looks at everything that its own decision depends on.
  std::string hallmark_program;
  /// The agent library of the hybrid tier; empty: none is installed, hybrid degrades to notify.
  std::string agent_library;
  /// A file that remembers for which programs the agent pays (observe/internal/hints.h); empty: inject
  /// always.
  std::string hints_file;
  /// Whether what the command says will be kept. If not, a terminal is handed to it as it is: a program that
  /// draws on the whole screen wants the one that the keyboard belongs to.
  bool keep_output = true;
  /// The best tier that may be used.
  model::Tier best = model::Tier::hybrid;
};

/// What one tier can do here.
struct TierStatus {
  model::Tier tier{};
  bool works = false;
  std::string why;  ///< why not, or what is limited; empty if all is well
};

class Observer {
 public:
  Observer(os::FileSystem& files, ContentHasher& hasher) : files_(files), hasher_(hasher) {}

  /// Falls from tier to tier until one works; Observation::tier says which one did, a tier_degraded Reason
  /// why.
  Result<model::Observation> run(const Request& request);

 private:
  os::FileSystem& files_;
  ContentHasher& hasher_;
};

/// Tries each tier on a child of its own. Takes some tens of milliseconds: for `doctor` and tests, not for
/// `run`.
std::vector<TierStatus> probe_tiers(const std::string& agent_library);

}  // namespace hallmark::observe
