#include "observe/internal/call_reader.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/path.h"
#include "observe/internal/proc_text.h"

namespace hallmark::observe {
namespace {

using model::ReasonCode;

constexpr std::size_t kAddressBytes = 128;  // sizeof(sockaddr_storage)
constexpr std::size_t kMessages = 64;       // of one sendmmsg; more is taken as reaching out
constexpr std::size_t kPolled = 256;        // of one poll; descriptor 0 comes first in every program known
constexpr std::string_view kDeleted = " (deleted)";

std::string_view read_link(const ProcPath& path, std::span<char> buffer) {
  const ssize_t length = ::readlink(path.c_str(), buffer.data(), buffer.size());
  return length <= 0 ? std::string_view{} : std::string_view(buffer.data(), static_cast<std::size_t>(length));
}

/// What the flags argument of a call says of its event; the value is the argument, or what it points to.
void apply_flags(FlagKind kind, std::uint64_t value, Event& event) {
  switch (kind) {
    case FlagKind::none:
      return;
    case FlagKind::creat:
      event.flags = O_CREAT | O_WRONLY | O_TRUNC;
      return;
    case FlagKind::open:
    case FlagKind::open_how:
      event.flags = value;
      event.access = access_of_open(value);
      event.follow = (value & O_NOFOLLOW) == 0;
      return;
    case FlagKind::at:
      if ((value & AT_SYMLINK_NOFOLLOW) != 0) event.follow = false;
      return;
    case FlagKind::at_follow:
      event.follow = (value & AT_SYMLINK_FOLLOW) != 0;
      return;
    case FlagKind::unlink:
      if ((value & AT_REMOVEDIR) != 0) event.access = Access::remove_folder;
      return;
    case FlagKind::rename:
    case FlagKind::length:
      event.flags = value;
      return;
    case FlagKind::watch:
      event.follow = (value & IN_DONT_FOLLOW) == 0;
      return;
  }
}

/// A folder that is gone reads "NAME (deleted)", as does a living folder of that name.
bool is_removed(const ProcPath& link, std::string_view target) {
  if (!target.ends_with(kDeleted)) return false;
  struct stat status;
  return ::stat(link.c_str(), &status) != 0 || status.st_nlink == 0;
}

}  // namespace

std::string program_of(pid_t thread) {
  std::array<char, limits::kPathBytes> buffer;
  const std::string_view path = read_link(ProcPath(thread, "exe"), buffer);
  return path.empty() ? "process " + std::to_string(thread) : std::string(path);
}

CallReader::Outcome CallReader::failed(MemoryRead result, pid_t thread, EventSink& sink) {
  if (result == MemoryRead::gone) return Outcome::gone;
  if (result == MemoryRead::refused) {
    sink.on_doubt({ReasonCode::unreadable_process, program_of(thread), {}, {}});
  }
  return Outcome::nothing;  // a bad address: the call fails with EFAULT or ENAMETOOLONG
}

CallReader::Outcome CallReader::read(const Call& call, const SyscallRule& rule, EventSink& sink,
                                     Event& event) {
  event = {};
  event.thread = call.thread;
  event.access = rule.access;
  event.follow = rule.follow;
  switch (rule.kind) {
    case CallKind::path:
      return read_path_call(call, rule, sink, event);
    case CallKind::descriptor:
      first_.absolute =
          ProcPath(call.thread, "fd", static_cast<int>(call.arguments[static_cast<std::size_t>(rule.folder)]))
              .view();
      event.path = first_.absolute;
      return Outcome::event;
    case CallKind::list:
      return read_list(call, sink, event);
    case CallKind::address:
    case CallKind::send_to:
    case CallKind::send_message:
    case CallKind::send_messages:
      return read_network(call, rule, sink, event);
    case CallKind::stdin_use:
    case CallKind::stdin_wait:
      read_stdin_call(call, rule);
      return Outcome::nothing;
    case CallKind::confine:
      return Outcome::nothing;
    case CallKind::channel:
      sink.on_doubt({ReasonCode::channel_used, rule.name, {}, {}});
      return Outcome::nothing;
    case CallKind::beyond:
      other_roots_ = true;
      sink.on_doubt({ReasonCode::observation_lost, program_of(call.thread), rule.name, {}});
      return Outcome::nothing;
  }
  return Outcome::nothing;
}

CallReader::Outcome CallReader::read_path_call(const Call& call, const SyscallRule& rule, EventSink& sink,
                                               Event& event) {
  std::uint64_t flags = rule.flags == kNoArgument ? 0 : call.arguments[static_cast<std::size_t>(rule.flags)];
  int folder = AT_FDCWD;
  if (rule.folder != kNoArgument)
    folder = static_cast<int>(call.arguments[static_cast<std::size_t>(rule.folder)]);
  if (rule.flag_kind == FlagKind::open_how) {
    open_how how{};
    const std::uint64_t address = flags;
    const MemoryRead result = memory_.read(call.thread, address, {reinterpret_cast<char*>(&how), sizeof how});
    if (result != MemoryRead::ok) return failed(result, call.thread, sink);
    flags = how.flags;
    if ((how.resolve & RESOLVE_IN_ROOT) != 0) {
      sink.on_doubt({ReasonCode::observation_lost, program_of(call.thread), rule.name, {}});
    }
  }
  apply_flags(rule.flag_kind, flags, event);
  const bool at_flags = rule.flag_kind == FlagKind::at || rule.flag_kind == FlagKind::at_follow;
  const bool changes_attribute = rule.access == Access::set_attribute;
  const bool by_descriptor =
      rule.access == Access::execute || rule.access == Access::hard_link || changes_attribute;
  const bool no_path = call.arguments[static_cast<std::size_t>(rule.path)] == 0;
  // futimens(3) gives no path at all.
  const bool empty_is_folder = (by_descriptor && at_flags && (flags & AT_EMPTY_PATH) != 0) ||
                               (changes_attribute && no_path && rule.folder != kNoArgument);
  if (const auto outcome = read_path(call, folder, rule.path, empty_is_folder, sink, first_);
      outcome != Outcome::event) {
    return outcome;
  }
  event.path = first_.absolute;
  const bool names_stdin = event.path.ends_with("/fd/0") || event.path == "/dev/stdin";
  if (names_stdin && event.access == Access::open_read && has_our_stdin(call.thread)) stdin_wanted_ = true;
  if (empty_is_folder && event.path.starts_with("/proc/")) event.follow = true;
  if (rule.second_path != kNoArgument) {
    int second_folder = AT_FDCWD;
    if (rule.second_folder != kNoArgument) {
      second_folder = static_cast<int>(call.arguments[static_cast<std::size_t>(rule.second_folder)]);
    }
    if (const auto outcome = read_path(call, second_folder, rule.second_path, false, sink, second_);
        outcome != Outcome::event) {
      return outcome;
    }
    event.second_path = second_.absolute;
  }
  if (rule.number == SYS_chroot) other_roots_ = true;
  return Outcome::event;
}

CallReader::Outcome CallReader::read_path(const Call& call, int folder, int path, bool empty_is_folder,
                                          EventSink& sink, Spelled& into) {
  const std::uint64_t address = call.arguments[static_cast<std::size_t>(path)];
  if (address == 0 && !empty_is_folder) return Outcome::nothing;
  std::string_view text;
  if (address != 0) {
    const MemoryRead result = memory_.read_text(call.thread, address, into.text, text);
    if (result != MemoryRead::ok) return failed(result, call.thread, sink);
  }
  if (text.empty()) {
    if (!empty_is_folder) return Outcome::nothing;
    into.absolute =
        (folder == AT_FDCWD ? ProcPath(call.thread, "cwd") : ProcPath(call.thread, "fd", folder)).view();
    return Outcome::event;
  }
  return make_absolute(call.thread, folder, text, sink, into.absolute);
}

CallReader::Outcome CallReader::make_absolute(pid_t thread, int folder, std::string_view path,
                                              EventSink& sink, std::string& into) {
  std::array<char, limits::kPathBytes> root_buffer;
  std::string_view root;
  if (other_roots_) {
    root = read_link(ProcPath(thread, "root"), root_buffer);
    if (root == "/") root = {};
  }
  if (path.front() == '/') {
    into.clear();
    if (!root.empty()) into = ProcPath(thread, "root").view();
    into.append(path);
    return Outcome::event;
  }
  std::array<char, limits::kPathBytes> buffer;
  const ProcPath link = folder == AT_FDCWD ? ProcPath(thread, "cwd") : ProcPath(thread, "fd", folder);
  const std::string_view base = read_link(link, buffer);
  // A process always has a working folder until it ends: one that cannot be told hides an access.
  if (base.empty() && folder == AT_FDCWD) {
    if (errno == ENOENT || errno == ESRCH) return Outcome::gone;
    sink.on_doubt({ReasonCode::unreadable_process, program_of(thread), {}, {}});
  }
  // A bad descriptor, or one that is no folder; or a folder that is removed: no name can be found behind it.
  if (!base.starts_with('/') || is_removed(link, base)) return Outcome::nothing;
  into.clear();
  if (!root.empty() && path::is_within(base, root)) {
    into = ProcPath(thread, "root").view();
    into.append(base.substr(root.size()));
  } else if (base != "/") {
    into = base;
  }
  into.append("/").append(path);
  return Outcome::event;
}

CallReader::Outcome CallReader::read_list(const Call& call, EventSink&, Event& event) {
  const ProcPath link(call.thread, "fd", static_cast<int>(call.arguments[0]));
  const std::string_view folder = read_link(link, first_.text);
  if (!folder.starts_with('/') || is_removed(link, folder)) return Outcome::nothing;
  first_.absolute = folder;
  event.path = first_.absolute;
  return Outcome::event;
}

CallReader::Outcome CallReader::read_network(const Call& call, const SyscallRule& rule, EventSink& sink,
                                             Event& event) {
  struct Place {
    std::uint64_t address;
    std::uint64_t bytes;
  };
  std::array<Place, kMessages> places;
  std::size_t count = 0;
  const auto& arguments = call.arguments;
  if (rule.kind == CallKind::address || rule.kind == CallKind::send_to) {
    const std::size_t at = rule.kind == CallKind::address ? 1 : 4;
    places[count++] = {arguments[at], arguments[at + 1]};
  } else {
    const bool many = rule.kind == CallKind::send_messages;
    const std::uint64_t messages = many ? arguments[2] : 1;
    if (messages > kMessages) sink.on_doubt({ReasonCode::network_used, rule.name, {}, {}});
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(messages, kMessages); ++i) {
      mmsghdr message{};
      const std::size_t bytes = many ? sizeof(mmsghdr) : sizeof(msghdr);
      const MemoryRead result =
          memory_.read(call.thread, arguments[1] + i * bytes, {reinterpret_cast<char*>(&message), bytes});
      if (result != MemoryRead::ok) return failed(result, call.thread, sink);
      const msghdr& header = message.msg_hdr;
      // Descriptor 0 may be on its way to another process.
      if (header.msg_controllen != 0 && has_our_stdin(call.thread)) stdin_wanted_ = true;
      if (header.msg_name != nullptr) {
        places[count++] = {reinterpret_cast<std::uint64_t>(header.msg_name), header.msg_namelen};
      }
    }
  }
  const bool binds = rule.number == SYS_bind;
  for (std::size_t i = 0; i < count; ++i) {
    std::array<char, kAddressBytes> bytes{};
    const std::size_t length = std::min<std::uint64_t>(places[i].bytes, bytes.size());
    const MemoryRead result = memory_.read(call.thread, places[i].address, {bytes.data(), length});
    if (result != MemoryRead::ok) return failed(result, call.thread, sink);
    const NetworkJudge::Judged judged = network_.judge({bytes.data(), length}, binds);
    if (judged.verdict == NetworkJudge::Verdict::reaches) {
      sink.on_doubt({ReasonCode::network_used, judged.subject, {}, {}});
    }
    if (judged.verdict != NetworkJudge::Verdict::path) continue;
    if (make_absolute(call.thread, AT_FDCWD, judged.subject, sink, first_.absolute) != Outcome::event)
      continue;
    event.path = first_.absolute;
    event.access = binds ? Access::make_node : Access::look;
    event.follow = !binds;
    if (!binds && ::access(first_.absolute.c_str(), F_OK) == 0 &&
        !sink.is_own(first_.absolute, call.thread)) {
      sink.on_doubt({ReasonCode::network_used, "unix:" + first_.absolute, {}, {}});
    }
    return Outcome::event;
  }
  return Outcome::nothing;
}

bool CallReader::has_our_stdin(pid_t thread) {
  if (stdin_target_.empty()) return false;
  std::array<char, limits::kPathBytes> buffer;
  return read_link(ProcPath(thread, "fd", 0), buffer) == stdin_target_;
}

void CallReader::read_stdin_call(const Call& call, const SyscallRule& rule) {
  if (stdin_wanted_ || (rule.kind == CallKind::stdin_wait && !waits_for_stdin(call, rule))) return;
  stdin_wanted_ = has_our_stdin(call.thread);
}

bool CallReader::waits_for_stdin(const Call& call, const SyscallRule& rule) {
  if (rule.number == SYS_select || rule.number == SYS_pselect6) {
    char first = 0;
    return call.arguments[1] != 0 &&
           memory_.read(call.thread, call.arguments[1], {&first, 1}) == MemoryRead::ok && (first & 1) != 0;
  }
  std::array<pollfd, kPolled> polled;
  const std::size_t number = std::min<std::uint64_t>(call.arguments[1], kPolled);
  const std::span<char> bytes(reinterpret_cast<char*>(polled.data()), number * sizeof(pollfd));
  if (memory_.read(call.thread, call.arguments[0], bytes) != MemoryRead::ok) return false;
  return std::any_of(polled.begin(), polled.begin() + static_cast<std::ptrdiff_t>(number),
                     [](const pollfd& one) { return one.fd == 0 && (one.events & POLLIN) != 0; });
}

}  // namespace hallmark::observe
