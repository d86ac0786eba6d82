#include "app/compilers.h"

#include <algorithm>
#include <array>

#include "app/captured_run.h"
#include "base/format.h"
#include "base/path.h"
#include "engine/program_search.h"

namespace hallmark::app {
namespace {

using manifest::ToolchainKind;

/// What a compiler prints when it is asked for its archs.
constexpr std::size_t kArchListBytes = 64 << 10;

struct Known {
  ToolchainKind kind;
  const char* variable;
  const char* program;
  const char* installed;  ///< where it lies when it is not on PATH; empty: nowhere else
};

constexpr std::array kKnown = {
    Known{ToolchainKind::cpu, "CXX", "c++", ""},
    Known{ToolchainKind::cuda, "CUDACXX", "nvcc", "/usr/local/cuda/bin/nvcc"},
    Known{ToolchainKind::hip, "HIPCXX", "hipcc", "/opt/rocm/bin/hipcc"},
};

class Finder {
 public:
  explicit Finder(const Session& session) : session_(session) {
    const auto path = session.environment.find("PATH");
    if (path != session.environment.end()) folders_ = engine::search_folders(path->second);
  }

  bool is_there(const std::string& program) {
    if (program.find('/') != std::string::npos) {
      const auto stat = session_.files.stat(program);
      return stat.has_value() && *stat && (*stat)->kind == NodeKind::file && (*stat)->executable();
    }
    return engine::ProgramSearch(session_.files, folders_).find(program).has_value();
  }

 private:
  const Session& session_;
  std::vector<std::string> folders_;
};

/// nvcc prints a line "sm_90" for each.
std::vector<std::string> archs_of_nvcc(const Session& session, const std::string& program) {
  const auto run = run_captured({program, "--list-gpu-code"}, session.environment, "/", kArchListBytes,
                                Complaints::dropped);
  std::vector<std::string> archs;
  if (!run.has_value() || run->exit_code != 0) return archs;
  std::string_view rest = run->out;
  while (!rest.empty()) {
    const auto end = rest.find('\n');
    const auto line = rest.substr(0, end);
    if (line.starts_with("sm_")) archs.emplace_back(line);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  return archs;
}

kernels::Tool find_compiler(const Session& session, Finder& finder, const manifest::Manifest& manifest,
                            const Known& known) {
  kernels::Tool tool;
  tool.kind = known.kind;
  const auto declared = std::ranges::find(manifest.toolchains, known.kind, &manifest::Toolchain::kind);
  const auto variable = session.environment.find(known.variable);
  std::string said_by;
  if (declared != manifest.toolchains.end()) tool.host_compiler = declared->host_compiler;
  if (declared != manifest.toolchains.end() && declared->compiler) {
    tool.program = declared->compiler->text;
    if (tool.program.find('/') != std::string::npos) tool.program = path::join(manifest.root, tool.program);
    said_by = "the manifest names";
  } else if (variable != session.environment.end() && !variable->second.empty()) {
    tool.program = variable->second;
    said_by = formatted("{} names", known.variable);
  }
  if (!said_by.empty()) {
    if (!finder.is_there(tool.program))
      tool.missing = formatted("{} {}, which is not there", said_by, tool.program);
  } else {
    tool.program = known.program;
    if (!finder.is_there(tool.program)) {
      const std::string installed = known.installed;
      if (!installed.empty() && finder.is_there(installed)) {
        tool.program = installed;
      } else {
        tool.missing = formatted("{} is not installed", known.program);
      }
    }
  }
  if (tool.missing.empty() && known.kind == ToolchainKind::cuda)
    tool.archs = archs_of_nvcc(session, tool.program);
  return tool;
}

}  // namespace

std::vector<kernels::Tool> find_compilers(const Session& session, const manifest::Manifest& manifest,
                                          const std::vector<manifest::ToolchainKind>& kinds) {
  Finder finder(session);
  std::vector<kernels::Tool> tools;
  for (const auto& known : kKnown)
    if (std::ranges::find(kinds, known.kind) != kinds.end())
      tools.push_back(find_compiler(session, finder, manifest, known));
  return tools;
}

}  // namespace hallmark::app
