// Keys: the weak key of a command, and its site.
#pragma once

#include <span>
#include <string>

#include "digest/digest.h"
#include "engine/environment.h"
#include "model/command.h"
#include "model/record.h"

namespace hallmark::engine {

/// Raised whenever the meaning of keys, questions or answers changes: older entries are then never found.
inline constexpr std::uint64_t kKeyFormat = 2;

struct CommandKey {
  digest::Key weak;
  model::CommandText text;  ///< all that went into it, folded
};

/// `machine` is Machine::identity("arch"), `finisher` Finisher::name(), empty if there is none.
/// Deterministic; touches nothing.
CommandKey key_of(const model::Command& command, const Bindings& bindings, PwdKind pwd,
                  std::span<const std::string> ignored, std::string_view machine,
                  std::string_view finisher = {});

/// Names the place of a command in a build: the same folder and the same output (or, without one, the same
/// program and last argument), whatever the arguments.
digest::Key site_of(const model::Command& command, const std::string& root, const std::string& output);

/// MAKEFLAGS without what cannot change a result: job count and load, jobserver, order of output, messages
/// about folders. `flags`: make's own options count, too; a compiler reads none of them, whatever it was
/// started below.
std::string counted_makeflags(std::string_view value, bool flags);

}  // namespace hallmark::engine
