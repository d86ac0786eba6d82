#include "observe/internal/survivors.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <string>
#include <string_view>

#include "observe/internal/proc_text.h"

namespace hallmark::observe {
namespace {

void let_one_go_on(int listener) {
  seccomp_notif request{};
  if (::ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &request) != 0) return;
  seccomp_notif_resp response{};
  response.id = request.id;
  response.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
  ::ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
}

/// False at the end of the source, or when nobody takes its bytes.
bool pass_on(int source, int target) {
  std::array<char, 4096> buffer;
  const ssize_t count = ::read(source, buffer.data(), buffer.size());
  if (count < 0) return errno == EAGAIN || errno == EINTR;
  for (ssize_t done = 0; done < count;) {
    const ssize_t written = ::write(target, buffer.data() + done, static_cast<std::size_t>(count - done));
    if (written < 0 && errno != EINTR) return false;
    if (written > 0) done += written;
  }
  return count > 0;
}

/// Whoever reads our streams until their end must not wait for the survivors: only what is passed on stays
/// open.
void close_all_but(const Upkeep& upkeep) {
  std::array<int, 3> kept{upkeep.listener, upkeep.out_source, upkeep.err_source};
  std::sort(kept.begin(), kept.end());
  ::close(STDIN_FILENO);
  if (upkeep.out_source < 0) ::close(STDOUT_FILENO);
  if (upkeep.err_source < 0) ::close(STDERR_FILENO);
  unsigned next = STDERR_FILENO + 1;
  for (const int descriptor : kept) {
    if (descriptor < static_cast<int>(next)) continue;
    if (descriptor > static_cast<int>(next)) ::close_range(next, static_cast<unsigned>(descriptor) - 1, 0);
    next = static_cast<unsigned>(descriptor) + 1;
  }
  ::close_range(next, ~0u, 0);
}

// In a process made by fork: system calls only.
void look_after(const Upkeep& upkeep) {
  std::array<pollfd, 3> polled{pollfd{upkeep.listener, POLLIN, 0}, pollfd{upkeep.out_source, POLLIN, 0},
                               pollfd{upkeep.err_source, POLLIN, 0}};
  while (polled[0].fd >= 0 || polled[1].fd >= 0 || polled[2].fd >= 0) {
    if (::poll(polled.data(), polled.size(), -1) < 0) continue;
    if ((polled[0].revents & POLLIN) != 0) {
      let_one_go_on(polled[0].fd);
    } else if (polled[0].revents != 0) {
      polled[0].fd = -1;
    }
    for (std::size_t i = 1; i < polled.size(); ++i) {
      if (polled[i].fd < 0 || polled[i].revents == 0) continue;
      if (!pass_on(polled[i].fd, i == 1 ? STDOUT_FILENO : STDERR_FILENO)) {
        ::close(polled[i].fd);
        ::close(i == 1 ? STDOUT_FILENO : STDERR_FILENO);
        polled[i].fd = -1;
      }
    }
  }
}

}  // namespace

std::vector<pid_t> children_of_this_process() {
  std::vector<pid_t> children;
  DIR* tasks = ::opendir("/proc/self/task");
  if (tasks == nullptr) return children;
  const pid_t self = ::getpid();
  while (const dirent* task = ::readdir(tasks)) {
    if (task->d_name[0] == '.') continue;
    std::array<char, 16384> buffer;
    std::string_view text = read_proc_text(self, std::string("task/") + task->d_name + "/children", buffer);
    while (!text.empty()) {
      pid_t child = 0;
      const auto end = std::from_chars(text.data(), text.data() + text.size(), child);
      if (end.ptr == text.data()) break;
      children.push_back(child);
      text.remove_prefix(static_cast<std::size_t>(end.ptr - text.data()));
      while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    }
  }
  ::closedir(tasks);
  return children;
}

void look_after_survivors(const Upkeep& upkeep) {
  if (upkeep.listener < 0 && upkeep.out_source < 0 && upkeep.err_source < 0) return;
  if (::fork() != 0) return;
  ::setsid();
  ::prctl(PR_SET_NAME, "hallmark-upkeep");
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  close_all_but(upkeep);
  look_after(upkeep);
  ::_exit(0);
}

}  // namespace hallmark::observe
