// Ports: what the engine needs of the world besides files, clock and store, so that a test can stand in for
// it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "digest/digest.h"
#include "model/command.h"
#include "model/observation.h"
#include "model/record.h"
#include "observe/observer.h"
#include "os/clock.h"
#include "os/file_system.h"

namespace hallmark::engine {

/// Runs a command under observation.
class Runner {
 public:
  virtual ~Runner() = default;
  virtual Result<model::Observation> run(const observe::Request& request) = 0;
};

/// Facts of this machine that no file of a path set shows. Not thread-safe.
class Machine {
 public:
  virtual ~Machine() = default;
  /// What a question of Aspect::machine asks: "cpu", "gpu", "date", "host" or "arch"; nullopt for any other
  /// word.
  virtual std::optional<std::string> identity(std::string_view what) = 0;
  /// Whether two changes of a file of this folder within one clock tick have different ctimes as soon as
  /// somebody looked between them (multigrain time stamps: Linux 6.13 on ext4, xfs, btrfs and tmpfs).
  virtual bool has_fine_stamps(const std::string& folder) = 0;
};

/// This one.
std::unique_ptr<Machine> this_machine(os::FileSystem& files, os::Clock& clock);

/// The standard streams of this process.
class Streams {
 public:
  virtual ~Streams() = default;
  /// Writes all of it to stdout (1) or stderr (2). Where its reader went away, nothing is missed: no Error.
  virtual Status write(int stream, std::string_view bytes) = 0;
  /// Digest of all that stdin holds from where it stands; nullopt if that cannot be told (a terminal, longer
  /// than kStdinBytes). A pipe is emptied to find out; feed_back() gives its bytes to whoever reads stdin
  /// next.
  virtual std::optional<digest::Digest> digest_of_stdin(model::StreamKind kind) = 0;
  /// After digest_of_stdin: stdin is again as it was before, for a command that is about to run.
  virtual Status feed_back() = 0;
  /// After a replay: a file on stdin stands at its end, as the command that read it would have left it.
  virtual void skip_stdin(model::StreamKind kind) = 0;
  /// Whether a file on stdin stands at its end.
  virtual bool stdin_at_end() = 0;
};

/// Puts a last touch to the outputs of a run that is about to be recorded: what it gives is what stands on
/// the disk, what is recorded, and what a replay brings back.
class Finisher {
 public:
  virtual ~Finisher() = default;
  /// What it does, for the weak key: the option that asks for it and its version, "--name=version".
  virtual std::string_view name() const = 0;
  /// What an output of the run shall be instead; nullopt: it stays as it is. Depends on nothing else.
  virtual Result<std::optional<std::string>> finish(std::string_view output, const digest::Key& strong,
                                                    const model::Derivation& derivation) = 0;
  /// What ends the names of files that are put beside outputs after each run and replay. They are no outputs;
  /// the command may remove its own.
  virtual std::string_view companion_suffix() const = 0;
};

}  // namespace hallmark::engine
