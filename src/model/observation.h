// Observation: what a command really used and made, as seen by room observe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/file_stat.h"
#include "digest/digest.h"
#include "model/reason.h"

namespace hallmark::model {

/// How a process tree is watched, best first.
enum class Tier : std::uint8_t { hybrid = 1, notify = 2, ptrace = 3, none = 4 };

std::string_view name_of(Tier tier);

/// The way in which a path mattered. A path may be used in several ways; each is one ObservedInput.
enum class Use : std::uint8_t {
  content = 1,  ///< opened for reading, or executed
  kind = 2,     ///< looked at: exists or not, file or folder, executable or not
  listing = 3,  ///< a folder whose names were read
  link = 4,     ///< a symbolic link that was followed or read
  size = 5,     ///< a file that was looked at, never read, by a program for which its size can matter
  mtime = 6,    ///< the same for its modification time
};

/// One use of a path that the command did not itself make before.
struct ObservedInput {
  std::string path;  ///< normal form: absolute, no "." or "..", no links above the last component
  Use use{};
  /// State at the event. nullopt: the path was absent.
  std::optional<FileStat> stat;
  /// Set if the content had to be read at the event: before the command's own write to it, or /proc and /sys.
  std::optional<digest::Digest> digest;
  std::string target;              ///< of a link
  std::vector<std::string> names;  ///< of a listing: what the command saw, less what it made itself; sorted
  /// The command then made the path itself, in a way that depended on this state.
  bool before_own_change = false;
};

/// A path that the command left behind other than it found it.
struct ObservedOutput {
  std::string path;                ///< normal form
  NodeKind kind = NodeKind::file;  ///< at the end
  bool whole = true;  ///< truncated, created or renamed over, so that nothing of the old bytes is left
  std::optional<FileStat> before;  ///< state before the command's first change to it; nullopt: absent
  /// A folder that the command made and whose other names would have counted: it listed it, missed a name in
  /// it that it does not make, or saw that there was none before.
  bool searched = false;
};

/// A path that existed and that the command removed for good.
struct ObservedRemoval {
  std::string path;
  NodeKind kind = NodeKind::file;
};

/// A program that was executed, in order of first execution, each path once.
struct ObservedProgram {
  std::string path;  ///< as the kernel resolved it
  std::string name;  ///< last component of the path as it was asked for (busybox-style programs differ)
};

struct Counters {
  std::uint64_t slow_events = 0;  ///< through the supervisor
  std::uint64_t fast_events = 0;  ///< through the agent's ring
  std::uint64_t processes = 0;    ///< executions
};

/// Bytes that the command wrote to a stream.
struct CapturedStream {
  std::string bytes;
  bool truncated = false;  ///< longer than kStreamCaptureBytes; all of it was still passed on
};

struct Observation {
  std::vector<ObservedInput> inputs;    ///< sorted by path, then use
  std::vector<ObservedOutput> outputs;  ///< sorted by path
  std::vector<ObservedRemoval> removals;
  std::vector<ObservedProgram> programs;
  /// Reasons for which the result is unproven. Empty: it may be published.
  std::vector<Reason> doubts;
  /// What is worth knowing and no doubt: tier_degraded.
  std::vector<Reason> notes;
  Tier tier = Tier::none;
  int wait_status = 0;  ///< as waitpid gives it
  CapturedStream out;   ///< both streams, in order, if Command::merged
  CapturedStream err;
  /// Why bytes of stdout or stderr were lost on their way to the caller: the run has failed, whatever the
  /// command says. Not set if their reader went away.
  std::optional<Error> undelivered;
  bool stdin_used = false;                     ///< something was, or may have been, read from stdin
  std::optional<digest::Digest> stdin_digest;  ///< of all bytes from the start offset; set if known
  std::int64_t start_ns = 0;                   ///< since the epoch
  std::int64_t wall_ns = 0;
  std::uint64_t peak_rss_bytes = 0;  ///< largest single process
  Counters counters;
};

}  // namespace hallmark::model
