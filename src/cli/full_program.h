// hallmark-full, seen from the hot program: the verbs that it hands over, and the configuration that it has
// compiled.
#pragma once

#include <string>

#include "base/result.h"

namespace hallmark::cli {

/// Becomes hallmark-full with the words of this process. Returns only if that fails, with an exit code.
int hand_over(char** argv);

/// What `hallmark-full compile-config ROOT` prints. Its complaints become the Error.
Result<std::string> compile_config_elsewhere(const std::string& root);

}  // namespace hallmark::cli
