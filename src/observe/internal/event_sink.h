// EventSink: where tiers report to. The Tracker is the one of a run; tests have their own.
#pragma once

#include "model/reason.h"
#include "observe/internal/event.h"

namespace hallmark::observe {

class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void on_event(const Event& event) = 0;
  /// Something could not be seen, or must not be trusted. Equal doubts count once.
  virtual void on_doubt(model::Reason reason) = 0;
};

}  // namespace hallmark::observe
