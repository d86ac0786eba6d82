// CMakeLists: which commands in a CMake file make a build depend on something that it does not look at again.
// Pure. Understands comments, quoted and bracket arguments; evaluates no variables.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace hallmark::inspect {

struct CMakeCommand {
  std::string name;  ///< lower case
  std::size_t line = 0;
  std::vector<std::string> arguments;  ///< as spelled, without their quotes
};

/// All command invocations of a file, in order; what is malformed ends the list.
std::vector<CMakeCommand> cmake_commands_in(std::string_view text);

/// file(GLOB ...) or file(GLOB_RECURSE ...) without CONFIGURE_DEPENDS.
bool is_frozen_glob(const CMakeCommand& command);

}  // namespace hallmark::inspect
