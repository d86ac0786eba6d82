// EngineTest: a disk in memory with a compiler and a source tree below /r, a store, and an Engine for each
// run, as every call of hallmark is a process of its own.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "store/local_store.h"
#include "support/fake_clock.h"
#include "support/fake_file_system.h"
#include "unit/engine/fake_ports.h"
#include "unit/engine/scripted_runner.h"

namespace hallmark::test {

using Lines = std::vector<std::string>;

/// "content_changed /r/a.h", each Reason a line.
inline Lines lines_of(const std::vector<model::Reason>& reasons) {
  Lines lines;
  for (const auto& reason : reasons) {
    std::string line(model::name_of(reason.code));
    if (!reason.subject.empty()) line += " " + reason.subject;
    lines.push_back(std::move(line));
  }
  return lines;
}

class EngineTest : public ::testing::Test {
 protected:
  static constexpr const char* kStore = "/store";

  EngineTest() {
    for (const char* folder : {"/r", "/r/include", "/usr", "/usr/bin", "/tmp", "/home", "/home/u"})
      (void)disk_.make_folder(folder, 0755);
    disk_.put("/usr/bin/g++",
              "\x7f"
              "ELF: the compiler",
              0755);
    disk_.put("/r/a.cpp", "#include \"a.h\"\n");
    disk_.put("/r/a.h", "int a;\n");
    clock_.advance_ms(10'000);
    command_.argv = {"g++", "-c", "a.cpp", "-o", "a.o"};
    command_.cwd = "/r";
    command_.environment = {{"PATH", "/usr/bin"}, {"HOME", "/home/u"}};
    options_.root = "/r";
    runner_.script = [this](Play& play) { compile(play); };
  }

  /// g++ -c a.cpp -o a.o, which would prefer include/a.h.
  void compile(Play& play) {
    play.execute("/usr/bin/g++");
    std::string text = play.read("/r/a.cpp");
    play.look("/r/include/a.h");
    text += play.read("/r/a.h");
    play.write("/r/a.o", "object of " + text);
  }

  std::unique_ptr<store::LocalStore> open_store() {
    auto store = store::LocalStore::open(*files_, clock_, kStore);
    EXPECT_TRUE(store.has_value()) << (store.has_value() ? "" : store.error().message());
    return store.has_value() ? std::move(*store) : nullptr;
  }

  Result<engine::RunResult> try_run(store::LocalStore* store) {
    streams_.out.clear();
    streams_.err.clear();
    return engine::Engine(*files_, clock_, store, {runner_, machine_, streams_}).run(command_, options_);
  }

  /// One call of hallmark, a second after the one before.
  engine::RunResult run() {
    clock_.advance_ms(1000);
    const auto store = with_store_ ? open_store() : nullptr;
    auto result = try_run(store.get());
    EXPECT_TRUE(result.has_value()) << (result.has_value() ? "" : result.error().message());
    return result.has_value() ? *std::move(result) : engine::RunResult{};
  }
  /// "replayed", "published", ...
  std::string outcome() { return std::string(engine::name_of(run().outcome)); }
  /// What the next run gives as its reasons.
  Lines reasons() { return lines_of(run().reasons); }

  /// An edit by somebody, long after the last run and long before the next.
  void edit(const std::string& path, std::string_view bytes, std::uint32_t mode = 0644) {
    clock_.advance_ms(1000);
    disk_.put(path, bytes, mode);
    clock_.advance_ms(1000);
  }
  void remove(const std::string& path) {
    clock_.advance_ms(1000);
    EXPECT_TRUE(disk_.remove(path).has_value()) << path;
    clock_.advance_ms(1000);
  }
  bool exists(const std::string& path) { return disk_.lstat(path).value().has_value(); }
  FileStat stat_of(const std::string& path) {
    const auto stat = disk_.lstat(path).value();
    EXPECT_TRUE(stat.has_value()) << path << " is not there";
    return stat.value_or(FileStat{});
  }
  std::vector<store::StoreDefect> defects() { return open_store()->verify(false, nullptr).value(); }

  FakeClock clock_;
  FakeFileSystem disk_{clock_};
  os::FileSystem* files_ = &disk_;  ///< what engine and store see of it
  FakeMachine machine_;
  FakeStreams streams_;
  ScriptedRunner runner_{disk_, clock_};
  model::Command command_;
  engine::RunOptions options_;
  bool with_store_ = true;
};

}  // namespace hallmark::test
