// Describes the command that this process was asked to run: its words, and what of this process it will
// inherit.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/command.h"

namespace hallmark::app {

/// This process's environment. Of a name that occurs twice the first counts, as getenv has it.
model::Environment current_environment();

/// The working folder, links resolved.
Result<std::string> current_folder();

/// Must be called while the process has one thread: the umask can be read only by setting it.
model::Command describe_command(std::vector<std::string> argv, model::Environment environment,
                                std::string cwd);

}  // namespace hallmark::app
