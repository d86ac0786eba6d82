#include "engine/internal/depfile_step.h"

#include <unistd.h>

#include <algorithm>

#include "base/limits.h"
#include "base/path.h"
#include "engine/make_text.h"
#include "engine/outputs.h"

namespace hallmark::engine {
namespace {

constexpr std::size_t kDepfileBytes = 64u << 20;

bool has_depfile_name(std::string_view path) {
  for (const std::string_view end : {".d", ".dep", ".Td", ".Tpo", ".Po", ".dpp"}) {
    if (path.ends_with(end)) return true;
  }
  return false;
}

}  // namespace

DepfileStep::DepfileStep(os::FileSystem& files, os::Clock& clock, const Bindings& bindings,
                         const model::Command& command, const RunOptions& options, const Arguments& arguments,
                         const std::vector<std::string>& response_files, std::string output)
    : files_(files),
      bindings_(bindings),
      command_(command),
      options_(options),
      arguments_(arguments),
      response_files_(response_files),
      output_(std::move(output)),
      sentinels_(files, clock, options.root) {}

Status DepfileStep::check() const {
  if (options_.depfile.empty()) return {};
  const auto path = path::join(command_.cwd, options_.depfile);
  const std::string folder(path::parent(path));
  const auto refuse = [&](std::string why, std::string hint) {
    return fail(Error{ErrorKind::invalid,
                      "cannot write the depfile " + options_.depfile + ": " + std::move(why),
                      std::move(hint)});
  };
  const auto stat = files_.stat(path);
  if (stat.has_value() && *stat && (*stat)->kind == NodeKind::directory)
    return refuse("it is a folder", "name a file with --depfile");
  const auto parent = files_.stat(folder);
  if (!parent.has_value() || !*parent || (*parent)->kind != NodeKind::directory)
    return refuse("its folder " + folder + " is not there", "make the folder first");
  const auto writable = files_.is_writable_folder(folder);
  if (writable.has_value() && !*writable)
    return refuse("its folder " + folder + " is not writable", "give another --depfile");
  return {};
}

/// Ninja writes an edge's rspfile right before the edge starts, removes it afterwards and hashes its text
/// with the command: as an input it would be missing at every later start. A response file that somebody
/// keeps is older than this Ninja.
bool DepfileStep::is_ninjas_own(const std::string& response_file, BuildFolder& build) const {
  if (!options_.ninja_start_ns || !build.has_response_files()) return false;
  const auto stat = files_.stat(response_file);
  return stat.has_value() && *stat && (*stat)->mtime_ns >= *options_.ninja_start_ns - limits::kRacyWindow_ns;
}

bool DepfileStep::is_named(const std::string& spelled, const std::string& path) const {
  if (spelled.empty()) return false;
  const auto named = absolute_path(command_.cwd, spelled);
  if (named == path) return true;
  const auto folder = real_path(files_, std::string(path::parent(named)));
  return folder && path::join(*folder, path::base_name(named)) == path;
}

/// In the arguments, or as --depfile: the caller then means the command's own file.
bool DepfileStep::names_depfile(const std::string& path) const {
  return is_named(options_.depfile, path) || (arguments_.depfile && is_named(arguments_.depfile->path, path));
}

std::map<std::string, std::string> DepfileStep::own_depfiles(const model::Observation& observation) const {
  std::map<std::string, std::string> found;
  for (const auto& output : observation.outputs) {
    if (output.kind != NodeKind::file) continue;
    if (!has_depfile_name(output.path) && !names_depfile(output.path)) continue;
    auto text = os::read_file(files_, output.path, kDepfileBytes);
    if (text.has_value() && parse_make_text(*text)) found.emplace(output.path, *std::move(text));
  }
  return found;
}

/// Whether the file speaks of this command as a whole: it is named in the arguments, or it is the only one
/// and names what the command made. (The files that a whole `make` leaves each speak of one of its commands.)
bool DepfileStep::is_completed(const std::string& path, const std::string& text,
                               const std::map<std::string, std::string>& all,
                               const std::vector<std::string>& outputs) const {
  if (names_depfile(path)) return true;
  if (all.size() != 1) return false;
  if (arguments_.depfile) return true;
  const auto parsed = parse_make_text(text);
  if (!parsed) return false;
  const auto& targets = parsed->rules.front().targets;
  return std::any_of(targets.begin(), targets.end(), [&](const std::string& target) {
    const auto absolute = absolute_path(command_.cwd, target);
    return std::find(outputs.begin(), outputs.end(), absolute) != outputs.end() || target == output_;
  });
}

/// The output that the rule is for, when the caller named none: "x.o" for a depfile "x.o.d", else the first
/// one in the working folder, else the first.
std::string DepfileStep::target(const std::vector<std::string>& outputs) const {
  if (!output_.empty()) return output_;
  const auto stem = has_depfile_name(options_.depfile)
                        ? options_.depfile.substr(0, options_.depfile.rfind('.'))
                        : options_.depfile;
  const auto is_output = [&](const std::string& path) {
    return std::find(outputs.begin(), outputs.end(), path) != outputs.end();
  };
  if (is_output(absolute_path(command_.cwd, stem))) return stem;
  const auto depfile = absolute_path(command_.cwd, options_.depfile);
  const auto is_near = [&](const std::string& path) {
    return path != depfile && path::is_within(path, command_.cwd);
  };
  if (const auto near = std::find_if(outputs.begin(), outputs.end(), is_near); near != outputs.end())
    return path::relative_below(*near, command_.cwd);
  return outputs.empty() ? stem : outputs.front();
}

Result<DepfileStep::Written> DepfileStep::write(const model::PathSet& paths,
                                                const std::vector<model::Answer>& answers,
                                                ProgramSearch& programs,
                                                const std::vector<std::string>& outputs,
                                                const std::map<std::string, std::string>& depfiles,
                                                bool rewrite, std::int64_t start_ns) {
  Written result;
  if (options_.depfile.empty() && depfiles.empty()) return result;
  std::vector<std::string> own = outputs;
  if (!options_.depfile.empty()) own.push_back(absolute_path(command_.cwd, options_.depfile));
  for (const auto& [path, text] : depfiles) own.push_back(path);
  BuildFolder build(files_, command_, options_.build_folder, sentinels_.folder(), own);
  for (const auto& path : response_files_) {
    if (is_ninjas_own(path, build)) own.push_back(path);
  }
  const Dependencies dependencies({files_, bindings_, command_, programs, sentinels_, build}, paths, answers,
                                  own, start_ns);
  result.overtaken = dependencies.overtaken();
  // A header that is gone must not stop Make.
  const bool phony = command_.environment.contains("MAKELEVEL");
  for (const auto& [path, text] : depfiles) {
    const auto whole =
        is_completed(path, text, depfiles, outputs) ? dependencies.completed(text, phony) : text;
    if (rewrite || whole != text) HALLMARK_CHECK(put(path, whole));
  }
  const bool written = std::any_of(depfiles.begin(), depfiles.end(), [&](const auto& own_file) {
    return is_named(options_.depfile, own_file.first);
  });
  if (!options_.depfile.empty() && !written)
    HALLMARK_CHECK(
        put(absolute_path(command_.cwd, options_.depfile), dependencies.depfile(target(outputs), phony)));
  return result;
}

Status DepfileStep::put(const std::string& path, const std::string& text) {
  const auto stat = files_.lstat(path);
  if (const auto done = os::write_file_atomically(files_, path, text, std::to_string(gettid()), false); !done)
    return fail(Error{done.error().kind, "cannot write the depfile " + path + ": " + done.error().what,
                      done.error().hint});
  if (stat.has_value() && *stat && (*stat)->kind == NodeKind::file)
    static_cast<void>(files_.set_mode(path, (*stat)->mode));
  return {};
}

bool DepfileStep::may_replace(const std::string& path) const {
  const auto stat = files_.lstat(path);
  if (!stat.has_value() || !*stat) return stat.has_value();
  if ((*stat)->kind != NodeKind::file) return false;
  if ((*stat)->size_bytes == 0) return true;
  const auto text = os::read_file(files_, path, kDepfileBytes);
  return text.has_value() && parse_make_text(*text).has_value();
}

}  // namespace hallmark::engine
