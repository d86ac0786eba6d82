// PtraceTier: the tree is traced. There are two ways to do it:
//
//   - picked: a seccomp filter picks the watched calls (SECCOMP_RET_TRACE), the rest runs at full speed;
//   - every call: each system call stops twice (PTRACE_SYSCALL), and the filter is evaluated here. Slow, but
//     the only way below an outer hallmark, whose USER_NOTIF outranks our TRACE and would leave us blind.
//
// Which one is decided in prepare(), by trying whether an outer supervisor is there.
//
// Needs Linux 5.3 (PTRACE_GET_SYSCALL_INFO), and that nobody else traces the tree (a debugger, strace, an
// outer hallmark with this tier). If hallmark dies, the kernel kills the tree (PTRACE_O_EXITKILL). Processes
// that live on after stop() are set free; under `picked`, whose filter would fail every watched call without
// a tracer, they are handed to a custodian (ptrace_custodian.h), or ended where there can be none.
//
// Programs inside the tree cannot use ptrace themselves. Set-user-id programs run without their privilege, as
// always under an unprivileged tracer.
#pragma once

#include <linux/filter.h>

#include <atomic>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "observe/internal/call_reader.h"
#include "observe/internal/filter.h"
#include "observe/internal/tier.h"

namespace hallmark::observe {

class PtraceTier final : public TierRun {
 public:
  struct Options {
    FilterOptions::StdinWatch stdin_watch = FilterOptions::StdinWatch::unwatched;
    std::string stdin_target;               ///< what /proc/<child>/fd/0 will read as
    std::function<void()> on_stdin_wanted;  ///< called once, on the watcher thread
    bool every_call = false;                ///< do not try whether picking works
  };

  explicit PtraceTier(Options options);

  model::Tier tier() const override { return model::Tier::ptrace; }
  Status prepare() override;
  int enter_child() override;
  Status attach(pid_t child) override;
  void watch(EventSink& sink) override;
  void stop() override;
  bool reaps() const override { return true; }
  void set_on_end(OnProcessEnd on_end) override { on_end_ = std::move(on_end); }
  model::Counters counters() const override { return {slow_events_, 0, 0}; }

  bool traces_every_call() const { return every_call_; }

 private:
  Status begin_tracing(pid_t child);
  void release_child(int answer);
  void on_stop(pid_t thread, int status, EventSink& sink);
  void on_event_stop(pid_t thread, unsigned event, int signal, EventSink& sink);
  void on_call(pid_t thread, bool picked, EventSink& sink);
  void report(const Call& call, bool foreign, EventSink& sink);
  void go_on(pid_t thread, int signal);
  void set_free(EventSink& sink);
  /// Brings a thread to a stop. `started`: a child that it started just before, else 0. False: it is gone.
  bool hold(pid_t thread, pid_t& started);

  Options options_;
  bool every_call_;
  CallReader reader_;
  std::vector<sock_filter> filter_;
  bool set_no_new_privileges_ = false;
  std::atomic<int> may_go_on_{0};  ///< what the child waits for: 1 go on, < 0: -errno
  std::atomic<bool> stop_{false};
  OnProcessEnd on_end_;
  std::unordered_set<pid_t> tracees_;
  std::unordered_map<pid_t, int> held_signals_;  ///< to be delivered to who was held when it got one
  bool stdin_reported_ = false;
  std::uint64_t slow_events_ = 0;
};

}  // namespace hallmark::observe
