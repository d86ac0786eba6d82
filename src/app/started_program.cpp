#include "app/started_program.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace hallmark::app {
namespace {

/// As a shell does while a command has the terminal.
class IgnoredSignals {
 public:
  IgnoredSignals() {
    struct sigaction ignore = {};
    ignore.sa_handler = SIG_IGN;
    ::sigaction(SIGINT, &ignore, &interrupt_);
    ::sigaction(SIGQUIT, &ignore, &quit_);
  }
  ~IgnoredSignals() {
    ::sigaction(SIGINT, &interrupt_, nullptr);
    ::sigaction(SIGQUIT, &quit_, nullptr);
  }
  IgnoredSignals(const IgnoredSignals&) = delete;
  IgnoredSignals& operator=(const IgnoredSignals&) = delete;

  /// What the child must have: what this process had before.
  sigset_t defaults() const {
    sigset_t set;
    sigemptyset(&set);
    if (interrupt_.sa_handler != SIG_IGN) sigaddset(&set, SIGINT);
    if (quit_.sa_handler != SIG_IGN) sigaddset(&set, SIGQUIT);
    return set;
  }

 private:
  struct sigaction interrupt_ = {};
  struct sigaction quit_ = {};
};

}  // namespace

Result<int> run_for_people(const std::vector<std::string>& argv, const model::Environment& environment,
                           const std::string& cwd) {
  std::vector<std::string> words = argv;
  std::vector<std::string> variables;
  for (const auto& [name, value] : environment) variables.push_back(name + "=" + value);
  std::vector<char*> word_pointers;
  for (auto& word : words) word_pointers.push_back(word.data());
  word_pointers.push_back(nullptr);
  std::vector<char*> variable_pointers;
  for (auto& variable : variables) variable_pointers.push_back(variable.data());
  variable_pointers.push_back(nullptr);

  const IgnoredSignals ignored;
  const sigset_t defaults = ignored.defaults();
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, cwd.c_str());
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  pid_t child = -1;
  const int error = ::posix_spawnp(&child, words[0].c_str(), &actions, &attributes, word_pointers.data(),
                                   variable_pointers.data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error == ENOENT) return fail({ErrorKind::no_command, argv[0] + " is not installed", "install it"});
  if (error != 0) return fail(Error::from_errno("start", argv[0], error));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return fail(Error::from_errno("wait for", argv[0]));
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace hallmark::app
