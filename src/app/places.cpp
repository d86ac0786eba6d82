#include "app/places.h"

#include <sys/auxv.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "app/command.h"
#include "base/limits.h"
#include "base/path.h"

namespace hallmark::app {
namespace {

constexpr std::array<std::string_view, 3> kGeneratedMarks = {"build.ninja", ".ninja_log", "CMakeCache.txt"};
constexpr std::array<std::string_view, 3> kMakefiles = {"Makefile", "makefile", "GNUmakefile"};
// Names as /proc shows them: at most 15 characters.
constexpr std::array<std::string_view, 14> kBuildTools = {"ninja",  "ninja-build", "samu",  "make",  "gmake",
                                                          "remake", "kati",        "ckati", "cmake", "meson",
                                                          "bazel",  "buck2",       "scons", "tup"};
constexpr std::size_t kProcStatBytes = 4096;
// Fields of /proc/PID/stat (proc_pid_stat(5)).
constexpr int kParentField = 4;
constexpr int kStartField = 22;

bool exists(os::FileSystem& files, std::string_view folder, std::string_view name) {
  const auto found = files.lstat(path::join(folder, name));
  return found.has_value() && found->has_value();
}

template <std::size_t N>
bool holds_any(os::FileSystem& files, std::string_view folder, const std::array<std::string_view, N>& names) {
  return std::any_of(names.begin(), names.end(),
                     [&](std::string_view name) { return exists(files, folder, name); });
}

/// Calls visit(folder) from `folder` upwards until it returns true; "/" is the last.
template <class Visit>
void walk_up(std::string_view folder, Visit visit) {
  while (!folder.empty() && !visit(folder) && folder != "/") folder = path::parent(folder);
}

struct ProcessEntry {
  std::string name;
  pid_t parent = 0;
  std::optional<std::uint64_t> start_ticks;
};

/// Field `number` of a line of /proc/PID/stat, counted from 1; `rest` begins in front of field 3.
std::optional<std::uint64_t> numeric_field(std::string_view rest, int number) {
  for (int field = 3;; ++field) {
    const auto start = rest.find_first_not_of(' ');
    if (start == std::string_view::npos) return std::nullopt;
    rest.remove_prefix(start);
    if (field == number) break;
    rest.remove_prefix(std::min(rest.find(' '), rest.size()));
  }
  std::uint64_t value = 0;
  const auto parsed = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  return parsed.ec == std::errc() ? std::optional(value) : std::nullopt;
}

/// One line of /proc/PID/stat: `PID (name, may hold anything) state parent ...`.
std::optional<ProcessEntry> parse_stat(std::string_view line) {
  const auto open = line.find('(');
  const auto close = line.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return std::nullopt;
  ProcessEntry entry;
  entry.name = line.substr(open + 1, close - open - 1);
  const std::string_view rest = line.substr(close + 1);  // " S 123 ..."
  const auto parent = numeric_field(rest, kParentField);
  if (!parent) return std::nullopt;
  entry.parent = static_cast<pid_t>(*parent);
  entry.start_ticks = numeric_field(rest, kStartField);
  return entry;
}

std::optional<ProcessEntry> entry_of(os::FileSystem& files, pid_t process, const std::string& proc) {
  const auto line = os::read_file(files, path::join(proc, std::to_string(process) + "/stat"), kProcStatBytes);
  return line.has_value() ? parse_stat(*line) : std::nullopt;
}

}  // namespace

std::optional<std::string> find_marked_root(os::FileSystem& files, std::string_view start) {
  std::string marked;
  std::string git_top;
  walk_up(start, [&](std::string_view folder) {
    if (exists(files, folder, ".hallmark")) {
      marked = folder;
      return true;
    }
    if (git_top.empty() && exists(files, folder, ".git")) git_top = folder;
    return false;
  });
  if (!marked.empty()) return marked;
  return git_top.empty() ? std::nullopt : std::optional(git_top);
}

std::string find_root(os::FileSystem& files, std::string_view cwd) {
  return find_marked_root(files, cwd).value_or(std::string(cwd));
}

std::string find_build_folder(os::FileSystem& files, std::string_view cwd) {
  std::string generated;
  std::string with_makefile;
  walk_up(cwd, [&](std::string_view folder) {
    if (holds_any(files, folder, kGeneratedMarks)) {
      generated = folder;
      return true;
    }
    if (with_makefile.empty() && holds_any(files, folder, kMakefiles)) with_makefile = folder;
    return false;
  });
  return generated.empty() ? with_makefile : generated;
}

std::optional<BuildTool> build_tool_above(os::FileSystem& files, pid_t from, const std::string& proc) {
  pid_t process = from;
  for (std::size_t hop = 0; hop < limits::kAncestorHops && process > 1; ++hop) {
    auto entry = entry_of(files, process, proc);
    if (!entry) return std::nullopt;
    if (std::find(kBuildTools.begin(), kBuildTools.end(), entry->name) != kBuildTools.end())
      return BuildTool{std::move(entry->name), entry->start_ticks};
    process = entry->parent;
  }
  return std::nullopt;
}

bool is_ancestor(os::FileSystem& files, pid_t process, pid_t from, const std::string& proc) {
  for (std::size_t hop = 0; hop < limits::kAncestorHops && from > 1; ++hop) {
    if (from == process) return true;
    const auto entry = entry_of(files, from, proc);
    if (!entry) return false;
    from = entry->parent;
  }
  return false;
}

bool is_ninja(const BuildTool& tool) {
  return tool.name == "ninja" || tool.name == "ninja-build" || tool.name == "samu";
}

Result<Installation> find_installation(os::FileSystem& files) {
  std::string self;
  if (auto link = files.read_link("/proc/self/exe"); link.has_value()) {
    self = *std::move(link);
  } else if (const auto* started = reinterpret_cast<const char*>(getauxval(AT_EXECFN)); started != nullptr) {
    // Without /proc: what the kernel was asked to execute. A link to hallmark is then not followed.
    HALLMARK_TRY(const std::string cwd, current_folder());
    self = path::join(cwd, started);
  } else {
    return fail(Error{ErrorKind::unsupported,
                      "cannot find where hallmark is installed: /proc/self/exe is not there", "mount /proc"});
  }
  const std::string prefix(path::parent(path::parent(self)));
  Installation found;
  found.program = path::join(prefix, "bin/hallmark");
  found.full_program = path::join(prefix, "libexec/hallmark-full");
  found.agent = path::join(prefix, "lib/hallmark-agent.so");
  if (const auto agent = files.stat(found.agent); !agent.has_value() || !agent->has_value())
    found.agent.clear();
  return found;
}

}  // namespace hallmark::app
