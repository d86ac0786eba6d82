// MakeAsker: asks GNU Make what it would do, so that nothing is made.
//
// `make -nB --trace` tells each target with all its prerequisites and the lines of its recipe. But Make makes
// the makefiles that it includes again, also with -n, unless they are goals of the command line (GNU Make
// manual, "How Makefiles Are Remade"). So each make is started twice: once to list what it reads, stopped
// before it considers any target, and once with all of that among its goals. Sub-makes are asked in the same
// way: $(MAKE) is hallmark.
//
// What runs all the same, as in every `make -n`: $(shell ...), lines with + or $(MAKE), and rules for
// makefiles that are included and missing.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "model/command.h"
#include "os/file_system.h"

namespace hallmark::app {

struct MakeAnswer {
  std::string trace;     ///< for inspect::parse_make_trace
  bool is_whole = true;  ///< Make did not complain
};

struct MakeQuestion {
  std::vector<std::string> arguments;  ///< of make
  std::string cwd;
  std::string program;  ///< hallmark-full, which stands for sub-makes
};

/// Errors: no_command (make is not installed), limit, io.
Result<MakeAnswer> ask_make(os::FileSystem& files, const model::Environment& environment,
                            const MakeQuestion& question);

/// The verb of hallmark-full that asks a sub-make.
inline constexpr const char* kAskMakeVerb = "ask-make";

}  // namespace hallmark::app
