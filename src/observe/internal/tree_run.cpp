#include "observe/internal/tree_run.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/limits.h"
#include "observe/internal/call_reader.h"
#include "observe/internal/survivors.h"
#include "os/clock.h"

namespace hallmark::observe {
namespace {

constexpr int kKickPeriod_ms =
    2;  // a kick that comes just before the blocking call is lost; so it is repeated
constexpr int kKillRounds = 100;  // each reaches the children of those that the round before it killed
constexpr std::int64_t kNanosInMilli = 1'000'000;
constexpr std::uint64_t kBytesInKilo = 1024;

/// Whether the command ended because somebody told it to: by the signal, or by a shell's word for it.
bool was_told_to_end(int wait_status) {
  const auto is_request = [](int signal) {
    return signal == SIGINT || signal == SIGQUIT || signal == SIGTERM || signal == SIGHUP;
  };
  if (WIFSIGNALED(wait_status)) return is_request(WTERMSIG(wait_status));
  return WIFEXITED(wait_status) && is_request(WEXITSTATUS(wait_status) - 128);
}

void signal_event(int descriptor) {
  const std::uint64_t one = 1;
  if (::write(descriptor, &one, sizeof one) < 0) return;  // full: it is readable already
}

void clear_event(int descriptor) {
  std::uint64_t count;
  if (::read(descriptor, &count, sizeof count) < 0) return;  // nothing there
}

}  // namespace

TreeRun::TreeRun(const model::Command& command, SignalGuard& signals, Streams& streams, TierRun* tier,
                 EventSink& sink)
    : command_(command),
      signals_(signals),
      streams_(streams),
      tier_(tier),
      sink_(sink),
      launcher_(command, streams.for_child(), signals.original()),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

TreeRun::~TreeRun() {
  if (watcher_.joinable()) end_watcher();
}

void TreeRun::start_watcher() {
  if (tier_ == nullptr) return;
  if (tier_->reaps()) {
    tier_->set_on_end([this](pid_t process, int wait_status, const rusage& usage) {
      {
        const std::lock_guard lock(ends_mutex_);
        ends_.push_back({process, wait_status, usage});
      }
      signal_event(wake_.get());
    });
  }
  watcher_ = std::thread([this] {
    const pid_t child = launcher_.await_child();
    if (child == 0) {
      attached_ = fail(Error{ErrorKind::unsupported, "no process could be made", {}});
    } else {
      attached_ = tier_->attach(child);
      if (attached_) tier_->watch(sink_);
    }
    watcher_done_.store(true);
    signal_event(wake_.get());
  });
}

void TreeRun::end_watcher() {
  pollfd done{wake_.get(), POLLIN, 0};
  while (!watcher_done_.load()) {
    if (::poll(&done, 1, kKickPeriod_ms) > 0) clear_event(wake_.get());
    if (watcher_done_.load()) break;
    tier_->stop();
    SignalGuard::kick(watcher_.native_handle());
  }
  watcher_.join();
  take_ends();
}

Error TreeRun::why_command_failed() const {
  const int error = launcher_.error();
  if (launcher_.folder_failed()) return Error::from_errno("enter", command_.cwd, error);
  Error why = Error::from_errno("execute", command_.argv.front(), error);
  if (error == ENOENT && command_.argv.front().find('/') == std::string::npos) {
    why.what = "command not found: " + command_.argv.front();
  }
  why.kind = error == ENOENT || error == ENOTDIR ? ErrorKind::no_command : ErrorKind::bad_command;
  return why;
}

TreeRun::Outcome TreeRun::run() {
  start_watcher();
  const Launcher::Outcome started = launcher_.start(tier_);
  streams_.close_child_ends();
  if (started == Launcher::Outcome::running) {
    loop();
    if (watcher_.joinable()) end_watcher();
    return Outcome::ended;
  }
  if (launcher_.child() > 0 && (tier_ == nullptr || !tier_->reaps())) {
    while (::waitpid(launcher_.child(), nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  if (watcher_.joinable()) end_watcher();
  if (started == Launcher::Outcome::command_failed) {
    failure_ = why_command_failed();
    return Outcome::command_failed;
  }
  failure_ =
      attached_ ? Error::from_errno("start", "the watched process", launcher_.error()) : attached_.error();
  return Outcome::tier_failed;
}

void TreeRun::loop() {
  os::Clock& clock = os::system_clock();
  std::int64_t deadline_ns = 0;  // set once the command itself ended
  std::vector<pollfd> polled;
  const bool tier_reaps = tier_ != nullptr && tier_->reaps();
  for (;;) {
    if (main_ended_ && tree_empty_ && !streams_.outputs_open()) return;
    int timeout_ms = -1;
    if (main_ended_) {
      const std::int64_t now_ns = clock.steady_ns();
      if (deadline_ns == 0) {
        deadline_ns = now_ns + limits::kSurvivorGrace_ms * kNanosInMilli;
        if (was_told_to_end(wait_status_)) signal_rest(SIGTERM);
      }
      if (now_ns >= deadline_ns) break;
      timeout_ms = static_cast<int>((deadline_ns - now_ns) / kNanosInMilli) + 1;
    }
    polled.clear();
    polled.push_back({signals_.descriptor(), POLLIN, 0});
    polled.push_back({wake_.get(), POLLIN, 0});
    streams_.add_to(polled);
    if (::poll(polled.data(), polled.size(), timeout_ms) < 0) continue;  // EINTR
    if (polled[0].revents != 0) take_signals();
    if (polled[1].revents != 0) {
      clear_event(wake_.get());
      take_ends();
    }
    streams_.pump(polled);
    if (!tier_reaps) reap();
    if (tier_reaps && watcher_done_.load()) tree_empty_ = true;
  }
  if (was_told_to_end(wait_status_)) kill_rest();
  streams_.drain();
  if (!tree_empty_) return leave_survivors();
  if (watcher_.joinable()) end_watcher();
  sink_.on_doubt(
      {model::ReasonCode::survivor, "stdout or stderr", {}, {}});  // held by a process that we never saw
}

void TreeRun::take_signals() {
  signalfd_siginfo info;
  while (::read(signals_.descriptor(), &info, sizeof info) == sizeof info) {
    if (info.ssi_signo == SIGWINCH) streams_.resize_terminals();
    // Not SIGINT and SIGQUIT: they nearly always go to the whole group, as Ninja and a terminal send them,
    // and a command with a handler must not get them twice.
    if (SignalGuard::is_forwarded(info.ssi_signo) && !main_ended_) {
      ::kill(launcher_.child(), static_cast<int>(info.ssi_signo));
    }
  }
}

void TreeRun::take_ends() {
  std::vector<End> ends;
  {
    const std::lock_guard lock(ends_mutex_);
    ends.swap(ends_);
  }
  for (const End& end : ends) on_end(end.process, end.wait_status, end.usage);
}

void TreeRun::reap() {
  for (;;) {
    int wait_status = 0;
    rusage usage;
    const pid_t process = ::wait4(-1, &wait_status, WNOHANG, &usage);
    if (process > 0) {
      on_end(process, wait_status, usage);
    } else {
      if (process < 0 && errno == ECHILD) tree_empty_ = true;
      return;
    }
  }
}

void TreeRun::on_end(pid_t process, int wait_status, const rusage& usage) {
  peak_rss_bytes_ = std::max(peak_rss_bytes_, static_cast<std::uint64_t>(usage.ru_maxrss) * kBytesInKilo);
  if (process != launcher_.child()) return;
  main_ended_ = true;
  wait_status_ = wait_status;
}

std::vector<pid_t> TreeRun::rest_of_tree() const {
  // We are the subreaper: who lost its parent is our child. The guardian is none of the tree.
  std::vector<pid_t> rest = children_of_this_process();
  std::erase(rest, tier_ != nullptr ? tier_->helper() : -1);
  return rest;
}

bool TreeRun::signal_rest(int signal) const {
  const std::vector<pid_t> rest = rest_of_tree();
  for (const pid_t process : rest) ::kill(process, signal);
  return !rest.empty();
}

/// Ctrl-C means all of it: a background child of a shell ignores SIGINT, and would go on for nobody.
void TreeRun::kill_rest() {
  for (int round = 0; round < kKillRounds && signal_rest(SIGKILL); ++round) {
    pollfd ended{wake_.get(), POLLIN, 0};
    if (::poll(&ended, 1, kKickPeriod_ms) > 0) clear_event(wake_.get());
    if (tier_ != nullptr && tier_->reaps()) {
      take_ends();
    } else {
      reap();
    }
  }
  tree_empty_ = rest_of_tree().empty();
}

void TreeRun::leave_survivors() {
  std::vector<std::string> survivors;
  for (const pid_t child : rest_of_tree()) survivors.push_back(program_of(child));
  if (survivors.empty()) survivors.emplace_back("a process");
  look_after_survivors(
      {tier_ != nullptr ? tier_->listener() : -1, streams_.out_source(), streams_.err_source()});
  if (watcher_.joinable()) end_watcher();  // from here on the sink is ours
  for (std::string& program : survivors) {
    sink_.on_doubt({model::ReasonCode::survivor, std::move(program), {}, {}});
  }
}

}  // namespace hallmark::observe
