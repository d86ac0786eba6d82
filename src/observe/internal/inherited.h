// Descriptors beyond the standard streams that the command would inherit from hallmark's caller.
//
// Shells, terminals and build services leak descriptors that nobody below them knows of. A command can use
// one only if it is told its number (in an argument or a variable), or if the number is one digit, as scripts
// agree on them. Those are passed on and make the result unproven; all others are withheld, so that they
// cannot matter (docs/adr/0006-withheld-descriptors.md).
#pragma once

#include <string>
#include <vector>

#include "model/command.h"

namespace hallmark::observe {

/// Marks the withheld ones close-on-exec in this process. Returns "number -> target" for each that the
/// command will get, less those of make's jobserver and the null device.
std::vector<std::string> settle_inherited_descriptors(const model::Command& command);

/// The named pipe of make's jobserver (make 4.4 and later), empty if there is none: using it is no access to
/// the world.
std::string jobserver_pipe_of(const model::Environment& environment);

}  // namespace hallmark::observe
