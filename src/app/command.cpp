#include "app/command.h"

#include <linux/kcmp.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "base/limits.h"

namespace hallmark::app {
namespace {

const dev_t kNullDevice = makedev(1, 3);

model::StreamKind kind_of_stream(int descriptor) {
  struct stat found {};
  if (fstat(descriptor, &found) != 0) return model::StreamKind::closed;
  if (S_ISREG(found.st_mode)) return model::StreamKind::file;
  if (S_ISFIFO(found.st_mode)) return model::StreamKind::pipe;
  if (S_ISCHR(found.st_mode)) {
    if (found.st_rdev == kNullDevice) return model::StreamKind::null_device;
    if (isatty(descriptor) == 1) return model::StreamKind::tty;
  }
  return model::StreamKind::other;
}

/// Whether stdout and stderr are one open file, so that the order of what is written to both matters.
bool streams_are_merged() {
  const pid_t self = getpid();
  const long order = syscall(SYS_kcmp, self, self, KCMP_FILE, STDOUT_FILENO, STDERR_FILENO);
  if (order >= 0) return order == 0;
  // kcmp is not allowed everywhere: the same pipe or terminal is then as good as the same open file.
  struct stat out {};
  struct stat err {};
  return fstat(STDOUT_FILENO, &out) == 0 && fstat(STDERR_FILENO, &err) == 0 && out.st_dev == err.st_dev &&
         out.st_ino == err.st_ino;
}

}  // namespace

model::Environment current_environment() {
  model::Environment environment;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const auto equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    environment.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return environment;
}

Result<std::string> current_folder() {
  std::string folder(limits::kPathBytes, '\0');
  if (getcwd(folder.data(), folder.size()) == nullptr)
    return fail(Error::from_errno("find", "the working folder"));
  folder.resize(std::strlen(folder.c_str()));
  // A folder that was unmounted or lies outside a chroot has no absolute name.
  if (!folder.starts_with('/'))
    return fail(Error{ErrorKind::not_found, "the working folder has no name any more",
                      "change to an existing folder"});
  return folder;
}

model::Command describe_command(std::vector<std::string> argv, model::Environment environment,
                                std::string cwd) {
  model::Command command;
  command.argv = std::move(argv);
  command.cwd = std::move(cwd);
  command.environment = std::move(environment);
  command.in = kind_of_stream(STDIN_FILENO);
  command.out = kind_of_stream(STDOUT_FILENO);
  command.err = kind_of_stream(STDERR_FILENO);
  command.merged = command.out != model::StreamKind::closed && command.err != model::StreamKind::closed &&
                   streams_are_merged();
  command.uid = getuid();
  const mode_t mask = umask(077);
  umask(mask);
  command.umask = mask;
  return command;
}

}  // namespace hallmark::app
