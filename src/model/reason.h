// Reason: why hallmark decided as it did. Every decision has at least one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "digest/encoding.h"

namespace hallmark::model {

/// The numbers are stored: never change one, only add. docs/reasons.md explains each to a person.
enum class ReasonCode : std::uint16_t {
  // Why the command ran instead of being replayed.
  first_run = 1,         ///< no earlier record of this command
  argument_changed = 2,  ///< subject: index; before, after
  variable_changed = 3,  ///< subject: the environment variable
  working_folder_changed = 4,
  stream_changed = 5,        ///< subject: stdin, stdout or stderr
  content_changed = 6,       ///< subject: the file
  appeared = 7,              ///< subject: a name that was absent
  vanished = 8,              ///< subject: a name that existed
  kind_changed = 9,          ///< subject: a path that is another kind of node now
  listing_changed = 10,      ///< subject: the folder
  link_changed = 11,         ///< subject: the symbolic link
  program_changed = 12,      ///< subject: the name looked up in PATH
  loader_changed = 13,       ///< subject: the soname that ld.so.cache answers differently
  attribute_changed = 14,    ///< subject: a file whose size or mtime counts
  bound_value_changed = 15,  ///< subject: root, HOME, ...: the result contains the old value
  machine_changed = 16,      ///< subject: cpu features, gpu, date, umask, uid
  stdin_changed = 17,
  record_unreadable = 18,   ///< corrupt or unreadable record or blob; before: what
  outputs_in_the_way = 19,  ///< subject: an output, or a stranger beside one; before: why it stays
  record_missing = 20,      ///< states seen before, but the record was dropped

  // Why it was not looked up at all, or not published.
  disabled = 40,  ///< HALLMARK_DISABLE
  not_cacheable_kind =
      41,                 ///< not a known deterministic program, and neither build edge, --output nor --cache
  command_failed = 42,    ///< before: the exit status; subject: the signal that killed it
  not_observed = 43,      ///< no tier works here, or the tier is `none`
  observation_lost = 44,  ///< a process died in the middle of an access, or an event could not be read
  network_used = 45,      ///< subject: the address
  survivor = 46,          ///< a process outlived the command; subject: its program
  input_changed = 47,     ///< subject: an input that changed while the command ran
  input_racy = 48,        ///< subject: an input written within a clock tick of its use
  write_in_place = 49,    ///< subject: a file changed without being made whole
  write_elsewhere = 50,   ///< subject: a file made outside root, working folder and --output
  removed_foreign = 51,   ///< subject: an existing file that was removed and is no output
  stdin_unbounded = 52,   ///< stdin is a tty that was read, or longer than kStdinBytes
  inherited_descriptor = 53,  ///< subject: number and target
  privileged = 54,            ///< subject: a setuid program or one with file capabilities
  foreign_cache = 55,         ///< subject: sccache, distcc, icecc: the remedy is in `after`
  limit_reached = 56,         ///< subject: the limit's name
  foreign_architecture = 57,  ///< subject: a program whose system calls are not x86-64
  stream_too_long = 58,       ///< stdout or stderr longer than kStreamCaptureBytes
  unreadable_process = 59,    ///< subject: a process whose memory may not be read
  volatile_input = 60,        ///< subject: a path whose bytes cannot be checked again
  special_output = 61,        ///< subject: an output that is a device, socket or fifo
  store_unusable = 62,        ///< the store cannot be read or written; before: why
  clock_used = 63,            ///< a read text holds __DATE__, __TIME__ or __TIMESTAMP__; subject: the file
  timestamp_read = 64,        ///< subject: a program for which mtimes count
  output_undelivered = 65,    ///< subject: stdout or stderr, which nobody takes any more; before: why
  linked_file_changed = 66,   ///< subject: a changed file that has further names
  channel_used = 67,          ///< subject: the call that shares memory, a queue or keys with other processes

  // What is worth knowing of a published or replayed result.
  replayed = 80,
  published = 81,
  nondeterministic = 82,  ///< the same inputs made other bytes; subject: the output
  waited = 83,            ///< an equal command was running; subject: its process
  ccache_bypassed = 84,   ///< a ccache link on PATH was run with CCACHE_DISABLE=1
  tier_degraded = 85,     ///< subject: the tier; before: why a better one did not work

  // What a build tool's own graph and logs show of a step that nobody recorded.
  newer_than_output = 100,  ///< subject: what is read; before: the output; after: who says that it is read
  command_not_run = 101,    ///< subject: an output that another command made than the build's of today
};

/// Stands in `before` or `after` for a value that is not there (an unset variable, an argument past the end);
/// "" is a value that is there and empty.
inline constexpr std::string_view kUnset = "(unset)";

struct Reason {
  ReasonCode code{};
  std::string subject;
  std::string before;
  std::string after;

  auto operator<=>(const Reason&) const = default;
};

/// The stable name of a code, as `--json` shows it: "content_changed".
std::string_view name_of(ReasonCode code);

/// One English sentence without a full stop, naming subject and values.
std::string sentence(const Reason& reason);

void encode(digest::Encoder& out, const Reason& reason);
Reason decode_reason(digest::Decoder& in);

}  // namespace hallmark::model
