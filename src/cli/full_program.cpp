#include "cli/full_program.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>

#include "app/places.h"
#include "base/limits.h"
#include "cli/exit_code.h"
#include "cli/terminal.h"
#include "os/file_system.h"

namespace hallmark::cli {
namespace {

struct Pipe {
  int read_end = -1;
  int write_end = -1;
  ~Pipe() {
    close_end(read_end);
    close_end(write_end);
  }
  static void close_end(int& end) {
    if (end >= 0) close(end);
    end = -1;
  }
};

/// Reads to the end; what is beyond `max_bytes` is dropped.
std::string drain(int descriptor, std::size_t max_bytes) {
  std::string bytes;
  std::array<char, 4096> buffer;
  for (;;) {
    const ssize_t got = read(descriptor, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return bytes;
    if (bytes.size() < max_bytes) bytes.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

/// A complaint of another hallmark without its "hallmark: " and newline.
std::string bare_complaint(std::string text) {
  constexpr std::string_view kPrefix = "hallmark: ";
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.starts_with(kPrefix) ? text.substr(kPrefix.size()) : text;
}

}  // namespace

int hand_over(char** argv) {
  const auto installation = app::find_installation(os::linux_file_system());
  if (!installation.has_value()) {
    complain(installation.error().message());
    return kEnvironment;
  }
  execv(installation->full_program.c_str(), argv);
  Error error = Error::from_errno("execute", installation->full_program);
  error.hint = "the installation is not complete: bin, libexec and lib belong together";
  complain(error.message());
  return kEnvironment;
}

Result<std::string> compile_config_elsewhere(const std::string& root) {
  HALLMARK_TRY(const app::Installation installation, app::find_installation(os::linux_file_system()));
  Pipe out;
  Pipe err;
  for (Pipe* each : {&out, &err}) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return fail(Error::from_errno("make", "a pipe"));
    each->read_end = ends[0];
    each->write_end = ends[1];
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out.write_end, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err.write_end, STDERR_FILENO);
  std::string program = installation.full_program;
  std::string verb = "compile-config";
  std::string operand = root;
  char* const argv[] = {program.data(), verb.data(), operand.data(), nullptr};
  pid_t child = 0;
  const int failure = posix_spawn(&child, program.c_str(), &actions, nullptr, argv, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) return fail(Error::from_errno("execute", program, failure));
  Pipe::close_end(out.write_end);
  Pipe::close_end(err.write_end);
  // Its complaint is one line, which fits into the pipe: reading one after the other cannot block.
  std::string bytes = drain(out.read_end, limits::kConfigBytes);
  std::string complaint = bare_complaint(drain(err.read_end, limits::kPathBytes));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return bytes;
  return fail(Error{ErrorKind::invalid, complaint.empty() ? program + " failed" : std::move(complaint), {}});
}

}  // namespace hallmark::cli
