// EventSink: where tiers report to. The Tracker is the one of a run; tests have their own.
#pragma once

#include <string_view>

#include "model/reason.h"
#include "observe/internal/event.h"

namespace hallmark::observe {

class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void on_event(const Event& event) = 0;
  /// Something could not be seen, or must not be trusted. Equal doubts count once.
  virtual void on_doubt(model::Reason reason) = 0;
  /// Normal form of the program that the last `execute` event named; empty if there is no such file.
  virtual std::string_view last_program() const { return {}; }
  /// Whether the command itself made what a path (absolute, as spelled) leads to.
  virtual bool is_own(std::string_view, pid_t) { return false; }
};

}  // namespace hallmark::observe
