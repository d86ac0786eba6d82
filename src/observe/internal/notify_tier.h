// NotifyTier: a seccomp filter stops each watched call and hands it to the watcher thread, which reports it
// and lets it go on. With a FastPath it is the hybrid tier.
//
// Needs Linux 5.0 (a listener); uses WAIT_KILLABLE_RECV (5.19: calls cannot fail with EINTR) and SYNC_WAKE_UP
// (6.6) where they exist. If hallmark dies, a guardian kills the tree (guardian.h).
#pragma once

#include <linux/seccomp.h>

#include <atomic>
#include <memory>

#include "observe/internal/call_reader.h"
#include "observe/internal/fast_path.h"
#include "observe/internal/filter.h"
#include "observe/internal/guardian.h"
#include "observe/internal/tier.h"

namespace hallmark::observe {

class NotifyTier final : public TierRun {
 public:
  struct Options {
    FilterOptions::StdinWatch stdin_watch = FilterOptions::StdinWatch::unwatched;
    std::string stdin_target;               ///< what /proc/<child>/fd/0 will read as
    std::function<void()> on_stdin_wanted;  ///< called once, on the watcher thread
  };

  /// `fast_path`: may be null; outlives the tier.
  NotifyTier(Options options, FastPath* fast_path);
  ~NotifyTier() override;

  model::Tier tier() const override {
    return fast_path_ != nullptr ? model::Tier::hybrid : model::Tier::notify;
  }
  Status prepare() override;
  int enter_child() override;
  Status attach(pid_t child) override;
  void watch(EventSink& sink) override;
  void stop() override;
  model::Counters counters() const override;

  int listener() const override { return listener_; }
  pid_t helper() const override { return guardian_.process(); }

 private:
  void handle(const seccomp_notif& request, EventSink& sink);
  void report_stdin_wanted();
  void let_go_on(std::uint64_t id);
  void reply(std::uint64_t id, const InjectedReply& reply);
  bool still_waits(std::uint64_t id) const;
  bool all_gone() const;

  Options options_;
  FastPath* fast_path_;
  CallReader reader_;
  std::vector<sock_filter> filter_;
  bool set_no_new_privileges_ = false;
  // Written by the child, which shares our memory, and our descriptors until it has let go of the listener.
  std::atomic<int> published_listener_{kNotYet};
  int listener_ = -1;
  std::atomic<bool> stop_{false};
  Guardian guardian_;
  pid_t command_ = -1;
  bool stdin_reported_ = false;
  std::uint64_t slow_events_ = 0;

  static constexpr int kNotYet = -1;
};

/// Whether this process must give up privileges to install a filter: it lacks CAP_SYS_ADMIN.
bool needs_no_new_privileges();

}  // namespace hallmark::observe
