// Use case: what works on this machine, and why the rest does not.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/session.h"
#include "observe/observer.h"

namespace hallmark::app {

struct ToolFound {
  std::string name;
  std::string path;  ///< empty: not on PATH
};

struct Diagnosis {
  std::string kernel;                      ///< release and machine
  std::vector<observe::TierStatus> tiers;  ///< best first
  bool store_usable = false;
  bool store_read_only = false;
  std::string store_problem;     ///< empty if usable
  std::string store_filesystem;  ///< "ext4", "nfs", or a number
  bool store_on_network = false;
  std::vector<ToolFound> tools;

  /// The tier that a run would use; nullopt: none works.
  std::optional<model::Tier> best_tier() const;
  /// Commands can be observed, and the store can be read and written.
  bool healthy() const;
};

/// Takes some tens of milliseconds: each tier is tried on a process.
Diagnosis diagnose(const Session& session);

}  // namespace hallmark::app
