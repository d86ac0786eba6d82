#include "app/watched_run.h"

#include <utility>

namespace hallmark::app {

observe::Request request_to_watch(const Session& session, model::Command command) {
  observe::Request request;
  request.command = std::move(command);
  request.hallmark_program = session.installation.program;
  request.agent_library = session.installation.agent;
  request.best = session.settings.disable.value ? model::Tier::none : session.settings.observe.value;
  if (!session.settings.store.value.empty()) request.invisible.push_back(session.settings.store.value);
  return request;
}

}  // namespace hallmark::app
