// FakeMachine, FakeStreams: the engine's ports as plain values that a test sets and looks at.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/ports.h"

namespace hallmark::test {

class FakeMachine final : public engine::Machine {
 public:
  std::optional<std::string> identity(std::string_view what) override {
    asked.emplace_back(what);
    const auto fact = facts.find(std::string(what));
    return fact == facts.end() ? std::nullopt : std::optional(fact->second);
  }
  bool has_fine_stamps(const std::string&) override { return fine_stamps; }

  std::map<std::string, std::string> facts{{"arch", "x86_64"},
                                           {"cpu", "Model 1"},
                                           {"gpu", "GPU 1"},
                                           {"date", "2027-01-15"},
                                           {"host", "builder Linux 6.18"}};
  bool fine_stamps = false;
  std::vector<std::string> asked;
};

class FakeStreams final : public engine::Streams {
 public:
  Status write(int stream, std::string_view bytes) override {
    if (broken) return fail(Error{ErrorKind::io, "write to stdout: Broken pipe", {}});
    (stream == 1 ? out : err).append(bytes);
    return {};
  }
  std::optional<digest::Digest> digest_of_stdin(model::StreamKind) override {
    if (!in) return std::nullopt;
    ++hashed;
    return digest::digest_of(*in);
  }
  Status feed_back() override {
    ++fed_back;
    return {};
  }
  void skip_stdin(model::StreamKind) override { ++skipped; }
  bool stdin_at_end() override { return at_end; }

  std::optional<std::string> in = "";  ///< nullopt: a terminal, or without an end
  bool at_end = true;
  bool broken = false;
  std::string out;
  std::string err;
  int hashed = 0;
  int fed_back = 0;
  int skipped = 0;
};

}  // namespace hallmark::test
