// The real ports: the observer, this machine, this process's standard streams.
#pragma once

#include <memory>
#include <string>
#include <thread>

#include "engine/ports.h"
#include "os/clock.h"
#include "os/file_system.h"

namespace hallmark::engine {

class ObserverRunner final : public Runner {
 public:
  ObserverRunner(os::FileSystem& files, digest::ContentHasher& hasher) : observer_(files, hasher) {}
  Result<model::Observation> run(const observe::Request& request) override { return observer_.run(request); }

 private:
  observe::Observer observer_;
};

class LinuxMachine final : public Machine {
 public:
  LinuxMachine(os::FileSystem& files, os::Clock& clock) : files_(files), clock_(clock) {}
  std::optional<std::string> identity(std::string_view what) override;
  bool has_fine_stamps(const std::string& folder) override;

 private:
  std::string cpu();
  std::string gpu();
  std::string date();

  os::FileSystem& files_;
  os::Clock& clock_;
};

/// Streams 0, 1 and 2 of this process.
class LinuxStreams final : public Streams {
 public:
  LinuxStreams() = default;
  LinuxStreams(const LinuxStreams&) = delete;
  LinuxStreams& operator=(const LinuxStreams&) = delete;
  ~LinuxStreams() override;

  Status write(int stream, std::string_view bytes) override;
  std::optional<digest::Digest> digest_of_stdin(model::StreamKind kind) override;
  Status feed_back() override;
  void skip_stdin(model::StreamKind kind) override;
  bool stdin_at_end() override;

 private:
  bool asked_ = false;
  std::optional<digest::Digest> known_;
  std::string taken_;  ///< bytes that were read from a pipe
  bool took_from_pipe_ = false;
  bool reached_end_ = false;
  std::thread feeder_;
  int source_ = -1;  ///< the pipe that was stdin before feed_back
};

}  // namespace hallmark::engine
