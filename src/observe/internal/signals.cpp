#include "observe/internal/signals.h"

#include <unistd.h>

namespace hallmark::observe {
namespace {

constexpr int kKick = SIGURG;  // ignored by default, used by nobody here
constexpr int kForwarded[] = {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};

void on_kick(int) {}

}  // namespace

SignalGuard::SignalGuard() {
  ::sigaction(SIGINT, nullptr, &original_.interrupt);
  ::sigaction(SIGQUIT, nullptr, &original_.quit);
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignore, &original_.pipe);
  // Where a caller left it ignored, the kernel reaps the children itself and nobody learns how they ended.
  struct sigaction usual {};
  usual.sa_handler = SIG_DFL;
  ::sigaction(SIGCHLD, &usual, &original_.child);
  struct sigaction kicked {};
  kicked.sa_handler = on_kick;  // no SA_RESTART: it is to interrupt
  ::sigaction(kKick, &kicked, &kick_before_);

  sigset_t taken;
  ::sigemptyset(&taken);
  for (const int signal : {SIGCHLD, SIGINT, SIGQUIT, SIGWINCH}) ::sigaddset(&taken, signal);
  for (const int signal : kForwarded) ::sigaddset(&taken, signal);
  ::pthread_sigmask(SIG_BLOCK, &taken, &original_.mask);
  descriptor_ = Descriptor(::signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK));
}

SignalGuard::~SignalGuard() {
  ::sigaction(SIGPIPE, &original_.pipe, nullptr);
  ::sigaction(SIGCHLD, &original_.child, nullptr);
  ::sigaction(kKick, &kick_before_, nullptr);
  // What is left pending (a SIGINT that the command survived) was for the command.
  signalfd_siginfo left;
  while (::read(descriptor_.get(), &left, sizeof left) > 0) {
  }
  ::pthread_sigmask(SIG_SETMASK, &original_.mask, nullptr);
}

bool SignalGuard::is_forwarded(unsigned signal) {
  for (const int forwarded : kForwarded) {
    if (signal == static_cast<unsigned>(forwarded)) return true;
  }
  return false;
}

void SignalGuard::kick(pthread_t thread) {
  ::pthread_kill(thread, kKick);
}

}  // namespace hallmark::observe
