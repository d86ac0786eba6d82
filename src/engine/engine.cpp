#include "engine/engine.h"

#include "engine/internal/action.h"
#include "engine/internal/linux_ports.h"
#include "engine/plain_hasher.h"

namespace hallmark::engine {

std::string_view name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::replayed:
      return "replayed";
    case Outcome::published:
      return "published";
    case Outcome::unproven:
      return "unproven";
    case Outcome::failed:
      return "failed";
    case Outcome::uncacheable:
      return "uncacheable";
  }
  return "unknown";
}

Result<model::Observation> watch(os::FileSystem& files, const observe::Request& request) {
  PlainHasher hasher(files);
  return ObserverRunner(files, hasher).run(request);
}

Result<RunResult> Engine::run(const model::Command& command, const RunOptions& options) {
  PlainHasher plain(files_);
  digest::ContentHasher& hasher = store_ != nullptr ? store_->hasher() : plain;
  if (ports_) return Action({files_, clock_, store_, hasher, *ports_}, command, options).run();
  ObserverRunner runner(files_, hasher);
  LinuxMachine machine(files_, clock_);
  LinuxStreams streams;
  return Action({files_, clock_, store_, hasher, {runner, machine, streams}}, command, options).run();
}

}  // namespace hallmark::engine
