#include "observe/internal/launcher.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <memory>

namespace hallmark::observe {
namespace {

constexpr std::size_t kChildStackBytes = 64u << 10;
constexpr const char* kShell = "/bin/sh";
constexpr int kNoChild = -1;

/// Keeps descriptors 0 to 2 safe while a child sets its own in the shared table.
class StandardDescriptors {
 public:
  StandardDescriptors() {
    for (int number = 0; number < 3; ++number) {
      flags_[number] = ::fcntl(number, F_GETFD);
      kept_[number] = ::fcntl(number, F_DUPFD_CLOEXEC, 3);
      if (kept_[number] < 0 && flags_[number] >= 0) error_ = errno;
    }
  }
  ~StandardDescriptors() {
    for (int number = 0; number < 3; ++number) {
      if (kept_[number] < 0) {
        if (flags_[number] < 0) ::close(number);
        continue;
      }
      ::dup3(kept_[number], number, (flags_[number] & FD_CLOEXEC) != 0 ? O_CLOEXEC : 0);
      ::close(kept_[number]);
    }
  }
  StandardDescriptors(const StandardDescriptors&) = delete;
  StandardDescriptors& operator=(const StandardDescriptors&) = delete;

  /// 0, or why one could not be kept (there are no more descriptors): then no child may set its own.
  int error() const { return error_; }

 private:
  int kept_[3];
  int flags_[3];
  int error_ = 0;
};

void put_in_place(int from, int to) {
  if (from == ChildStreams::kClosed) {
    ::close(to);
  } else if (from != to) {
    ::dup2(from, to);
  }
}

}  // namespace

std::vector<std::string> candidates_of(const std::string& name, const model::Environment& environment) {
  if (name.find('/') != std::string::npos || name.empty()) return {name};
  const auto variable = environment.find("PATH");
  std::string_view path =
      variable == environment.end() ? model::kPathIfUnset : std::string_view(variable->second);
  std::vector<std::string> candidates;
  for (;;) {
    const auto colon = path.find(':');
    const std::string_view folder = path.substr(0, colon);
    std::string candidate(folder);
    if (!folder.empty()) candidate += '/';
    candidates.push_back(candidate + name);
    if (colon == std::string_view::npos) return candidates;
    path.remove_prefix(colon + 1);
  }
}

Launcher::Launcher(const model::Command& command, ChildStreams streams, const SignalState& signals)
    : command_(command),
      streams_(streams),
      signals_(signals),
      candidates_(candidates_of(command.argv.front(), command.environment)) {
  for (const auto& [name, value] : command.environment) environment_.push_back(name + "=" + value);
  for (const std::string& argument : command.argv) argv_.push_back(const_cast<char*>(argument.c_str()));
  shell_argv_ = {const_cast<char*>(kShell), nullptr};  // the script's path comes second
  shell_argv_.insert(shell_argv_.end(), argv_.begin() + 1, argv_.end());
  for (std::string& variable : environment_) envp_.push_back(variable.data());
  std::array<char, PATH_MAX> folder;
  changes_folder_ = ::getcwd(folder.data(), folder.size()) == nullptr || command.cwd != folder.data();
  argv_.push_back(nullptr);
  shell_argv_.push_back(nullptr);
  envp_.push_back(nullptr);
}

Launcher::Outcome Launcher::start(TierRun* tier) {
  tier_ = tier;
  error_ = 0;
  entered_ = folder_failed_ = false;
  const StandardDescriptors ours;
  if (ours.error() != 0) return not_started(ours.error());
  const auto stack = std::make_unique_for_overwrite<char[]>(kChildStackBytes);
  char* top = stack.get() + kChildStackBytes;
  top -= reinterpret_cast<std::uintptr_t>(top) % 16;
  const pid_t child =
      ::clone(&Launcher::run_child, top, CLONE_VM | CLONE_VFORK | CLONE_FILES | SIGCHLD, this);
  if (child < 0) return not_started(errno);
  if (error_ == 0) return Outcome::running;
  return entered_ ? Outcome::command_failed : Outcome::tier_failed;
}

Launcher::Outcome Launcher::not_started(int error) {
  error_ = error;
  child_ = kNoChild;
  ::syscall(SYS_futex, &child_, FUTEX_WAKE, 1, nullptr, nullptr, 0);
  return Outcome::tier_failed;
}

pid_t Launcher::await_child() {
  while (child_.load() == 0) ::syscall(SYS_futex, &child_, FUTEX_WAIT, 0, nullptr, nullptr, 0);
  return child_.load() == kNoChild ? 0 : child_.load();
}

int Launcher::run_child(void* self) {
  return static_cast<Launcher*>(self)->child_main();
}

// From here to the execution we are a second process in the parent's memory: system calls and stores into
// this object only.
int Launcher::child_main() {
  child_.store(static_cast<int>(::getpid()));
  ::syscall(SYS_futex, &child_, FUTEX_WAKE, 1, nullptr, nullptr, 0);

  // Before the filter: where we start is no access of the command.
  if (changes_folder_ && ::chdir(command_.cwd.c_str()) != 0) {
    error_ = errno;
    folder_failed_ = entered_ = true;
    ::_exit(127);
  }
  if (tier_ != nullptr) {
    if (const int error = tier_->enter_child(); error != 0) {
      error_ = error;
      ::_exit(127);
    }
  }
  entered_ = true;
  put_in_place(streams_.in, STDIN_FILENO);
  put_in_place(streams_.out, STDOUT_FILENO);
  put_in_place(streams_.err, STDERR_FILENO);
  ::sigaction(SIGINT, &signals_.interrupt, nullptr);
  ::sigaction(SIGQUIT, &signals_.quit, nullptr);
  ::sigaction(SIGPIPE, &signals_.pipe, nullptr);
  ::sigaction(SIGCHLD, &signals_.child, nullptr);
  ::sigprocmask(SIG_SETMASK, &signals_.mask, nullptr);
  execute();
  ::_exit(127);
}

void Launcher::execute() {
  bool denied = false;
  for (std::string& candidate : candidates_) {
    error_ = 0;  // what the parent reads once an execution succeeded
    ::execve(candidate.c_str(), argv_.data(), envp_.data());
    if (errno == ENOEXEC) {
      shell_argv_[1] = candidate.data();
      ::execve(kShell, shell_argv_.data(), envp_.data());
    }
    error_ = errno;
    switch (errno) {
      case EACCES:
        denied = true;
        continue;
      case ENOENT:
      case ENOTDIR:
      case ENODEV:
      case ESTALE:
      case ETIMEDOUT:
        continue;
      default:
        return;
    }
  }
  if (denied) error_ = EACCES;
}

}  // namespace hallmark::observe
