// What the commands of a Ninja build make.
#pragma once

#include <set>
#include <string>

#include "inspect/ninja_manifest.h"

namespace hallmark::prove {

/// The outputs of all edges that run a command, absolute; without those that make the build's own files again
/// (`generator`). `folder`: where Ninja runs.
std::set<std::string> outputs_of_commands(const inspect::NinjaManifest& manifest, const std::string& folder);

}  // namespace hallmark::prove
