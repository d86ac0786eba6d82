// observe_dump: runs a command under one tier and writes the Observation as JSON lines. For developers and
// scenarios.
//
//   observe_dump [--tier hybrid|notify|ptrace|none] [--agent FILE] [--hints FILE] [--report FILE]
//   [--invisible DIR]... -- CMD...
//
// Exits as the command did. Each line of the report is one object with a "type": input, output, removal,
// program, doubt, note or summary.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "observe/observer.h"

extern char** environ;

namespace {

using namespace hallmark;
using Json = nlohmann::json;

class PlainHasher final : public digest::ContentHasher {
 public:
  Result<Hashed> hash(const std::string& path) override {
    HALLMARK_TRY(auto file, os::linux_file_system().open_read(path));
    HALLMARK_TRY(const FileStat stat, file->stat());
    digest::Hasher hasher;
    std::vector<std::uint8_t> buffer(1u << 16);
    for (;;) {
      HALLMARK_TRY(const std::size_t count, file->read(buffer));
      if (count == 0) return Hashed{hasher.finish(), stat};
      hasher.update(ByteView(buffer).first(count));
    }
  }
};

model::StreamKind kind_of(int descriptor) {
  struct stat status;
  if (fstat(descriptor, &status) != 0) return model::StreamKind::closed;
  if (S_ISREG(status.st_mode)) return model::StreamKind::file;
  if (S_ISFIFO(status.st_mode)) return model::StreamKind::pipe;
  if (isatty(descriptor)) return model::StreamKind::tty;
  struct stat null;
  if (stat("/dev/null", &null) == 0 && S_ISCHR(status.st_mode) && status.st_rdev == null.st_rdev) {
    return model::StreamKind::null_device;
  }
  return model::StreamKind::other;
}

bool same_file(int a, int b) {
  struct stat first;
  struct stat second;
  return fstat(a, &first) == 0 && fstat(b, &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

std::string name_of_use(model::Use use) {
  switch (use) {
    case model::Use::content:
      return "content";
    case model::Use::kind:
      return "kind";
    case model::Use::listing:
      return "listing";
    case model::Use::link:
      return "link";
    case model::Use::size:
      return "size";
    case model::Use::mtime:
      return "mtime";
  }
  return "?";
}

std::string name_of_kind(NodeKind kind) {
  switch (kind) {
    case NodeKind::file:
      return "file";
    case NodeKind::directory:
      return "directory";
    case NodeKind::symlink:
      return "symlink";
    case NodeKind::other:
      return "other";
  }
  return "?";
}

class Report {
 public:
  explicit Report(std::ostream& out) : out_(out) {}
  void write(const Json& line) { out_ << line.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n'; }

  void reasons(const char* type, const std::vector<model::Reason>& reasons) {
    for (const model::Reason& reason : reasons) {
      write({{"type", type},
             {"code", model::name_of(reason.code)},
             {"subject", reason.subject},
             {"before", reason.before}});
    }
  }

  void all(const model::Observation& seen) {
    for (const auto& input : seen.inputs) {
      Json line{{"type", "input"},
                {"path", input.path},
                {"use", name_of_use(input.use)},
                {"exists", input.stat.has_value()}};
      if (input.stat) line["kind"] = name_of_kind(input.stat->kind);
      if (input.stat) line["size"] = input.stat->size_bytes;
      if (input.digest) line["digest"] = input.digest->hex();
      if (input.use == model::Use::link) line["target"] = input.target;
      if (input.use == model::Use::listing) line["names"] = input.names;
      write(line);
    }
    for (const auto& output : seen.outputs) {
      write({{"type", "output"},
             {"path", output.path},
             {"kind", name_of_kind(output.kind)},
             {"whole", output.whole},
             {"existed", output.before.has_value()}});
    }
    for (const auto& removal : seen.removals) {
      write({{"type", "removal"}, {"path", removal.path}, {"kind", name_of_kind(removal.kind)}});
    }
    for (const auto& program : seen.programs) {
      write({{"type", "program"}, {"path", program.path}, {"name", program.name}});
    }
    reasons("doubt", seen.doubts);
    reasons("note", seen.notes);
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    Json line{{"type", "summary"},
              {"tier", model::name_of(seen.tier)},
              {"wait_status", seen.wait_status},
              {"slow_events", seen.counters.slow_events},
              {"fast_events", seen.counters.fast_events},
              {"processes", seen.counters.processes},
              {"inputs", seen.inputs.size()},
              {"outputs", seen.outputs.size()},
              {"stdin_used", seen.stdin_used},
              {"stdout_bytes", seen.out.bytes.size()},
              {"stderr_bytes", seen.err.bytes.size()},
              {"wall_ms", static_cast<double>(seen.wall_ns) / 1e6},
              {"peak_rss_bytes", seen.peak_rss_bytes},
              {"supervisor_rss_kb", usage.ru_maxrss}};
    if (seen.stdin_digest) line["stdin_digest"] = seen.stdin_digest->hex();
    write(line);
  }

 private:
  std::ostream& out_;
};

int usage() {
  std::fputs(
      "usage: observe_dump [--tier T] [--agent FILE] [--hints FILE] [--report FILE] [--invisible DIR]... -- "
      "CMD...\n",
      stderr);
  return 2;
}

}  // namespace

int main(int count, char** arguments) {
  observe::Request request;
  std::string report_file;
  int at = 1;
  for (; at < count && std::strcmp(arguments[at], "--") != 0; at += 2) {
    if (at + 1 >= count) return usage();
    const std::string option = arguments[at];
    const std::string value = arguments[at + 1];
    if (option == "--tier") {
      if (value == "hybrid")
        request.best = model::Tier::hybrid;
      else if (value == "notify")
        request.best = model::Tier::notify;
      else if (value == "ptrace")
        request.best = model::Tier::ptrace;
      else if (value == "none")
        request.best = model::Tier::none;
      else
        return usage();
    } else if (option == "--agent") {
      request.agent_library = value;
    } else if (option == "--hints") {
      request.hints_file = value;
    } else if (option == "--report") {
      report_file = value;
    } else if (option == "--invisible") {
      request.invisible.push_back(value);
    } else {
      return usage();
    }
  }
  if (at + 1 >= count) return usage();
  request.command.argv.assign(arguments + at + 1, arguments + count);
  std::array<char, PATH_MAX> folder;
  request.command.cwd = getcwd(folder.data(), folder.size());
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string text = *variable;
    const auto equals = text.find('=');
    if (equals != std::string::npos)
      request.command.environment[text.substr(0, equals)] = text.substr(equals + 1);
  }
  request.command.in = kind_of(0);
  request.command.out = kind_of(1);
  request.command.err = kind_of(2);
  request.command.merged = same_file(1, 2);
  const ssize_t length = readlink("/proc/self/exe", folder.data(), folder.size());
  if (length > 0) request.hallmark_program.assign(folder.data(), static_cast<std::size_t>(length));

  PlainHasher hasher;
  observe::Observer observer(os::linux_file_system(), hasher);
  const auto seen = observer.run(request);
  if (!seen) {
    std::fprintf(stderr, "observe_dump: %s\n", seen.error().message().c_str());
    return seen.error().kind == ErrorKind::not_found    ? 127
           : seen.error().kind == ErrorKind::permission ? 126
                                                        : 125;
  }
  if (!report_file.empty()) {
    std::ofstream file(report_file, std::ios::trunc);
    Report(file).all(*seen);
  } else {
    Report(std::cerr).all(*seen);
  }
  if (WIFSIGNALED(seen->wait_status)) return 128 + WTERMSIG(seen->wait_status);
  return WEXITSTATUS(seen->wait_status);
}
