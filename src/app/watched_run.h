// A command that is observed, and neither looked up nor recorded.
#pragma once

#include "app/session.h"
#include "model/command.h"
#include "observe/observer.h"

namespace hallmark::app {

/// As the settings of a session say. The tier is the best that they allow.
observe::Request request_to_watch(const Session& session, model::Command command);

}  // namespace hallmark::app
