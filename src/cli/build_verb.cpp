#include "cli/build_verb.h"

#include <algorithm>
#include <charconv>

#include "app/build.h"
#include "base/format.h"
#include "base/path.h"
#include "cli/exit_code.h"
#include "cli/json.h"
#include "cli/selection.h"
#include "cli/terminal.h"

namespace hallmark::cli {
namespace {

int refuse(const Error& error) {
  complain(error.message());
  return exit_code_of(error.kind);
}

bool is_count(std::string_view text) {
  unsigned value = 0;
  const auto end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  return read.ec == std::errc() && read.ptr == end && value > 0;
}

std::string json_of(const app::BuildResult& result) {
  Json libraries = Json::array();
  for (const auto& library : result.libraries)
    libraries.push_back({{"name", library.name}, {"file", library.file}, {"variants", library.variants}});
  Json not_built = Json::array();
  for (const auto& missing : result.not_built)
    not_built.push_back({{"library", missing.library},
                         {"kernel", missing.kernel},
                         {"toolchain", manifest::name_of(missing.toolchain)},
                         {"why", missing.why}});
  return line_of(
      Json{{"built", result.ninja_exit_code == 0},
           {"folder", result.folder},
           {"units", result.units},
           {"libraries", std::move(libraries)},
           {"not_built", std::move(not_built)},
           {"description", result.description.empty() ? Json(nullptr) : Json(result.description)}});
}

void tell(const app::BuildResult& result, const std::string& cwd) {
  for (const auto& missing : result.not_built)
    complain(formatted("not built: {}{}{} ({}): {}", missing.library, missing.kernel.empty() ? "" : ": ",
                       missing.kernel, manifest::name_of(missing.toolchain), missing.why));
  if (result.ninja_exit_code != 0) {
    complain("the build failed; no library is to be used");
    return;
  }
  for (const auto& library : result.libraries)
    complain(formatted("{} ({})", cwd == "/" ? library.file : path::relative_below(library.file, cwd),
                       library.variants == 1 ? "1 variant" : formatted("{} variants", library.variants)));
}

Result<app::BuildRequest> request_of(const Parsed& parsed, const app::Session& session) {
  app::BuildRequest request;
  HALLMARK_TRY(request.selection, selection_of(parsed, session.environment));
  request.selection_words = selection_words(parsed, session.cwd);
  HALLMARK_TRY(request.where, manifest_operand(parsed));
  request.jobs = parsed.value("--jobs");
  request.keep_going = parsed.has("--keep-going");
  request.verbose = parsed.has("--verbose");
  if (!request.jobs.empty() && !is_count(request.jobs))
    return fail(
        {ErrorKind::invalid, formatted("--jobs {}: not a number of jobs", request.jobs), "such as --jobs 8"});
  return request;
}

}  // namespace

int build_verb(const Parsed& parsed, const app::Session& session) {
  const auto request = request_of(parsed, session);
  if (!request.has_value()) return refuse(request.error());
  const auto result = app::build(session, *request, [](std::string_view line) { complain(line); });
  if (!result.has_value()) return refuse(result.error());
  const bool is_built = result->ninja_exit_code == 0;
  tell(*result, session.cwd);
  if (parsed.has("--json") && !print(json_of(*result))) return kEnvironment;
  // 128 and more: Ninja was told to stop, and so is whoever waits for this.
  return is_built ? kOk : result->ninja_exit_code > 128 ? result->ninja_exit_code : kNegative;
}

int plan_build_verb(const Parsed& parsed, const app::Session& session) {
  const auto request = request_of(parsed, session);
  const auto done = request.has_value() ? app::plan_only(session, *request) : Status(fail(request.error()));
  return done.has_value() ? kOk : refuse(done.error());
}

int run_codegen_verb(const Parsed& parsed, const app::Session& session) {
  const auto request = request_of(parsed, session);
  const auto done = request.has_value()
                        ? app::run_codegen_only(session, *request, parsed.value("--generator"))
                        : Status(fail(request.error()));
  return done.has_value() ? kOk : refuse(done.error());
}

int write_files_verb(const Parsed& parsed, const app::Session& session) {
  const auto request = request_of(parsed, session);
  const auto done = request.has_value()
                        ? app::write_generated_files(session, *request, std::string(parsed.value("--into")))
                        : Status(fail(request.error()));
  return done.has_value() ? kOk : refuse(done.error());
}

int copy_files_verb(const Parsed& parsed, const app::Session& session) {
  const std::vector<std::string> names(parsed.operands.begin(), parsed.operands.end());
  const auto done = app::copy_generated_files(session, names, std::string(parsed.value("--into")));
  return done.has_value() ? kOk : refuse(done.error());
}

}  // namespace hallmark::cli
