// Places: the root, the build folder, the parts of the installation, and whether a build tool asked.
//
// Rule 8 of the design: the root is the nearest folder that holds .hallmark, else the git top level, else the
// working folder; the build folder is a second root. Nothing is executed to find out; only the file system is
// asked.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "os/file_system.h"

namespace hallmark::app {

/// The nearest folder at or above `folder` that holds .hallmark, else the git top level, else nullopt.
std::optional<std::string> find_marked_root(os::FileSystem& files, std::string_view folder);

/// The root for a command started in `cwd` (absolute, normal form).
std::string find_root(os::FileSystem& files, std::string_view cwd);

/// The nearest folder at or above `cwd` that CMake or Ninja made (build.ninja, .ninja_log, CMakeCache.txt);
/// else the nearest with a makefile; empty if there is none.
std::string find_build_folder(os::FileSystem& files, std::string_view cwd);

/// A build tool that is at work.
struct BuildTool {
  std::string name;                          ///< "ninja", "make", ...
  std::optional<std::uint64_t> start_ticks;  ///< when it started: clock ticks since the machine started
};

/// The build tool among the ancestors of process `from`; nullopt if there is none or the process table cannot
/// be read. Looks at limits::kAncestorHops processes at most. `proc` is /proc, or a test's.
std::optional<BuildTool> build_tool_above(os::FileSystem& files, pid_t from,
                                          const std::string& proc = "/proc");
bool is_ninja(const BuildTool& tool);

/// Whether `process` is `from` or one of its ancestors; false if the process table cannot be read.
bool is_ancestor(os::FileSystem& files, pid_t process, pid_t from, const std::string& proc = "/proc");

/// The files of this installation, from the place of the running program.
struct Installation {
  std::string program;  ///< <prefix>/bin/hallmark, absolute; the running program itself if it is that one
  std::string full_program;  ///< <prefix>/libexec/hallmark-full
  std::string agent;         ///< <prefix>/lib/hallmark-agent.so; empty if it is not installed
};

/// From /proc/self/exe, or without /proc from the path that the kernel was asked to execute.
Result<Installation> find_installation(os::FileSystem& files);

}  // namespace hallmark::app
