// ScriptedRunner: stands in for the observer. It plays a command that a test wrote as a function on the fake
// disk, and gives the Observation that an observer of such a command would give.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "base/path.h"
#include "engine/ports.h"
#include "support/fake_clock.h"
#include "support/fake_file_system.h"

namespace hallmark::test {

/// What a played command may do. Paths are absolute and in normal form.
class Play {
 public:
  Play(FakeFileSystem& disk, FakeClock& ticking, const observe::Request& asked)
      : files(disk), clock(ticking), request(asked) {
    observation.tier = model::Tier::hybrid;
    observation.start_ns = clock.now_ns();
    clock.advance_ms(100);
  }

  void execute(const std::string& program) {
    observation.programs.push_back({program, std::string(path::base_name(program))});
    note(program, model::Use::content);
  }
  /// Its bytes; "" if it is absent.
  std::string read(const std::string& path) {
    const auto stat = note(path, model::Use::content);
    return stat && stat->kind == NodeKind::file ? files.bytes(path) : std::string();
  }
  void look(const std::string& path) { note(path, model::Use::kind); }
  void follow(const std::string& link) { note(link, model::Use::link); }
  void list(const std::string& folder) { note(folder, model::Use::listing); }

  void write(const std::string& path, std::string_view bytes, std::uint32_t mode = 0644) {
    made(path, NodeKind::file);
    files.put(path, bytes, mode);
  }
  void make_folder(const std::string& path, std::uint32_t mode = 0755) {
    made(path, NodeKind::directory);
    (void)files.make_folder(path, mode);
  }
  /// One whose other names would have counted.
  void make_searched_folder(const std::string& path) {
    made(path, NodeKind::directory);
    observation.outputs.back().searched = true;
    (void)files.make_folder(path, 0755);
  }
  void make_link(const std::string& target, const std::string& path) {
    made(path, NodeKind::symlink);
    (void)files.remove(path);
    (void)files.make_link(target, path);
  }
  void say(std::string_view text) { observation.out.bytes.append(text); }
  void complain(std::string_view text) { observation.err.bytes.append(text); }
  /// stdout takes no more bytes.
  void lose_output() { observation.undelivered = Error{ErrorKind::io, "write to stdout: no space", {}}; }
  void exit(int code) { observation.wait_status = code << 8; }

  FakeFileSystem& files;
  FakeClock& clock;
  const observe::Request& request;
  model::Observation observation;  ///< free to be added to

 private:
  std::optional<FileStat> note(const std::string& path, model::Use use) {
    auto stat = files.lstat(path).value();
    const bool own = std::any_of(observation.outputs.begin(), observation.outputs.end(),
                                 [&](const auto& output) { return output.path == path; });
    if (own) return stat;
    model::ObservedInput input{path, use, stat, {}, {}, {}};
    if (use == model::Use::link && stat && stat->kind == NodeKind::symlink)
      input.target = files.read_link(path).value();
    if (use == model::Use::listing && stat) {
      const auto names = files.list(path).value();
      for (const auto& name : names) {
        const auto is_it = [&](const auto& output) {
          return output.path == path::join(path, name) && !output.before;
        };
        if (std::none_of(observation.outputs.begin(), observation.outputs.end(), is_it))
          input.names.push_back(name);
      }
    }
    if (seen_.emplace(path, use).second) observation.inputs.push_back(std::move(input));
    return stat;
  }
  void made(const std::string& path, NodeKind kind) {
    const auto known = std::find_if(observation.outputs.begin(), observation.outputs.end(),
                                    [&](const auto& output) { return output.path == path; });
    if (known == observation.outputs.end())
      observation.outputs.push_back({path, kind, true, files.lstat(path).value()});
  }

  std::set<std::pair<std::string, model::Use>> seen_;
};

class ScriptedRunner final : public engine::Runner {
 public:
  ScriptedRunner(FakeFileSystem& files, FakeClock& clock) : files_(files), clock_(clock) {}

  Result<model::Observation> run(const observe::Request& request) override {
    ++runs;
    last = request;
    if (cannot_start) return fail(*cannot_start);
    Play play(files_, clock_, request);
    script(play);
    clock_.advance_ms(900);
    auto& observation = play.observation;
    observation.wall_ns = clock_.now_ns() - observation.start_ns;
    const auto key = [](const auto& input) { return std::tie(input.path, input.use); };
    std::sort(observation.inputs.begin(), observation.inputs.end(),
              [&](const auto& a, const auto& b) { return key(a) < key(b); });
    std::sort(observation.outputs.begin(), observation.outputs.end(),
              [](const auto& a, const auto& b) { return a.path < b.path; });
    return std::move(observation);
  }

  std::function<void(Play&)> script;
  std::optional<Error> cannot_start;
  int runs = 0;
  observe::Request last;

 private:
  FakeFileSystem& files_;
  FakeClock& clock_;
};

}  // namespace hallmark::test
