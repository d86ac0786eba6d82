#include "app/captured_run.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "engine/outputs.h"

namespace hallmark::app {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(); }
  int number() const { return number_; }
  void close() {
    if (number_ >= 0) ::close(number_);
    number_ = -1;
  }

 private:
  int number_;
};

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (auto& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

Result<pid_t> start(std::vector<std::string> argv, const model::Environment& environment,
                    const std::string& cwd, int out, Complaints complaints) {
  std::vector<std::string> variables;
  for (const auto& [name, value] : environment) variables.push_back(name + "=" + value);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, cwd.c_str());
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  if (complaints == Complaints::dropped)
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = -1;
  const auto words = pointers_to(argv);
  const auto settings = pointers_to(variables);
  const int error = posix_spawnp(&child, words[0], &actions, nullptr, words.data(), settings.data());
  posix_spawn_file_actions_destroy(&actions);
  if (error == ENOENT) return fail({ErrorKind::no_command, argv[0] + " is not installed", "install it"});
  if (error != 0) return fail(Error::from_errno("start", argv[0], error));
  return child;
}

}  // namespace

Result<CapturedRun> run_captured(const std::vector<std::string>& argv, const model::Environment& environment,
                                 const std::string& cwd, std::size_t max_bytes, Complaints complaints) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail(Error::from_errno("make a pipe for", argv[0]));
  Descriptor reader(ends[0]);
  Descriptor writer(ends[1]);
  HALLMARK_TRY(const auto child, start(argv, environment, cwd, writer.number(), complaints));
  writer.close();
  CapturedRun run;
  std::array<char, 65536> buffer{};
  ssize_t got = 0;
  while (run.out.size() <= max_bytes && (got = ::read(reader.number(), buffer.data(), buffer.size())) != 0) {
    if (got < 0 && errno != EINTR) break;
    if (got > 0) run.out.append(buffer.data(), static_cast<std::size_t>(got));
  }
  reader.close();  // one that says too much ends by it
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (run.out.size() > max_bytes) return fail({ErrorKind::limit, argv[0] + " said too much", {}});
  run.exit_code = engine::exit_code_of(status);
  return run;
}

}  // namespace hallmark::app
