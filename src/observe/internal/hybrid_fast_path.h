// HybridFastPath: the supervisor's half of the hybrid tier. It puts the agent (src/observe/agent) into
// programs, gives it the ring, and reports what comes back through the ring.
//
// How the agent gets into a program without a trace in its environment: ld.so looks for /etc/ld.so.preload
// early in every program. This goes through the supervisor like every other access, which answers with a
// memfd that holds the real file's lines and one more. ld.so then opens that name, gets the agent's file, and
// runs its set-up, which asks for the ring under a name that only the supervisor knows to answer. Programs in
// which ld.so does not ask, or asks in another order, get no agent; for them nothing changes.
//
// Threads: as FastPath says. Never writes but the hints file. Memory: a few bytes per execution.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "observe/internal/fast_path.h"
#include "observe/internal/hints.h"
#include "observe/internal/ring_reader.h"
#include "os/file_system.h"

namespace hallmark::observe {

/// An open descriptor of ours.
class OwnedDescriptor {
 public:
  OwnedDescriptor() = default;
  explicit OwnedDescriptor(int number) : number_(number) {}
  OwnedDescriptor(OwnedDescriptor&& other) noexcept : number_(other.number_) { other.number_ = -1; }
  OwnedDescriptor& operator=(OwnedDescriptor&& other) noexcept;
  ~OwnedDescriptor();
  int number() const { return number_; }

 private:
  int number_ = -1;
};

class HybridFastPath final : public FastPath, private RingConsumer {
 public:
  /// `agent_library`: the agent's file. `hints_file` may be empty: then every program gets an agent.
  HybridFastPath(os::FileSystem& files, std::string agent_library, std::string hints_file);

  Status prepare() override;
  StubPage stub() const override { return {ring::kStubAddress, ring::kStubBytes}; }
  void drain(EventSink& sink) override;
  std::optional<InjectedReply> answer(const Event& event, bool& report) override;
  void on_new_view() override;
  void on_confine(pid_t thread) override;
  void on_execute(pid_t thread, std::string_view path) override;
  void finish(EventSink& sink) override;
  std::uint64_t fast_events() const override { return reader_ ? reader_->records() : 0; }

 private:
  /// How far ld.so has come in a process that is to get the agent.
  enum class Stage : std::uint8_t { none, executed, looked, opened, loaded };
  struct Process {
    std::uint32_t program = 0;
    Stage stage = Stage::none;
  };
  /// One execution that asked for the ring.
  struct Image {
    pid_t process = 0;
    std::uint32_t program = 0;
  };
  struct Program {
    FileStat stat;
    bool inject = false;
    std::uint64_t processes = 0;
    std::uint64_t accesses = 0;
  };
  struct FileKey {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    bool operator==(const FileKey&) const = default;
  };
  struct FileKeyHash {
    std::size_t operator()(const FileKey& key) const {
      return static_cast<std::size_t>(key.inode * 0x9e3779b97f4a7c15ULL ^ key.device);
    }
  };

  void on_record(const RingRecord& record) override;
  std::optional<std::uint32_t> program_of(std::string_view path);
  std::optional<InjectedReply> answer_preload(const Event& event, Process& process, bool& report);
  InjectedReply answer_private(const Event& event);
  InjectedReply give_agent(Process& process);
  InjectedReply give_ring(pid_t thread, Process& process, const std::string& libc);
  std::optional<std::uint32_t> library_of(const std::string& libc);
  void learn();

  os::FileSystem& files_;
  std::string agent_library_;
  std::string agent_name_;  ///< what ld.so is told to load
  std::string hints_file_;
  Hints hints_;
  std::unique_ptr<RingReader> reader_;
  OwnedDescriptor preload_;     ///< what ld.so reads as /etc/ld.so.preload
  OwnedDescriptor last_agent_;  ///< kept until the next answer
  std::vector<Program> programs_;
  std::unordered_map<FileKey, std::uint32_t, FileKeyHash> program_index_;
  std::unordered_map<pid_t, Process> processes_;
  std::vector<Image> images_;
  std::unordered_map<FileKey, std::optional<std::uint32_t>, FileKeyHash> libraries_;
  EventSink* sink_ = nullptr;  ///< during drain()
  bool new_view_ = false;
};

}  // namespace hallmark::observe
