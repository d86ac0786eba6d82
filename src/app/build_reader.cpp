#include "app/build_reader.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "app/command.h"
#include "app/make_asker.h"
#include "base/path.h"
#include "base/shell.h"

namespace hallmark::app {
namespace {

constexpr std::size_t kCommandsBytes = std::size_t{1} << 30;

bool exists(const Session& session, const std::string& folder, const char* name) {
  const auto stat = session.files.stat(path::join(folder, name));
  return stat.has_value() && stat->has_value();
}

Result<prove::BuildGraph> read_make(const Session& session, const std::string& folder) {
  auto environment = session.environment;
  environment["LC_ALL"] = "C";  // its words are read
  for (const char* name : {"MAKEFLAGS", "MFLAGS", "MAKELEVEL", "GNUMAKEFLAGS"}) environment.erase(name);
  HALLMARK_TRY(const auto told,
               ask_make(session.files, environment, {{}, folder, session.installation.full_program}));
  const auto targets = inspect::parse_make_trace(told.trace);
  if (targets.empty() && !told.is_whole)
    return fail({ErrorKind::invalid, "make -n fails in " + folder + ", so that its graph is not known",
                 "see what make says there"});
  auto graph = prove::BuildGraph::of_make(session.files, folder, targets);
  if (!told.is_whole) graph.complain("make -n fails in " + folder + ": what it did not come to is left out");
  return graph;
}

Result<prove::BuildGraph> read_compile_commands(const Session& session, const std::string& folder) {
  const auto path = path::join(folder, "compile_commands.json");
  HALLMARK_TRY(const auto text, os::read_file(session.files, path, kCommandsBytes));
  const auto list = nlohmann::json::parse(text, nullptr, false);
  if (!list.is_array()) return fail({ErrorKind::invalid, path + " is no list of compile commands", {}});
  const auto text_of = [](const nlohmann::json& entry, const char* name) {
    const auto found = entry.find(name);
    return found != entry.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  std::vector<prove::BuildGraph::CompileCommand> commands;
  for (const auto& entry : list) {
    if (!entry.is_object()) continue;
    prove::BuildGraph::CompileCommand command{path::join(folder, text_of(entry, "directory")),
                                              text_of(entry, "command"), text_of(entry, "file"),
                                              text_of(entry, "output")};
    if (const auto words = entry.find("arguments"); words != entry.end() && words->is_array()) {
      command.command.clear();
      for (const auto& word : *words) {
        if (word.is_string())
          command.command += (command.command.empty() ? "" : " ") + shell_quoted(word.get<std::string>());
      }
    }
    if (!command.command.empty() && !command.source.empty()) commands.push_back(std::move(command));
  }
  return prove::BuildGraph::of_compile_commands(session.files, folder, commands);
}

}  // namespace

Result<prove::BuildGraph> read_build(const Session& session, const std::string& folder) {
  if (exists(session, folder, "build.ninja")) return prove::BuildGraph::read(session.files, folder);
  constexpr std::array kMakefiles = {"Makefile", "makefile", "GNUmakefile"};
  if (std::any_of(kMakefiles.begin(), kMakefiles.end(),
                  [&](const char* name) { return exists(session, folder, name); }))
    return read_make(session, folder);
  if (exists(session, folder, "compile_commands.json")) return read_compile_commands(session, folder);
  return fail(
      {ErrorKind::invalid,
       folder + " is no build folder: it has no build.ninja, no Makefile and no compile_commands.json",
       "name the folder in which ninja or make runs"});
}

}  // namespace hallmark::app
