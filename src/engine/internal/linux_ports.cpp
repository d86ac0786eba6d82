#include "engine/internal/linux_ports.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <ctime>

#include "base/limits.h"
#include "base/path.h"

namespace hallmark::engine {
namespace {

constexpr std::size_t kProcFileBytes = 4u << 20;
constexpr std::size_t kBufferBytes = 64u << 10;
constexpr long kXfsMagic = 0x58465342;  // not in every linux/magic.h

/// The first line of `text` that begins with one of the fields that tell what code a processor can run.
bool tells_features(std::string_view line) {
  for (const std::string_view field : {"vendor_id", "cpu family", "model", "stepping", "cache size", "flags",
                                       "Features", "CPU implementer", "CPU part", "CPU variant"}) {
    if (line.starts_with(field)) return true;
  }
  return false;
}

/// "6.13.2-amd64" as {6, 13}.
std::array<int, 2> kernel_version() {
  utsname names{};
  std::array<int, 2> version{};
  if (uname(&names) == 0) std::sscanf(names.release, "%d.%d", &version[0], &version[1]);
  return version;
}

/// As nproc counts them: this process may be bound to some.
int usable_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return CPU_COUNT(&set);
  return static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
}

ssize_t read_some(int descriptor, char* into, std::size_t size) {
  ssize_t got = 0;
  do got = read(descriptor, into, size);
  while (got < 0 && errno == EINTR);
  return got;
}

bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      if (errno == EAGAIN) {  // the caller's descriptor does not block
        pollfd room{descriptor, POLLOUT, 0};
        poll(&room, 1, -1);
        continue;
      }
      return false;
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

std::optional<std::string> LinuxMachine::identity(std::string_view what) {
  if (what == "cpu") return cpu();
  if (what == "gpu") return gpu();
  if (what == "date") return date();
  utsname names{};
  if (uname(&names) != 0) return std::nullopt;
  if (what == "arch") return std::string(names.machine);
  if (what == "host") {
    return std::string(names.nodename) + " " + names.sysname + " " + names.release + " " + names.version +
           " " + names.machine + " " + std::to_string(usable_processors());
  }
  return std::nullopt;
}

/// What `-march=native` asks the processor for: model, features and cache sizes.
std::string LinuxMachine::cpu() {
  const auto text = os::read_file(files_, "/proc/cpuinfo", kProcFileBytes);
  if (!text.has_value()) return "unknown";
  digest::Hasher hasher;
  std::string model;
  std::string_view rest = *text;
  while (!rest.empty()) {
    const auto end = rest.find('\n');
    const auto line = rest.substr(0, end);
    if (line.empty()) break;  // the next processor; all are alike for a compiler
    if (tells_features(line)) hasher.update(std::string(line) + "\n");
    if (line.starts_with("model name")) model = line.substr(std::min(line.size(), line.find(':') + 2));
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  return model + " " + hasher.finish().hex().substr(0, 16);
}

std::string LinuxMachine::gpu() {
  std::string identity;
  const auto add = [&](const std::string& path, bool whole) {
    const auto text = os::read_file(files_, path, kProcFileBytes);
    if (!text.has_value()) return;
    std::string_view rest = *text;
    while (!rest.empty()) {
      const auto end = rest.find('\n');
      const auto line = rest.substr(0, end);
      if (whole || line.starts_with("Model") || line.starts_with("GPU UUID") ||
          line.starts_with("Video BIOS"))
        identity.append(line).append("\n");
      if (end == std::string_view::npos) break;
      rest.remove_prefix(end + 1);
    }
  };
  add("/proc/driver/nvidia/version", true);
  for (const std::string folder : {"/proc/driver/nvidia/gpus", "/sys/class/kfd/kfd/topology/nodes"}) {
    const auto names = files_.list(folder);
    if (!names.has_value()) continue;
    for (const auto& name : *names) {
      add(folder + "/" + name + "/information", false);
      add(folder + "/" + name + "/gpu_id", true);
      add(folder + "/" + name + "/properties", true);
    }
  }
  return identity.empty() ? "none" : identity;
}

std::string LinuxMachine::date() {
  const auto seconds = static_cast<std::time_t>(clock_.now_ns() / 1'000'000'000);
  std::tm local{};
  localtime_r(&seconds, &local);
  std::array<char, 16> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d", &local);
  return text.data();
}

bool LinuxMachine::has_fine_stamps(const std::string& folder) {
  const auto version = kernel_version();
  if (version[0] < 6 || (version[0] == 6 && version[1] < 13)) return false;
  struct statfs system {};
  if (statfs(folder.c_str(), &system) != 0) return false;
  return system.f_type == EXT4_SUPER_MAGIC || system.f_type == kXfsMagic ||
         system.f_type == BTRFS_SUPER_MAGIC || system.f_type == TMPFS_MAGIC;
}

LinuxStreams::~LinuxStreams() {
  // The command is gone, so whatever it did not read is nobody's: a feeder that waits for a reader gets EPIPE
  // when the reading end on descriptor 0 goes.
  if (feeder_.joinable()) {
    const int null_device = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (null_device >= 0) {
      dup2(null_device, STDIN_FILENO);
      close(null_device);
    }
    feeder_.join();
  }
  if (source_ >= 0) close(source_);
}

Status LinuxStreams::write(int stream, std::string_view bytes) {
  if (write_all(stream, bytes) || errno == EPIPE) return {};
  Error error = Error::from_errno("write to", stream == STDOUT_FILENO ? "stdout" : "stderr");
  error.kind = ErrorKind::io;  // nobody is to take it for a program that may not be executed
  return fail(std::move(error));
}

std::optional<digest::Digest> LinuxStreams::digest_of_stdin(model::StreamKind kind) {
  if (asked_) return known_;
  asked_ = true;
  digest::Hasher hasher;
  std::string buffer(kBufferBytes, '\0');
  if (kind == model::StreamKind::null_device) {
    known_ = hasher.finish();
  } else if (kind == model::StreamKind::file) {
    off_t at = lseek(STDIN_FILENO, 0, SEEK_CUR);
    if (at < 0) return known_;
    for (;;) {
      const ssize_t got = pread(STDIN_FILENO, buffer.data(), buffer.size(), at);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return known_;
      if (got == 0) break;
      hasher.update(std::string_view(buffer.data(), static_cast<std::size_t>(got)));
      at += got;
    }
    known_ = hasher.finish();
  } else if (kind == model::StreamKind::pipe) {
    took_from_pipe_ = true;
    while (taken_.size() <= limits::kStdinBytes) {
      const ssize_t got = read_some(STDIN_FILENO, buffer.data(), buffer.size());
      if (got <= 0) {
        reached_end_ = true;
        break;
      }
      taken_.append(buffer.data(), static_cast<std::size_t>(got));
    }
    if (reached_end_) {
      hasher.update(taken_);
      known_ = hasher.finish();
    }
  }
  return known_;
}

Status LinuxStreams::feed_back() {
  if (!took_from_pipe_) return {};
  took_from_pipe_ = false;
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return fail(Error::from_errno("make", "a pipe"));
  if (!reached_end_) source_ = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
  // dup2 clears close-on-exec, as stdin needs it.
  const bool replaced = dup2(ends[0], STDIN_FILENO) >= 0;
  close(ends[0]);
  if (!replaced) {
    close(ends[1]);
    return fail(Error::from_errno("replace", "stdin"));
  }
  feeder_ = std::thread([this, sink = ends[1]] {
    // A command that stops reading must not end us: the signal stays with this thread, the write fails.
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    bool open = write_all(sink, taken_);
    std::string buffer(kBufferBytes, '\0');
    while (open && source_ >= 0) {
      // Whoever writes to us may be silent for ever: the end of our reader must wake us as well.
      std::array<pollfd, 2> wanted{{{source_, POLLIN, 0}, {sink, 0, 0}}};
      if (poll(wanted.data(), wanted.size(), -1) < 0 && errno == EINTR) continue;
      if ((wanted[1].revents & (POLLERR | POLLHUP)) != 0) break;
      const ssize_t got = read_some(source_, buffer.data(), buffer.size());
      if (got <= 0) break;
      open = write_all(sink, std::string_view(buffer.data(), static_cast<std::size_t>(got)));
    }
    close(sink);
  });
  return {};
}

void LinuxStreams::skip_stdin(model::StreamKind kind) {
  if (kind == model::StreamKind::file) static_cast<void>(lseek(STDIN_FILENO, 0, SEEK_END));
}

bool LinuxStreams::stdin_at_end() {
  const off_t at = lseek(STDIN_FILENO, 0, SEEK_CUR);
  struct stat found {};
  return at >= 0 && fstat(STDIN_FILENO, &found) == 0 && at >= found.st_size;
}

std::unique_ptr<Machine> this_machine(os::FileSystem& files, os::Clock& clock) {
  return std::make_unique<LinuxMachine>(files, clock);
}

}  // namespace hallmark::engine
