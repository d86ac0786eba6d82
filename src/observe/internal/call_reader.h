// CallReader: from a watched system call (its number and arguments) to an Event. Shared by the notify and
// ptrace tiers.
//
// Contract: reads the calling thread's memory and /proc/<thread>, so the thread must be stopped in the call.
// What cannot be read becomes a doubt. One thread.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/limits.h"
#include "observe/internal/event_sink.h"
#include "observe/internal/network.h"
#include "observe/internal/process_memory.h"
#include "observe/internal/syscall_table.h"

namespace hallmark::observe {

struct Call {
  pid_t thread = 0;
  std::uint64_t number = 0;
  std::array<std::uint64_t, 6> arguments{};
};

class CallReader {
 public:
  enum class Outcome : std::uint8_t {
    event,    ///< `event` is filled
    nothing,  ///< the call touches no path (or fails before it does); doubts, if any, were reported
    gone,     ///< the thread ended meanwhile
  };

  /// The texts of `event` stay valid until the next call.
  Outcome read(const Call& call, const SyscallRule& rule, EventSink& sink, Event& event);

  /// What /proc/<process>/fd/0 of the command reads as: calls on another descriptor 0 are not about our
  /// stdin.
  void set_stdin_target(std::string target) { stdin_target_ = std::move(target); }
  /// Whether a process asked for, copied or waited for our standard input.
  bool stdin_wanted() const { return stdin_wanted_; }

 private:
  struct Spelled {
    std::array<char, limits::kPathBytes> text;
    std::string absolute;
  };

  Outcome read_path_call(const Call& call, const SyscallRule& rule, EventSink& sink, Event& event);
  Outcome read_list(const Call& call, EventSink& sink, Event& event);
  Outcome read_network(const Call& call, const SyscallRule& rule, EventSink& sink, Event& event);
  /// The path in argument `path` behind the folder in argument `folder`, absolute. An empty path stands for
  /// the folder's descriptor itself if `empty_is_folder`.
  Outcome read_path(const Call& call, int folder, int path, bool empty_is_folder, EventSink& sink,
                    Spelled& into);
  Outcome make_absolute(pid_t thread, int folder, std::string_view path, EventSink& sink, std::string& into);
  void read_stdin_call(const Call& call, const SyscallRule& rule);
  bool waits_for_stdin(const Call& call, const SyscallRule& rule);
  bool has_our_stdin(pid_t thread);
  Outcome failed(MemoryRead result, pid_t thread, EventSink& sink);

  ProcessMemory memory_;
  NetworkJudge network_;
  Spelled first_;
  Spelled second_;
  bool other_roots_ = false;  // a process may have another root folder than we
  std::string stdin_target_;
  bool stdin_wanted_ = false;
};

/// The program that a thread runs, for a person.
std::string program_of(pid_t thread);

}  // namespace hallmark::observe
