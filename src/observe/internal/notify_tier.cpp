#include "observe/internal/notify_tier.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <linux/futex.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>

#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS SECCOMP_IOW(4, __u64)
#endif
#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

namespace hallmark::observe {
namespace {

using model::ReasonCode;

constexpr unsigned long kSyncWakeUp = 1;  // SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP
constexpr long kAttachPatience_ms = 10'000;

void futex_wait(const std::atomic<int>& word, int seen, long timeout_ms) {
  const timespec timeout{timeout_ms / 1000, (timeout_ms % 1000) * 1'000'000};
  ::syscall(SYS_futex, &word, FUTEX_WAIT, seen, &timeout, nullptr, 0);
}

void futex_wake(std::atomic<int>& word) {
  ::syscall(SYS_futex, &word, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

/// In the child: a table of its own, without the listener. In the shared one the child itself would keep the
/// listener open, and when hallmark is killed now, before the guardian lives, its execution would wait for
/// an answer for ever. (close_range, for containers refuse unshare; before Linux 5.9 the table stays shared.)
void let_go_of(int listener) {
  const auto number = static_cast<unsigned>(listener);
  ::syscall(SYS_close_range, number, number, CLOSE_RANGE_UNSHARE);
}

}  // namespace

bool needs_no_new_privileges() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  if (::syscall(SYS_capget, &header, data) != 0) return true;
  return (data[CAP_TO_INDEX(CAP_SYS_ADMIN)].effective & CAP_TO_MASK(CAP_SYS_ADMIN)) == 0;
}

NotifyTier::NotifyTier(Options options, FastPath* fast_path)
    : options_(std::move(options)), fast_path_(fast_path) {
  reader_.set_stdin_target(options_.stdin_target);
}

NotifyTier::~NotifyTier() {
  guardian_.dismiss();
  if (listener_ >= 0) ::close(listener_);
}

Status NotifyTier::prepare() {
  std::uint32_t action = SECCOMP_RET_USER_NOTIF;
  if (::syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) != 0) {
    return fail(Error{ErrorKind::unsupported, "this kernel has no seccomp user notification", {}});
  }
  FilterOptions filter;
  filter.action = action;
  filter.stdin_watch = options_.stdin_watch;
  if (fast_path_ != nullptr) {
    HALLMARK_CHECK(fast_path_->prepare());
    filter.stub = fast_path_->stub();
  }
  filter_ = build_filter(filter);
  set_no_new_privileges_ = needs_no_new_privileges();
  return {};
}

int NotifyTier::enter_child() {
  if (set_no_new_privileges_ && ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
  int listener =
      install_filter(filter_, SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV);
  if (listener == -EINVAL) listener = install_filter(filter_, SECCOMP_FILTER_FLAG_NEW_LISTENER);
  published_listener_.store(listener >= 0 ? listener : listener - 1, std::memory_order_release);
  futex_wake(published_listener_);
  if (listener >= 0) let_go_of(listener);
  return listener >= 0 ? 0 : -listener;
}

Status NotifyTier::attach(pid_t child) {
  command_ = child;
  int value = published_listener_.load(std::memory_order_acquire);
  for (int tries = 0; value == kNotYet && tries < 2 && !stop_; ++tries) {
    futex_wait(published_listener_, kNotYet, kAttachPatience_ms);
    value = published_listener_.load(std::memory_order_acquire);
  }
  if (value < 0) {
    const int error = value == kNotYet ? ETIMEDOUT : -(value + 1);
    return fail(Error{ErrorKind::unsupported,
                      std::string("seccomp refuses a listener: ") + std::strerror(error),
                      error == EBUSY ? "an outer supervisor is watching already" : ""});
  }
  listener_ = value;
  ::ioctl(listener_, SECCOMP_IOCTL_NOTIF_SET_FLAGS, kSyncWakeUp);  // before 6.6: only slower
  return {};
}

bool NotifyTier::all_gone() const {
  pollfd calls{listener_, POLLIN, 0};
  return ::poll(&calls, 1, 0) > 0 && (calls.revents & POLLHUP) != 0;
}

void NotifyTier::watch(EventSink& sink) {
  seccomp_notif request;
  while (!stop_.load(std::memory_order_relaxed)) {
    std::memset(&request, 0, sizeof request);
    if (::ioctl(listener_, SECCOMP_IOCTL_NOTIF_RECV, &request) != 0) {
      // ENOENT: the caller died before we received its call; or all are gone (newer kernels).
      if (errno == EINTR || (errno == ENOENT && !all_gone())) continue;
      if (errno != ENOENT) sink.on_doubt({ReasonCode::observation_lost, "seccomp", std::strerror(errno), {}});
      break;
    }
    ++slow_events_;
    handle(request, sink);
    if (guardian_.process() < 0)
      guardian_.start(listener_, command_);  // while the child is busy with what it was let do
  }
  if (fast_path_ != nullptr) fast_path_->finish(sink);
}

void NotifyTier::stop() {
  stop_.store(true, std::memory_order_relaxed);
}

bool NotifyTier::still_waits(std::uint64_t id) const {
  return ::ioctl(listener_, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0;
}

void NotifyTier::handle(const seccomp_notif& request, EventSink& sink) {
  const auto thread = static_cast<pid_t>(request.pid);
  const SyscallRule* rule =
      request.data.arch == AUDIT_ARCH_X86_64 ? rule_of(static_cast<std::uint32_t>(request.data.nr)) : nullptr;
  if (rule == nullptr) {
    sink.on_doubt({ReasonCode::foreign_architecture, program_of(thread), {}, {}});
    report_stdin_wanted();  // it may be about to read
    return let_go_on(request.id);
  }
  Call call{thread, static_cast<std::uint64_t>(request.data.nr), {}};
  std::copy(std::begin(request.data.args), std::end(request.data.args), call.arguments.begin());
  if (fast_path_ != nullptr) {
    fast_path_->drain(sink);
    if (rule->kind == CallKind::beyond || rule->number == SYS_chroot) fast_path_->on_new_view();
    if (rule->kind == CallKind::confine) fast_path_->on_confine(thread);
  }
  Event event;
  const CallReader::Outcome outcome = reader_.read(call, *rule, sink, event);
  if (outcome == CallReader::Outcome::event) {
    // A caller that was killed meanwhile may have lent its number to another process, whose memory we would
    // have read. A wrong look adds a needless input; a wrong change would hide one.
    if (is_change(event.access) && !still_waits(request.id)) return;
    bool report = true;
    std::optional<InjectedReply> injected;
    if (fast_path_ != nullptr && !is_change(event.access) && event.access != Access::list) {
      if (event.access != Access::execute) {
        report = false;
        injected = fast_path_->answer(event, report);
        report = report || !injected;
      }
    }
    if (report) sink.on_event(event);
    if (fast_path_ != nullptr && event.access == Access::execute) {
      fast_path_->on_execute(thread, sink.last_program());
    }
    if (injected) return reply(request.id, *injected);
  }
  if (reader_.stdin_wanted()) report_stdin_wanted();
  let_go_on(request.id);
}

void NotifyTier::report_stdin_wanted() {
  if (stdin_reported_) return;
  stdin_reported_ = true;
  if (options_.on_stdin_wanted) options_.on_stdin_wanted();
}

void NotifyTier::let_go_on(std::uint64_t id) {
  seccomp_notif_resp response{};
  response.id = id;
  response.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
  ::ioctl(listener_, SECCOMP_IOCTL_NOTIF_SEND, &response);  // fails if the caller was killed: all is well
}

void NotifyTier::reply(std::uint64_t id, const InjectedReply& reply) {
  seccomp_notif_resp response{};
  response.id = id;
  response.val = reply.value;
  response.error = reply.error;
  if (reply.descriptor >= 0) {
    seccomp_notif_addfd add{};
    add.id = id;
    add.srcfd = static_cast<std::uint32_t>(reply.descriptor);
    add.newfd_flags = O_CLOEXEC;
    const int number = ::ioctl(listener_, SECCOMP_IOCTL_NOTIF_ADDFD, &add);
    response.val = number >= 0 ? number + reply.value : 0;
    response.error = number >= 0 ? 0 : -ENOENT;
  }
  ::ioctl(listener_, SECCOMP_IOCTL_NOTIF_SEND, &response);
}

model::Counters NotifyTier::counters() const {
  return {slow_events_, fast_path_ != nullptr ? fast_path_->fast_events() : 0, 0};
}

}  // namespace hallmark::observe
