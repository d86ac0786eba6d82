#include "observe/observer.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <memory>

#include "observe/internal/hybrid_fast_path.h"
#include "observe/internal/inherited.h"
#include "observe/internal/notify_tier.h"
#include "observe/internal/process_info.h"
#include "observe/internal/ptrace_tier.h"
#include "observe/internal/signals.h"
#include "observe/internal/streams.h"
#include "observe/internal/tracker.h"
#include "observe/internal/tree_run.h"
#include "os/clock.h"

namespace hallmark::observe {
namespace {

using model::ReasonCode;
using model::Tier;

/// The path of the command's program if it would gain privileges that being watched takes away; else empty.
std::string privileged_program(const model::Command& command) {
  if (!needs_no_new_privileges()) return {};
  for (const std::string& candidate : candidates_of(command.argv.front(), command.environment)) {
    struct stat status;
    if (::access(candidate.c_str(), X_OK) != 0 || ::stat(candidate.c_str(), &status) != 0) continue;
    if (!S_ISREG(status.st_mode)) continue;
    const bool gains =
        (status.st_mode & (S_ISUID | S_ISGID)) != 0 || linux_process_info().has_capabilities(candidate);
    return gains ? candidate : std::string();
  }
  return {};
}

class Subreaper {
 public:
  Subreaper() {
    ::prctl(PR_GET_CHILD_SUBREAPER, &before_);
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  }
  ~Subreaper() { ::prctl(PR_SET_CHILD_SUBREAPER, before_); }
  Subreaper(const Subreaper&) = delete;
  Subreaper& operator=(const Subreaper&) = delete;

 private:
  int before_ = 0;
};

/// One tier with what it needs, for one attempt.
struct Attempt {
  std::unique_ptr<HybridFastPath> fast_path;
  std::unique_ptr<TierRun> tier;  // null: unwatched
};

Status prepare(TierRun& tier) {
  // Working folders and descriptors of other processes are read from there.
  if (::access("/proc/self/cwd", F_OK) != 0) {
    return fail(
        Error{ErrorKind::unsupported, "/proc is not mounted", "mount it, e.g. mount -t proc proc /proc"});
  }
  return tier.prepare();
}

Attempt make_attempt(os::FileSystem& files, const Request& request, Tier tier, Streams& streams) {
  Attempt attempt;
  const auto wanted = [&streams] { streams.want_stdin(); };
  switch (tier) {
    case Tier::hybrid:
      attempt.fast_path = std::make_unique<HybridFastPath>(files, request.agent_library, request.hints_file);
      [[fallthrough]];
    case Tier::notify:
      attempt.tier = std::make_unique<NotifyTier>(
          NotifyTier::Options{streams.stdin_watch(), streams.stdin_target(), wanted},
          attempt.fast_path.get());
      break;
    case Tier::ptrace:
      attempt.tier = std::make_unique<PtraceTier>(
          PtraceTier::Options{streams.stdin_watch(), streams.stdin_target(), wanted});
      break;
    case Tier::none:
      break;
  }
  return attempt;
}

constexpr const char* kProbeProgram = "/bin/true";

/// What a tier must report of the probe's run.
class Probe final : public EventSink {
 public:
  void on_event(const Event& event) override { seen_ = seen_ || event.path == kProbeProgram; }
  void on_doubt(model::Reason reason) override { doubt_ = model::sentence(reason); }
  bool seen() const { return seen_; }
  const std::string& doubt() const { return doubt_; }

 private:
  bool seen_ = false;
  std::string doubt_;
};

std::vector<Tier> tiers_to_try(const Request& request) {
  std::vector<Tier> tiers;
  for (const Tier tier : {Tier::hybrid, Tier::notify, Tier::ptrace, Tier::none}) {
    if (tier < request.best) continue;
    tiers.push_back(tier);
  }
  return tiers;
}

TierStatus probe_tier(const Request& request, Tier tier, SignalGuard& signals) {
  if (tier == Tier::hybrid && request.agent_library.empty())
    return {tier, false, "no agent library is installed"};
  Streams streams;
  if (const Status ready = streams.open(request.command, tier != Tier::none); !ready) {
    return {tier, false, ready.error().message()};
  }
  Attempt attempt = make_attempt(os::linux_file_system(), request, tier, streams);
  if (attempt.tier != nullptr) {
    if (const Status ready = prepare(*attempt.tier); !ready) return {tier, false, ready.error().message()};
  }
  Probe probe;
  TreeRun run(request.command, signals, streams, attempt.tier.get(), probe);
  if (run.run() != TreeRun::Outcome::ended) return {tier, false, run.failure().message()};
  if (tier != Tier::none && !probe.seen()) return {tier, false, "what the probe did was not reported"};
  return {tier, true, probe.doubt()};
}

}  // namespace

Result<model::Observation> Observer::run(const Request& request) {
  model::Observation observation;
  SignalGuard signals;
  const Subreaper subreaper;
  os::Clock& clock = os::system_clock();
  for (std::string& descriptor : settle_inherited_descriptors(request.command)) {
    observation.doubts.push_back({ReasonCode::inherited_descriptor, std::move(descriptor), {}, {}});
  }
  TrackerOptions tracked{request.invisible, request.hallmark_program, !needs_no_new_privileges()};
  if (std::string pipe = jobserver_pipe_of(request.command.environment); !pipe.empty()) {
    tracked.invisible.push_back(std::move(pipe));
  }
  std::vector<Tier> tiers = tiers_to_try(request);
  if (std::string program = privileged_program(request.command); !program.empty()) {
    observation.doubts.push_back({ReasonCode::privileged, std::move(program), {}, {}});
    tiers = {Tier::none};
  }

  for (const Tier tier : tiers) {
    Streams streams;
    HALLMARK_CHECK(streams.open(request.command, tier != Tier::none, request.keep_output));
    Tracker tracker(files_, hasher_, linux_process_info(), tracked);
    if (tier == Tier::hybrid && request.agent_library.empty()) continue;
    Attempt attempt = make_attempt(files_, request, tier, streams);
    if (attempt.tier != nullptr) {
      const Status ready = prepare(*attempt.tier);
      if (!ready) {
        observation.notes.push_back(
            {ReasonCode::tier_degraded, std::string(name_of(tier)), ready.error().message(), {}});
        continue;
      }
    }
    observation.start_ns = clock.now_ns();
    const std::int64_t started_ns = clock.steady_ns();
    TreeRun run(request.command, signals, streams, attempt.tier.get(), tracker);
    switch (run.run()) {
      case TreeRun::Outcome::command_failed:
        return fail(run.failure());
      case TreeRun::Outcome::tier_failed:
        if (tier == Tier::none) return fail(run.failure());
        observation.notes.push_back(
            {ReasonCode::tier_degraded, std::string(name_of(tier)), run.failure().message(), {}});
        continue;
      case TreeRun::Outcome::ended:
        break;
    }
    observation.wall_ns = clock.steady_ns() - started_ns;
    observation.tier = tier;
    observation.wait_status = run.wait_status();
    observation.peak_rss_bytes = run.peak_rss_bytes();
    if (attempt.tier != nullptr) observation.counters = attempt.tier->counters();
    observation.counters.processes = tracker.executions();
    if (tier == Tier::none) observation.doubts.push_back({ReasonCode::not_observed, {}, {}, {}});
    tracker.finish(observation);
    streams.finish(observation);
    return observation;
  }
  return fail(Error{ErrorKind::unsupported, "no way to run the command", {}});
}

std::vector<TierStatus> probe_tiers(const std::string& agent_library) {
  Request request;
  request.command.argv = {kProbeProgram};
  std::array<char, PATH_MAX> folder;
  if (::getcwd(folder.data(), folder.size()) != nullptr) request.command.cwd = folder.data();
  request.command.in = request.command.out = request.command.err = model::StreamKind::closed;
  request.agent_library = agent_library;
  SignalGuard signals;
  const Subreaper subreaper;
  std::vector<TierStatus> statuses;
  for (const Tier tier : {Tier::hybrid, Tier::notify, Tier::ptrace, Tier::none}) {
    statuses.push_back(probe_tier(request, tier, signals));
  }
  return statuses;
}

}  // namespace hallmark::observe
