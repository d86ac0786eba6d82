#include "observe/internal/hybrid_fast_path.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/limits.h"
#include "observe/internal/injectable.h"
#include "observe/internal/process_info.h"
#include "observe/internal/program_file.h"
#include "observe/internal/sites.h"

namespace hallmark::observe {
namespace {

constexpr std::string_view kPreloadFile = "/etc/ld.so.preload";
constexpr std::size_t kPreloadMaxBytes = 64u << 10;
constexpr std::size_t kEnvironmentChunkBytes = 32u << 10;
constexpr std::size_t kEnvironmentMaxBytes = 4u << 20;
constexpr std::size_t kProcessStatBytes = 512;
constexpr int kForkHops = 16;
constexpr std::uint32_t kImagesMax = 0x7ffffffe;
/// With it ld.so lists what it would load and does not start the program: ldd.
constexpr std::string_view kTraceVariable = "LD_TRACE_LOADED_OBJECTS=";

const InjectedReply kNoSuchFile{-1, 0, ENOENT};

/// The name under which ld.so loads the agent: its own, so that debuggers find it, unless ld.so would misread
/// that.
std::string agent_name_of(const std::string& library) {
  const bool plain = library.starts_with('/') && library.find_first_of(" \t\n:#$") == std::string::npos;
  return plain ? library : ring::kAgentFile;
}

/// 0: none, or gone.
pid_t parent_of(pid_t process) {
  const OwnedDescriptor file(
      open(("/proc/" + std::to_string(process) + "/stat").c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, kProcessStatBytes> text{};
  if (file.number() < 0 || read(file.number(), text.data(), text.size() - 1) <= 0) return 0;
  const char* behind_name = std::strrchr(text.data(), ')');  // the name may hold anything
  int parent = 0;
  return behind_name != nullptr && std::sscanf(behind_name, ") %*c %d", &parent) == 1 ? parent : 0;
}

/// Whether the environment that a process was started with holds a variable ("NAME=").
bool environment_has(pid_t process, std::string_view variable) {
  const OwnedDescriptor file(
      open(("/proc/" + std::to_string(process) + "/environ").c_str(), O_RDONLY | O_CLOEXEC));
  if (file.number() < 0) return false;
  std::string text(1, '\0');  // so that every variable has a zero in front
  while (text.size() < kEnvironmentMaxBytes) {
    const std::size_t before = text.size();
    text.resize(before + kEnvironmentChunkBytes);
    const ssize_t got = read(file.number(), text.data() + before, kEnvironmentChunkBytes);
    text.resize(before + static_cast<std::size_t>(got > 0 ? got : 0));
    if (got < static_cast<ssize_t>(kEnvironmentChunkBytes)) break;
  }
  return text.find('\0' + std::string(variable)) != std::string::npos;
}

/// The memfd that ld.so reads instead of /etc/ld.so.preload: the real lines first, so that their libraries
/// keep their place.
Result<OwnedDescriptor> make_preload(os::FileSystem& files, const std::string& agent_name) {
  std::string text;
  const auto real = os::read_file(files, std::string(kPreloadFile), kPreloadMaxBytes);
  if (real) {
    text = *real + '\n';
  } else if (real.error().kind != ErrorKind::not_found) {
    return fail(real.error());
  }
  text += agent_name + '\n';
  OwnedDescriptor memory(memfd_create("ld.so.preload", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (memory.number() < 0) return fail(Error::from_errno("make shared memory", kPreloadFile));
  if (write(memory.number(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    return fail(Error::from_errno("write shared memory", kPreloadFile));
  }
  if (fcntl(memory.number(), F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) != 0) {
    return fail(Error::from_errno("seal shared memory", kPreloadFile));
  }
  return memory;
}

/// The errors that a path alone decides; the Tracker asks the disk where another one was returned.
int path_result(const RingRecord& record) {
  switch (record.result) {
    case 0:
    case -ENOENT:
    case -ENOTDIR:
      return record.result;
    case -EINVAL:
      return record.access == Access::read_link ? record.result : kResultUnknown;
    case -ENODATA:
    case -ERANGE:
    case -EOPNOTSUPP:
      return record.access == Access::look ? 0 : kResultUnknown;  // of getxattr: the file is there
    default:
      return kResultUnknown;
  }
}

}  // namespace

OwnedDescriptor& OwnedDescriptor::operator=(OwnedDescriptor&& other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}

OwnedDescriptor::~OwnedDescriptor() {
  if (number_ >= 0) close(number_);
}

HybridFastPath::HybridFastPath(os::FileSystem& files, std::string agent_library, std::string hints_file)
    : files_(files), agent_library_(std::move(agent_library)), hints_file_(std::move(hints_file)) {}

Status HybridFastPath::prepare() {
  if (agent_library_.empty()) return fail(Error{ErrorKind::not_found, "no agent library is installed", ""});
  HALLMARK_CHECK(check_agent_library(files_, agent_library_));
  agent_name_ = agent_name_of(agent_library_);
  HALLMARK_TRY(preload_, make_preload(files_, agent_name_));
  HALLMARK_TRY(reader_, RingReader::create());
  hints_ = Hints::load(files_, hints_file_);
  return {};
}

void HybridFastPath::drain(EventSink& sink) {
  const bool was_broken = reader_->broken();
  sink_ = &sink;
  reader_->drain(*this);
  sink_ = nullptr;
  if (reader_->broken() && !was_broken) {
    sink.on_doubt(
        {model::ReasonCode::observation_lost, "", "a record of the shared memory cannot be read", ""});
  }
}

void HybridFastPath::on_record(const RingRecord& record) {
  if (record.image >= images_.size()) {
    sink_->on_doubt(
        {model::ReasonCode::observation_lost, "", "a record of the shared memory is nobody's", ""});
    return reader_->close();
  }
  if (record.path == agent_library_) return;  // a debugger
  const Image& image = images_[record.image];
  ++programs_[image.program].accesses;
  Event event;
  event.thread = image.process;
  event.access = record.access;
  event.follow = record.follow;
  event.flags = record.flags;
  event.result = path_result(record);
  event.path = record.path;
  event.stat = record.stat;
  sink_->on_event(event);
}

std::optional<InjectedReply> HybridFastPath::answer(const Event& event, bool& report) {
  if (event.path.starts_with(ring::kPrivatePrefix)) return answer_private(event);
  const auto found = processes_.find(event.thread);
  if (found == processes_.end()) return std::nullopt;
  Process& process = found->second;
  ++programs_[process.program].accesses;
  if (process.stage == Stage::opened && event.path == agent_name_) return give_agent(process);
  if (process.stage == Stage::none || event.path != kPreloadFile) return std::nullopt;
  return answer_preload(event, process, report);
}

std::optional<InjectedReply> HybridFastPath::answer_preload(const Event& event, Process& process,
                                                            bool& report) {
  // ld.so first looks, then opens. The real file stays an input, there or not: libraries may appear in it.
  report = true;
  if (process.stage == Stage::executed && event.access == Access::look) {
    if (reader_->closed() || new_view_ || environment_has(event.thread, kTraceVariable)) {
      process.stage = Stage::none;
      return std::nullopt;
    }
    process.stage = Stage::looked;
    return InjectedReply{};
  }
  if (process.stage == Stage::looked && event.access == Access::open_read) {
    process.stage = Stage::opened;
    return InjectedReply{preload_.number(), 0, 0};
  }
  process.stage = Stage::none;
  return std::nullopt;
}

InjectedReply HybridFastPath::answer_private(const Event& event) {
  if (event.path == ring::kDoorbell) return InjectedReply{};
  const auto found = processes_.find(event.thread);
  if (found == processes_.end() || event.access == Access::look) return kNoSuchFile;
  Process& process = found->second;
  if (process.stage == Stage::opened && event.path == agent_name_) return give_agent(process);
  if (process.stage == Stage::loaded && event.path.starts_with(ring::kRingPrefix)) {
    process.stage = Stage::none;
    return give_ring(event.thread, process, std::string(event.path.substr(sizeof(ring::kRingPrefix) - 1)));
  }
  return kNoSuchFile;
}

InjectedReply HybridFastPath::give_agent(Process& process) {
  // Opened anew for each process: ld.so reads from the file's offset, which copies of a descriptor share.
  OwnedDescriptor agent(open(agent_library_.c_str(), O_RDONLY | O_CLOEXEC));
  if (agent.number() < 0) return kNoSuchFile;
  last_agent_ = std::move(agent);
  process.stage = Stage::loaded;
  return {last_agent_.number(), 0, 0};
}

InjectedReply HybridFastPath::give_ring(pid_t thread, Process& process, const std::string& libc) {
  if (reader_->closed() || images_.size() >= kImagesMax) return kNoSuchFile;
  const auto library = library_of(libc);
  if (!library) return kNoSuchFile;
  const auto image = static_cast<std::uint64_t>(images_.size());
  images_.push_back({thread, process.program});
  const std::uint64_t value = image << ring::kReplyImageShift | std::uint64_t{*library}
                                                                    << ring::kReplyLibraryShift;
  return {reader_->descriptor(), static_cast<std::int64_t>(value), 0};
}

std::optional<std::uint32_t> HybridFastPath::library_of(const std::string& libc) {
  const auto stat = files_.stat(libc);
  if (!stat || !*stat) return std::nullopt;
  const auto [place, is_new] = libraries_.try_emplace(FileKey{(*stat)->device, (*stat)->inode});
  if (is_new) {
    auto sites = hints_.sites_of(**stat);
    if (!sites) {
      sites = find_sites_in_file(libc).value_or(std::vector<ring::SharedSite>{});
      hints_.learn_sites(**stat, *sites);
    }
    if (!sites->empty()) place->second = reader_->add_library(*sites);
  }
  return place->second;
}

std::optional<std::uint32_t> HybridFastPath::program_of(std::string_view path) {
  std::string program(path);
  auto stat = files_.stat(program);
  for (std::size_t hop = 0; hop < limits::kShebangHops && stat && *stat; ++hop) {
    const FileKey key{(*stat)->device, (*stat)->inode};
    const auto known = program_index_.find(key);
    if (known != program_index_.end() && programs_[known->second].stat == **stat) return known->second;
    const ProgramFile head = read_program_file(files_, program);
    if (head.kind == ProgramFile::Kind::script) {
      program = head.interpreter;
      stat = files_.stat(program);
      continue;
    }
    const bool inject = agent_obstacle(files_, program) == AgentObstacle::none && hints_.pays(**stat);
    const auto index = static_cast<std::uint32_t>(programs_.size());
    programs_.push_back({**stat, inject, 0, 0});
    program_index_[key] = index;
    return index;
  }
  return std::nullopt;
}

void HybridFastPath::on_execute(pid_t thread, std::string_view path) {
  const auto program = program_of(path);
  if (!program) {
    processes_.erase(thread);
    return;
  }
  ++programs_[*program].processes;
  const bool inject = programs_[*program].inject && !reader_->closed() && !new_view_;
  processes_[thread] = {*program, inject ? Stage::executed : Stage::none};
}

void HybridFastPath::on_confine(pid_t thread) {
  // A process that forked from an image without executing anything has the image of its parent.
  pid_t process = linux_process_info().process_of(thread);
  for (int hops = 0; hops < kForkHops && process > 1; ++hops) {
    const auto found = std::ranges::find(images_.rbegin(), images_.rend(), process, &Image::process);
    if (found != images_.rend()) {
      return reader_->confine(static_cast<std::uint32_t>(images_.rend() - found - 1));
    }
    process = parent_of(process);
  }
  reader_->close();
}

void HybridFastPath::on_new_view() {
  new_view_ = true;
  reader_->close();
}

void HybridFastPath::finish(EventSink& sink) {
  drain(sink);
  if (reader_->lost() != 0 && !reader_->broken()) {
    sink.on_doubt({model::ReasonCode::observation_lost, "", "a process died in the middle of an access", ""});
  }
  reader_->close();  // survivors have nobody left to read what they write
  learn();
}

void HybridFastPath::learn() {
  if (hints_file_.empty()) return;
  for (const Program& program : programs_) hints_.learn(program.stat, program.processes, program.accesses);
  // Nobody waits for a hint: a failure only means that the next run does not know better.
  if (hints_.worth_saving()) (void)hints_.save(files_, hints_file_, std::to_string(getpid()));
}

}  // namespace hallmark::observe
