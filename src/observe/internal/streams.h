// Streams: the three standard streams of a command: what the child gets, what is passed on, what is kept.
//
// stdout and stderr go through a pipe, or a pseudo-terminal where the caller's is a terminal (unless nobody
// wants to keep what is said), and are passed on as they come; up to limits::kStreamCaptureBytes are kept. A
// caller's pipe on stdin is passed on only once the command asks for it, so that a command that does not read
// takes nothing away from whoever reads after it; the bytes are hashed. One thread (the main loop);
// want_stdin() may be called from any.
#pragma once

#include <poll.h>
#include <sys/stat.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "digest/digest.h"
#include "model/command.h"
#include "model/observation.h"
#include "observe/internal/descriptor.h"
#include "observe/internal/filter.h"
#include "observe/internal/launcher.h"

namespace hallmark::observe {

/// One captured stream.
class CapturedOutput {
 public:
  /// `target`: our own descriptor that receives what the command writes.
  Status open(int target, model::StreamKind kind);
  int child_end() const { return child_end_.get(); }
  void close_child_end() { child_end_.reset(); }
  int source() const { return source_.get(); }
  bool is_open() const { return source_.is_open(); }
  /// Reads what is there and passes it on. Closes the source at its end, or when nobody takes the bytes any
  /// more (the command then gets SIGPIPE, as it would without us; also where it would have got another
  /// error).
  void pump();
  void resize_terminal();
  model::CapturedStream take() { return std::move(captured_); }
  /// 0, or the errno with which the target refused bytes.
  int refusal() const { return refusal_; }
  const char* name() const;

 private:
  void pass_on(std::string_view bytes);
  void keep(std::string_view bytes);

  int target_ = -1;
  bool is_terminal_ = false;
  int refusal_ = 0;
  Descriptor source_;
  Descriptor child_end_;
  model::CapturedStream captured_;
};

class Streams {
 public:
  Streams();

  /// `watched`: a tier will call want_stdin(); otherwise the command gets the caller's stdin itself. `keep`:
  /// what it says is wanted; otherwise it gets the caller's terminals themselves.
  Status open(const model::Command& command, bool watched, bool keep = true);
  ChildStreams for_child() const { return child_; }
  FilterOptions::StdinWatch stdin_watch() const { return watch_; }
  /// What /proc/<child>/fd/0 reads as.
  const std::string& stdin_target() const { return stdin_target_; }
  void close_child_ends();

  /// The command asked for stdin. Any thread, async-signal-safe.
  void want_stdin();

  /// Adds what the main loop must wait for; pump() then looks at the same entries.
  void add_to(std::vector<pollfd>& polled) const;
  void pump(const std::vector<pollfd>& polled);
  void resize_terminals();
  /// Passes on what is still in the pipes, without waiting.
  void drain();
  bool outputs_open() const { return out_.is_open() || err_.is_open(); }

  /// Fills the stream part of an Observation.
  void finish(model::Observation& into);

  int out_source() const { return out_.source(); }
  int err_source() const { return err_.source(); }

 private:
  Status open_stdin(model::StreamKind kind, bool watched);
  void pump_stdin();

  ChildStreams child_;
  CapturedOutput out_;
  CapturedOutput err_;
  bool merged_ = false;

  model::StreamKind in_kind_ = model::StreamKind::null_device;
  FilterOptions::StdinWatch watch_ = FilterOptions::StdinWatch::unwatched;
  std::string stdin_target_;
  std::atomic<bool> wanted_{false};
  Descriptor wake_;        // eventfd: wanted_ became true
  Descriptor stdin_read_;  // the child's end; kept to count what it left
  Descriptor stdin_write_;
  std::string stdin_buffer_;  // read, not yet written
  std::uint64_t stdin_bytes_ = 0;
  bool stdin_ended_ = false;
  bool stdin_too_long_ = false;
  digest::Hasher stdin_hasher_;
  off_t stdin_start_ = -1;
  struct stat stdin_before_ {};  ///< of a file: what is hashed at the end must be what the command read
};

}  // namespace hallmark::observe
