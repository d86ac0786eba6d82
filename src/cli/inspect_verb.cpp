#include "cli/inspect_verb.h"

#include <algorithm>

#include "app/inspect.h"
#include "cli/exit_code.h"
#include "cli/inspect_view.h"
#include "cli/terminal.h"

namespace hallmark::cli {
namespace {

int exit_code_of(const app::Inspection& found) {
  if (std::any_of(found.files.begin(), found.files.end(),
                  [](const app::InspectedFile& file) { return file.problem.has_value(); }))
    return kUsage;
  const bool collide = std::any_of(
      found.collisions.begin(), found.collisions.end(),
      [](const inspect::Collision& collision) { return collision.harmless == inspect::Harmless::no; });
  return collide || !found.lacks.empty() || !found.unknown.empty() ? kNegative : kOk;
}

}  // namespace

int inspect_verb(const Parsed& parsed, const app::Session& session) {
  if (parsed.operands.empty()) {
    complain("name a FILE, as in `hallmark inspect build/libkernels.so`");
    return kUsage;
  }
  app::InspectRequest request;
  request.files.assign(parsed.operands.begin(), parsed.operands.end());
  request.devices = parsed.values("--arch");
  const auto found = app::inspect_files(session, request);
  if (!found.has_value()) {
    complain(found.error().message());
    return cli::exit_code_of(found.error().kind);
  }
  for (const auto& file : found->files) {
    if (file.problem) complain(file.problem->message());
  }
  if (!print(parsed.has("--json") ? inspection_json(*found) : inspection_text(*found, parsed.has("--all")))) {
    complain("cannot write to stdout; is the disk full?");
    return kEnvironment;
  }
  return exit_code_of(*found);
}

}  // namespace hallmark::cli
