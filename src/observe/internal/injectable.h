// Injectable: whether a program would load the agent, and can stand it.
#pragma once

#include <string>

#include "os/file_system.h"

namespace hallmark::observe {

/// What keeps the agent out of a program. Such a program is seen through the supervisor alone, call by call.
enum class AgentObstacle : std::uint8_t {
  none,
  unreadable,  ///< not there, not readable, not an ELF program of this machine, damaged
  own_loader,  ///< static, or its loader is not glibc's: nobody reads /etc/ld.so.preload
  privileged,  ///< setuid, setgid: not our business
  sanitizer,   ///< its run-time library insists on being the first one loaded
};

/// Looks into the file: header, interpreter, names of the libraries it needs. A script is judged by its
/// interpreter's file: ask for that one.
AgentObstacle agent_obstacle(os::FileSystem& files, const std::string& program);

/// Whether the loader can take the agent: else it would complain in every process of the command.
Status check_agent_library(os::FileSystem& files, const std::string& path);

}  // namespace hallmark::observe
