// ObservedWorld: a fake file system and a Tracker that sees each access just before (changes) or after
// (looks) it is carried out, as a tier would report it. describe() gives the Observation as lines that a test
// can compare.
#pragma once

#include <fcntl.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/limits.h"
#include "observe/internal/tracker.h"
#include "support/fake_clock.h"
#include "support/fake_file_system.h"

namespace hallmark::observe {

class FakeHasher final : public digest::ContentHasher {
 public:
  explicit FakeHasher(os::FileSystem& files) : files_(files) {}
  Result<Hashed> hash(const std::string& path) override {
    ++calls;
    HALLMARK_TRY(const std::string bytes, os::read_file(files_, path, 1u << 20));
    HALLMARK_TRY(const auto stat, files_.stat(path));
    return Hashed{digest::digest_of(bytes), *stat};
  }
  int calls = 0;

 private:
  os::FileSystem& files_;
};

class FakeProcesses final : public ProcessInfo {
 public:
  pid_t process_of(pid_t thread) override { return threads.contains(thread) ? threads[thread] : thread; }
  bool has_capabilities(const std::string& path) override { return capable.contains(path); }
  std::map<pid_t, pid_t> threads;
  std::set<std::string> capable;
};

class ObservedWorld {
 public:
  explicit ObservedWorld(TrackerOptions options = {})
      : tracker(files, hasher, processes, std::move(options)) {
    for (const char* folder : {"/usr", "/usr/bin", "/usr/lib", "/tmp", "/w", "/proc", "/dev"}) {
      (void)files.make_folder(folder, 0755);
    }
  }

  void report(Access access, std::string_view path, std::uint64_t flags = 0, bool follow = true,
              std::string_view second = {}) {
    Event event;
    event.thread = thread;
    event.access = access;
    event.path = path;
    event.second_path = second;
    event.flags = flags;
    event.follow = follow;
    tracker.on_event(event);
    clock.advance_ns(1'000'000);
  }

  void read(const std::string& path) { report(Access::open_read, path); }
  void look(const std::string& path, bool follow = true) { report(Access::look, path, 0, follow); }
  void read_link(const std::string& path) { report(Access::read_link, path, 0, false); }
  void execute(const std::string& path) { report(Access::execute, path); }
  void list(const std::string& path) { report(Access::list, path); }

  void write(const std::string& path, std::string_view bytes = "new") {
    report(Access::open_write, path, O_WRONLY | O_CREAT | O_TRUNC);
    files.put(path, bytes);
  }
  void append(const std::string& path, std::string_view bytes = "more") {
    report(Access::open_write, path, O_WRONLY | O_CREAT | O_APPEND);
    const auto stat = files.lstat(path);
    const std::string old = stat && *stat ? files.bytes(path) : std::string();
    files.put(path, old + std::string(bytes));
  }
  void remove(const std::string& path) {
    report(Access::remove, path, 0, false);
    (void)files.remove(path);
  }
  void remove_folder(const std::string& path) {
    report(Access::remove_folder, path, 0, false);
    (void)files.remove_folder(path);
  }
  void rename(const std::string& from, const std::string& to) {
    report(Access::rename, from, 0, false, to);
    (void)files.rename(from, to);
  }
  void make_folder(const std::string& path) {
    report(Access::make_folder, path, 0, false);
    (void)files.make_folder(path, 0755);
  }
  void make_link(const std::string& target, const std::string& path) {
    report(Access::make_link, path, 0, false);
    (void)files.make_link(target, path);
  }
  void set_mode(const std::string& path, std::uint32_t mode) {
    report(Access::set_attribute, path);
    (void)files.set_mode(path, mode);
  }

  const model::Observation& finish() {
    if (!finished_) tracker.finish(observation);
    finished_ = true;
    return observation;
  }

  /// Inputs as "content /a", "absent /b", "kind /c", "link /d -> t", "listing /e: x y"; sorted as in the
  /// Observation.
  std::vector<std::string> inputs() {
    std::vector<std::string> lines;
    for (const model::ObservedInput& input : finish().inputs) {
      std::string line;
      switch (input.use) {
        case model::Use::content:
          line = "content " + input.path;
          break;
        case model::Use::kind:
          line = (input.stat ? "kind " : "absent ") + input.path;
          break;
        case model::Use::link:
          line = "link " + input.path + " -> " + input.target;
          break;
        case model::Use::listing:
          line = "listing " + input.path + ":";
          for (const std::string& name : input.names) line += " " + name;
          break;
        case model::Use::size:
        case model::Use::mtime:
          line = "? " + input.path;
          break;
      }
      lines.push_back(line);
    }
    return lines;
  }
  /// Outputs as "new /a", "replaced /b", "changed /c" (in place), with " folder" or " link" and " searched"
  /// behind; then "removed /d".
  std::vector<std::string> outputs() {
    std::vector<std::string> lines;
    for (const model::ObservedOutput& output : finish().outputs) {
      std::string line = !output.whole ? "changed " : output.before ? "replaced " : "new ";
      line += output.path;
      if (output.kind == NodeKind::directory) line += " folder";
      if (output.kind == NodeKind::symlink) line += " link";
      if (output.searched) line += " searched";
      lines.push_back(line);
    }
    for (const model::ObservedRemoval& removal : finish().removals)
      lines.push_back("removed " + removal.path);
    return lines;
  }
  std::vector<std::string> doubts() {
    std::vector<std::string> lines;
    for (const model::Reason& doubt : finish().doubts) {
      lines.push_back(std::string(model::name_of(doubt.code)) + " " + doubt.subject);
    }
    return lines;
  }

  test::FakeClock clock;
  test::FakeFileSystem files{clock};
  FakeHasher hasher{files};
  FakeProcesses processes;
  Tracker tracker;
  model::Observation observation;
  pid_t thread = 100;

 private:
  bool finished_ = false;
};

}  // namespace hallmark::observe
