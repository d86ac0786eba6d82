#include "cli/run_verb.h"

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "app/command.h"
#include "cli/exit_code.h"
#include "cli/run_report.h"
#include "cli/terminal.h"

namespace hallmark::cli {
namespace {

/// Becomes the command. Returns only if that fails.
int become(const std::vector<std::string_view>& words) {
  std::vector<std::string> texts(words.begin(), words.end());
  std::vector<char*> argv;
  for (std::string& text : texts) argv.push_back(text.data());
  argv.push_back(nullptr);
  execvp(argv.front(), argv.data());
  const int code = errno == ENOENT ? kNotFound : kNotExecutable;
  complain(Error::from_errno("execute", texts.front()).what);
  return code;
}

/// What we write for ourselves (the store) may be over the caller's limit: then the write fails, and that is
/// all. A handler and not SIG_IGN, since an execution takes it back: the command meets what the caller set.
void outlive_file_size_limits() {
  struct sigaction before {};
  ::sigaction(SIGXFSZ, nullptr, &before);
  if (before.sa_handler != SIG_DFL) return;
  struct sigaction nothing {};
  nothing.sa_handler = [](int) {};
  nothing.sa_flags = SA_RESTART;
  ::sigaction(SIGXFSZ, &nothing, nullptr);
}

app::RunRequest request_of(const Parsed& parsed) {
  app::RunRequest request;
  request.argv.assign(parsed.operands.begin(), parsed.operands.end());
  request.depfile = parsed.value("--depfile");
  request.outputs = parsed.values("--output");
  request.restat = parsed.has("--restat");
  request.cache_any = parsed.has("--cache");
  return request;
}

void report(const Parsed& parsed, const engine::RunResult& result) {
  if (parsed.has("--json")) {  // holds the warnings
    write_to_stderr(to_json(result));
    return;
  }
  for (const std::string& warning : result.warnings) complain(warning);
  if (parsed.has("--explain")) write_to_stderr(explain(result));
}

}  // namespace

int run_verb(const Parsed& parsed, const app::ConfigCompiler& compile, RunUseCase run) {
  outlive_file_size_limits();
  const char* disabled = std::getenv(app::variable::kDisable);
  if (disabled != nullptr && app::is_disabled({{app::variable::kDisable, disabled}}))
    return become(parsed.operands);

  auto session = app::open_session(os::linux_file_system(), os::system_clock(),
                                   std::string(parsed.value("--root")), compile);
  if (!session.has_value()) {
    const Error& error = session.error();
    if (error.kind == ErrorKind::invalid) {
      complain(error.message());
      return kUsage;
    }
    complain("the command runs unobserved: " + error.message());
    return become(parsed.operands);
  }
  if (session->settings.disable.value) return become(parsed.operands);

  const auto result = run(*session, request_of(parsed));
  if (!result.has_value()) {
    engine::RunResult failed;
    failed.outcome = engine::Outcome::failed;
    failed.exit_code = run_exit_code_of(result.error().kind);
    failed.warnings.push_back(result.error().message());
    if (parsed.has("--json")) {
      write_to_stderr(to_json(failed));
    } else {
      complain(failed.warnings.front());
    }
    return failed.exit_code;
  }
  report(parsed, *result);
  return result->exit_code;
}

}  // namespace hallmark::cli
