// BuildReader: the graph of whatever build lies in a folder.
#pragma once

#include <string>

#include "app/session.h"
#include "base/result.h"
#include "prove/build_graph.h"

namespace hallmark::app {

/// Of Ninja its files are read. Of Make, Make itself is asked (app/make_asker.h). Of neither:
/// compile_commands.json. `folder`: absolute, without links. Errors: invalid (none of the three), no_command
/// (make is not installed), io.
Result<prove::BuildGraph> read_build(const Session& session, const std::string& folder);

}  // namespace hallmark::app
