#include "observe/internal/streams.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/limits.h"

namespace hallmark::observe {
namespace {

using model::StreamKind;

constexpr std::size_t kChunkBytes = 64u << 10;
constexpr int kStdinPipeBytes = 4096;  // little, so that little is taken that the command then leaves

std::string target_of(int descriptor) {
  std::array<char, limits::kPathBytes> buffer;
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  const ssize_t length = ::readlink(link.c_str(), buffer.data(), buffer.size());
  return length <= 0 ? std::string() : std::string(buffer.data(), static_cast<std::size_t>(length));
}

bool is_unchanged(const struct stat& before, const struct stat& now) {
  const auto same = [](const timespec& a, const timespec& b) {
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
  };
  return before.st_size == now.st_size && same(before.st_mtim, now.st_mtim) &&
         same(before.st_ctim, now.st_ctim);
}

/// A pseudo-terminal that changes no byte, in the size of the real one. First: master, second: slave.
Result<std::pair<Descriptor, Descriptor>> open_terminal(int like) {
  Descriptor master(::open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC));
  int unlock = 0;
  if (!master.is_open() || ::ioctl(master.get(), TIOCSPTLCK, &unlock) != 0) {
    return fail(Error::from_errno("open", "/dev/ptmx"));
  }
  Descriptor slave(::ioctl(master.get(), TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!slave.is_open()) return fail(Error::from_errno("open", "pseudo-terminal"));
  termios settings;
  if (::tcgetattr(like, &settings) == 0 || ::tcgetattr(slave.get(), &settings) == 0) {
    settings.c_oflag &= ~static_cast<tcflag_t>(OPOST);  // the real terminal does that, once
    settings.c_lflag &= ~static_cast<tcflag_t>(ECHO | ECHONL);
    ::tcsetattr(slave.get(), TCSANOW, &settings);
  }
  winsize size;
  if (::ioctl(like, TIOCGWINSZ, &size) == 0) ::ioctl(slave.get(), TIOCSWINSZ, &size);
  return std::pair(std::move(master), std::move(slave));
}

}  // namespace

Status CapturedOutput::open(int target, StreamKind kind) {
  target_ = target;
  is_terminal_ = kind == StreamKind::tty;
  if (is_terminal_) {
    if (auto terminal = open_terminal(target)) {
      source_ = std::move(terminal->first);
      child_end_ = std::move(terminal->second);
      ::fcntl(source_.get(), F_SETFL, ::fcntl(source_.get(), F_GETFL) | O_NONBLOCK);
      return {};
    }
    is_terminal_ = false;  // no pseudo-terminals here: colours are lost, nothing else
  }
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(Error::from_errno("make", "pipe"));
  source_ = Descriptor(ends[0]);
  child_end_ = Descriptor(ends[1]);
  ::fcntl(source_.get(), F_SETFL, O_NONBLOCK);
  return {};
}

void CapturedOutput::pump() {
  std::array<char, kChunkBytes> buffer;
  while (source_.is_open()) {
    const ssize_t count = ::read(source_.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0) return source_.reset();  // a pseudo-terminal ends with EIO
    const std::string_view bytes(buffer.data(), static_cast<std::size_t>(count));
    keep(bytes);
    pass_on(bytes);
    if (static_cast<std::size_t>(count) < buffer.size()) return;
  }
}

void CapturedOutput::keep(std::string_view bytes) {
  const std::size_t room = limits::kStreamCaptureBytes - captured_.bytes.size();
  captured_.bytes.append(bytes.substr(0, room));
  if (bytes.size() > room) captured_.truncated = true;
}

void CapturedOutput::pass_on(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(target_, bytes.data(), bytes.size());
    if (count >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno == EAGAIN) {  // the caller's descriptor does not block
      pollfd room{target_, POLLOUT, 0};
      ::poll(&room, 1, -1);
    } else if (errno != EINTR) {
      refusal_ = errno;
      return source_.reset();
    }
  }
}

const char* CapturedOutput::name() const {
  return target_ == STDOUT_FILENO ? "stdout" : "stderr";
}

void CapturedOutput::resize_terminal() {
  winsize size;
  if (is_terminal_ && source_.is_open() && ::ioctl(target_, TIOCGWINSZ, &size) == 0) {
    ::ioctl(source_.get(), TIOCSWINSZ, &size);
  }
}

Streams::Streams() = default;

Status Streams::open(const model::Command& command, bool watched, bool keep) {
  const auto is_captured = [&](StreamKind kind) { return keep || kind != StreamKind::tty; };
  merged_ = command.merged;
  child_ = {};
  if (command.out == StreamKind::closed) {
    child_.out = ChildStreams::kClosed;
  } else if (is_captured(command.out)) {
    HALLMARK_CHECK(out_.open(STDOUT_FILENO, command.out));
    child_.out = out_.child_end();
  }
  if (command.err == StreamKind::closed) {
    child_.err = ChildStreams::kClosed;
  } else if (merged_) {
    child_.err = child_.out;
  } else if (is_captured(command.err)) {
    HALLMARK_CHECK(err_.open(STDERR_FILENO, command.err));
    child_.err = err_.child_end();
  }
  return open_stdin(command.in, watched);
}

Status Streams::open_stdin(StreamKind kind, bool watched) {
  in_kind_ = kind;
  if (!watched && kind != StreamKind::closed && kind != StreamKind::null_device) {
    in_kind_ = StreamKind::other;
    wanted_ = true;
    return {};
  }
  switch (kind) {
    case StreamKind::closed:
      child_.in = ChildStreams::kClosed;
      return {};
    case StreamKind::null_device:
      return {};
    case StreamKind::file:
      watch_ = FilterOptions::StdinWatch::file;
      stdin_target_ = target_of(STDIN_FILENO);
      stdin_start_ = ::lseek(STDIN_FILENO, 0, SEEK_CUR);
      if (::fstat(STDIN_FILENO, &stdin_before_) != 0) stdin_start_ = -1;
      break;
    case StreamKind::tty:
    case StreamKind::other:
      watch_ =
          kind == StreamKind::tty ? FilterOptions::StdinWatch::terminal : FilterOptions::StdinWatch::other;
      stdin_target_ = target_of(STDIN_FILENO);
      break;
    case StreamKind::pipe: {
      int ends[2];
      if (::pipe2(ends, O_CLOEXEC) != 0) return fail(Error::from_errno("make", "pipe"));
      stdin_read_ = Descriptor(ends[0]);
      stdin_write_ = Descriptor(ends[1]);
      ::fcntl(stdin_write_.get(), F_SETPIPE_SZ, kStdinPipeBytes);
      ::fcntl(stdin_write_.get(), F_SETFL, O_NONBLOCK);
      child_.in = stdin_read_.get();
      watch_ = FilterOptions::StdinWatch::proxied;
      stdin_target_ = target_of(stdin_read_.get());
      break;
    }
  }
  wake_ = Descriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  return wake_.is_open() ? Status{} : fail(Error::from_errno("make", "eventfd"));
}

void Streams::close_child_ends() {
  out_.close_child_end();
  err_.close_child_end();
}

void Streams::want_stdin() {
  wanted_.store(true, std::memory_order_release);
  const std::uint64_t one = 1;
  if (wake_.is_open() && ::write(wake_.get(), &one, sizeof one) < 0) return;  // full: it was woken already
}

void Streams::add_to(std::vector<pollfd>& polled) const {
  if (out_.is_open()) polled.push_back({out_.source(), POLLIN, 0});
  if (err_.is_open()) polled.push_back({err_.source(), POLLIN, 0});
  if (!stdin_write_.is_open()) return;
  if (!wanted_.load(std::memory_order_acquire)) {
    polled.push_back({wake_.get(), POLLIN, 0});
  } else if (!stdin_buffer_.empty()) {
    polled.push_back({stdin_write_.get(), POLLOUT, 0});
  } else if (!stdin_ended_) {
    polled.push_back({STDIN_FILENO, POLLIN, 0});
  }
}

void Streams::pump(const std::vector<pollfd>& polled) {
  const auto ready = [&polled](int descriptor) {
    return std::any_of(polled.begin(), polled.end(),
                       [descriptor](const pollfd& one) { return one.fd == descriptor && one.revents != 0; });
  };
  if (out_.is_open() && ready(out_.source())) out_.pump();
  if (err_.is_open() && ready(err_.source())) err_.pump();
  if (stdin_write_.is_open() && (ready(STDIN_FILENO) || ready(stdin_write_.get()))) pump_stdin();
}

void Streams::pump_stdin() {
  if (stdin_buffer_.empty() && !stdin_ended_) {
    stdin_buffer_.resize(kStdinPipeBytes);
    const ssize_t count = ::read(STDIN_FILENO, stdin_buffer_.data(), stdin_buffer_.size());
    stdin_buffer_.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
    if (count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN)) stdin_ended_ = true;
    stdin_bytes_ += stdin_buffer_.size();
    if (stdin_bytes_ > limits::kStdinBytes) {
      stdin_too_long_ = true;
    } else {
      stdin_hasher_.update(stdin_buffer_);
    }
  }
  if (!stdin_buffer_.empty()) {
    const ssize_t count = ::write(stdin_write_.get(), stdin_buffer_.data(), stdin_buffer_.size());
    if (count > 0) stdin_buffer_.erase(0, static_cast<std::size_t>(count));
  }
  if (stdin_ended_ && stdin_buffer_.empty()) stdin_write_.reset();
}

void Streams::resize_terminals() {
  out_.resize_terminal();
  err_.resize_terminal();
}

void Streams::drain() {
  out_.pump();
  err_.pump();
}

void Streams::finish(model::Observation& into) {
  for (const CapturedOutput* output : {&out_, &err_}) {
    const int refusal = output->refusal();
    if (refusal == 0) continue;
    into.doubts.push_back(
        {model::ReasonCode::output_undelivered, output->name(), std::strerror(refusal), {}});
    // A reader that went away is a fact of the caller's, and the command's business.
    if (refusal == EPIPE || into.undelivered) continue;
    into.undelivered = Error::from_errno("write to", output->name(), refusal);
  }
  into.out = out_.take();
  into.err = err_.take();
  if (into.out.truncated) into.doubts.push_back({model::ReasonCode::stream_too_long, "stdout", {}, {}});
  if (into.err.truncated) into.doubts.push_back({model::ReasonCode::stream_too_long, "stderr", {}, {}});

  const bool wanted = wanted_.load(std::memory_order_acquire);
  switch (in_kind_) {
    case StreamKind::closed:
    case StreamKind::null_device:
      return;
    case StreamKind::tty:
    case StreamKind::other:
      into.stdin_used = wanted;
      break;
    case StreamKind::pipe:
      into.stdin_used = wanted;
      if (stdin_ended_ && !stdin_too_long_) into.stdin_digest = stdin_hasher_.finish();
      break;
    case StreamKind::file: {
      into.stdin_used = wanted || ::lseek(STDIN_FILENO, 0, SEEK_CUR) != stdin_start_;
      struct stat status;
      if (!into.stdin_used || stdin_start_ < 0 || ::fstat(STDIN_FILENO, &status) != 0) break;
      if (static_cast<std::size_t>(std::max<off_t>(status.st_size - stdin_start_, 0)) > limits::kStdinBytes)
        break;
      if (!is_unchanged(stdin_before_, status)) {
        into.doubts.push_back({model::ReasonCode::input_changed, "stdin", {}, {}});
        return;
      }
      std::array<char, kChunkBytes> buffer;
      for (off_t at = stdin_start_;;) {
        const ssize_t count = ::pread(STDIN_FILENO, buffer.data(), buffer.size(), at);
        if (count < 0) break;
        if (count == 0) {
          into.stdin_digest = stdin_hasher_.finish();
          break;
        }
        stdin_hasher_.update(std::string_view(buffer.data(), static_cast<std::size_t>(count)));
        at += count;
      }
      break;
    }
  }
  if (into.stdin_used && !into.stdin_digest)
    into.doubts.push_back({model::ReasonCode::stdin_unbounded, {}, {}, {}});
}

}  // namespace hallmark::observe
