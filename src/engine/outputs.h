// Outputs: which results of a command may be published (rule 2).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/command.h"
#include "model/observation.h"
#include "model/reason.h"
#include "os/file_system.h"

namespace hallmark::engine {

/// Where a command may make files: below one of the folders, or at or below one of the named outputs. All
/// absolute.
struct Territory {
  std::vector<std::string> folders;
  std::vector<std::string> outputs;
  bool holds(const std::string& path) const;
};

/// Every Reason that the observation itself gives against publishing. Empty: none.
std::vector<model::Reason> doubts_of(const model::Observation& observation, const Territory& territory);

/// Takes folders without anything in them that the command left in one of the `temporary` folders (hipcc
/// does) out of the outputs: nobody looks for them there.
void drop_litter(model::Observation& observation, os::FileSystem& files,
                 const std::vector<std::string>& temporary);

/// Takes out of the doubts the removal of companions of what the command makes (Finisher::companion_suffix).
void forgive_companions(const model::Observation& observation, std::string_view suffix,
                        std::vector<model::Reason>& doubts);

/// As a shell gives it: 128 + n for signal n.
int exit_code_of(int wait_status);

/// `path` as spelled by a command that works in `cwd`, absolute, "." and ".." taken away by text.
std::string absolute_path(const std::string& cwd, const std::string& path);

}  // namespace hallmark::engine
