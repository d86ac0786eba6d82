#include "app/build.h"

#include <unistd.h>

#include <algorithm>
#include <memory>

#include "app/build_lock.h"
#include "app/captured_run.h"
#include "app/compilers.h"
#include "app/manifest_file.h"
#include "app/native_archs.h"
#include "app/pinned_sources.h"
#include "app/staging.h"
#include "app/started_program.h"
#include "base/format.h"
#include "base/limits.h"
#include "base/path.h"
#include "digest/digest.h"
#include "engine/program_search.h"
#include "kernels/codegen.h"
#include "kernels/paths.h"
#include "kernels/settled_files.h"
#include "manifest/parse.h"

namespace hallmark::app {
namespace {

/// All that a plan is made of, found on this machine.
struct Situation {
  manifest::Manifest manifest;
  manifest::Expansion expansion;  ///< points into manifest
  std::vector<kernels::Tool> tools;
  std::map<std::string, std::string> source_folders;
  std::vector<std::string> selection_words;
};

/// The runs of the build folder find a root by themselves; it must hold the manifest.
std::string root_for_runs(const Session& session, const Situation& now) {
  const auto found = find_root(session.files, now.expansion.folder);
  return path::is_within(now.manifest.root, found) ? std::string() : now.manifest.root;
}

Result<std::unique_ptr<Situation>> look_around(const Session& session, const BuildRequest& request) {
  auto now = std::make_unique<Situation>();
  HALLMARK_TRY(now->manifest, load_manifest(session, request.where));
  now->source_folders = manifest::source_folders(now->manifest);
  auto selection = request.selection;
  if (!selection.folder.empty()) selection.folder = path::join(session.cwd, selection.folder);
  HALLMARK_TRY(auto expanded, manifest::expand(now->manifest, selection, now->source_folders,
                                               native_archs(session, now->manifest, selection), session.files,
                                               manifest::MissingSources::are_problems));
  if (!expanded.problems.empty())
    return fail({ErrorKind::invalid, manifest::rendered(expanded.problems, now->manifest.file), {}});
  now->expansion = std::move(expanded.expansion);
  HALLMARK_CHECK(os::make_folders(session.files, now->expansion.folder));
  // Relative paths in commands count parent folders: links must not be among them.
  if (const auto real = engine::real_path(session.files, now->expansion.folder))
    now->expansion.folder = *real;
  now->tools = find_compilers(session, now->manifest, now->expansion.toolchains);
  now->selection_words = request.selection_words;
  now->selection_words.push_back(now->manifest.file);
  return now;
}

std::uint64_t memory_mb() {
  const auto pages = ::sysconf(_SC_PHYS_PAGES);
  const auto page_bytes = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && page_bytes > 0
             ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page_bytes) >> 20
             : 0;
}

/// The manifest's; hallmark's own is looked at only to see whether what it made is still so.
std::vector<std::string> generators_of(const Situation& now) {
  std::vector<std::string> names;
  for (const auto* codegen : now.expansion.codegens) names.push_back(codegen->name);
  return names;
}

/// `run_root`: as root_for_runs() says; what is generated does not depend on it.
Result<kernels::Plan> plan_of(const Session& session, const Situation& now, std::string run_root) {
  HALLMARK_TRY(auto generated,
               kernels::generated_lists(session.files, now.expansion.folder, generators_of(now)));
  return kernels::make_plan(
      {now.manifest, now.expansion, now.tools, now.source_folders, std::move(generated),
       session.installation.program, std::move(run_root), now.selection_words, memory_mb()},
      session.files);
}

Status check_own_files(const Session& session, const Situation& now) {
  HALLMARK_CHECK(kernels::generated_lists(session.files, now.expansion.folder,
                                          {std::string(kernels::paths::kOwnGenerator)}));
  return {};
}

Status write_plan(const Session& session, const Situation& now, const kernels::Plan& plan) {
  const auto& folder = now.expansion.folder;
  std::vector<kernels::WantedFile> headers;
  for (const auto& header : plan.headers)
    headers.push_back({kernels::WantedFile::Kind::copy, header.to, header.from});
  HALLMARK_CHECK(kernels::SettledFiles(session.files, folder, ".hallmark-headers").settle(headers));
  HALLMARK_CHECK(kernels::settle_text(session.files, path::join(folder, kernels::paths::kPlan), plan.ninja));
  return {};
}

std::vector<std::string> ninja_words(const BuildRequest& request) {
  std::vector<std::string> words = {"ninja"};
  if (!request.jobs.empty()) words.insert(words.end(), {"-j", request.jobs});
  if (request.keep_going) words.insert(words.end(), {"-k", "0"});
  if (request.verbose) words.emplace_back("-v");
  return words;
}

/// hallmark as a generator: so what a manifest and its templates give is observed, kept and proven like all
/// else.
manifest::Codegen own_generator(const Session& session, const Situation& now) {
  manifest::Codegen codegen;
  codegen.name = kernels::paths::kOwnGenerator;
  codegen.cwd = {"{root}", {}};
  codegen.generate = {{manifest::as_literal(session.installation.full_program), {}},
                      {"write-files", {}},
                      {"--into", {}},
                      {"{out}", {}}};
  for (const auto& word : now.selection_words) codegen.generate.push_back({manifest::as_literal(word), {}});
  return codegen;
}

class CapturedCommands final : public kernels::Commands {
 public:
  explicit CapturedCommands(const Session& session) : session_(session) {}
  Result<Ended> run(const std::vector<std::string>& argv,
                    const std::map<std::string, std::string>& environment, const std::string& cwd) override {
    auto variables = session_.environment;
    for (const auto& [name, value] : environment) variables[name] = value;
    HALLMARK_TRY(auto run, run_captured(argv, variables, cwd, limits::kGeneratorListBytes));
    return Ended{run.exit_code, std::move(run.out)};
  }

 private:
  const Session& session_;
};

/// Removes what an earlier plan built and this one does not. Ninja knows; it is asked once for each plan.
Status remove_dead_outputs(const Session& session, const std::string& folder, const kernels::Plan& plan) {
  const auto note = path::join(folder, ".hallmark-cleaned");
  const auto wanted = digest::digest_of(plan.ninja).hex() + "\n";
  const auto noted = os::read_file(session.files, note, wanted.size());
  if (noted.has_value() && *noted == wanted) return {};
  HALLMARK_TRY(const auto run, run_captured({"ninja", "-t", "cleandead"}, session.environment, folder,
                                            limits::kGeneratorListBytes, Complaints::dropped));
  if (run.exit_code != 0) return {};  // an old Ninja without this tool: dead objects stay, unused
  HALLMARK_CHECK(kernels::settle_text(session.files, note, wanted));
  return {};
}

void tell(BuildResult& result, const kernels::Plan& plan, const std::string& folder) {
  result.not_built = plan.not_built;
  result.units = plan.units;
  for (const auto& library : plan.libraries) {
    const auto is_variant = [](const manifest::Unit& unit) { return unit.kernel != nullptr; };
    result.libraries.push_back({library.library->library->name, path::join(folder, library.file),
                                static_cast<std::size_t>(std::ranges::count_if(library.units, is_variant))});
  }
}

}  // namespace

Result<BuildResult> build(const Session& session, const BuildRequest& request, const Say& say) {
  HALLMARK_TRY(const auto sources, ensure_sources(session, request.where, say));
  HALLMARK_TRY(const auto now, look_around(session, request));
  const auto& folder = now->expansion.folder;
  HALLMARK_TRY(const auto lock, lock_build(session.files, folder, say));
  HALLMARK_CHECK(check_own_files(session, *now));
  HALLMARK_TRY(const auto first, plan_of(session, *now, root_for_runs(session, *now)));
  HALLMARK_CHECK(write_plan(session, *now, first));
  HALLMARK_CHECK(withdraw_description(session.files, now->manifest, folder));

  BuildResult result;
  result.folder = folder;
  auto variables = session.environment;
  for (const auto& [name, value] : sources.environment) variables[name] = value;
  const auto log = path::join(folder, ".ninja_log");
  HALLMARK_TRY(const auto log_before, session.files.stat(log));
  HALLMARK_TRY(result.ninja_exit_code, run_for_people(ninja_words(request), variables, folder));
  HALLMARK_TRY(const auto log_after, session.files.stat(log));
  if (result.ninja_exit_code == 0 && log_before && log_before == log_after) {
    HALLMARK_TRY(const auto description,
                 restore_description(session.files, now->manifest, folder, first, sources.described));
    if (description) {
      tell(result, first, folder);
      result.description = *description;
      return result;
    }
  }

  // A generator may have had Ninja plan again.
  HALLMARK_TRY(const auto plan, plan_of(session, *now, root_for_runs(session, *now)));
  if (result.ninja_exit_code != 0) {
    result.not_built = plan.not_built;
    return result;
  }
  HALLMARK_CHECK(remove_dead_outputs(session, folder, plan));
  HALLMARK_TRY(result.description,
               stage(session, now->manifest, now->expansion, plan, now->tools, sources.described));
  tell(result, plan, folder);
  return result;
}

Status plan_only(const Session& session, const BuildRequest& request) {
  HALLMARK_TRY(const auto now, look_around(session, request));
  HALLMARK_TRY(const auto plan, plan_of(session, *now, root_for_runs(session, *now)));
  return write_plan(session, *now, plan);
}

Status copy_generated_files(const Session& session, const std::vector<std::string>& names,
                            const std::string& into) {
  return kernels::copy_files(session.files, names, session.cwd, path::join(session.cwd, into));
}

Status write_generated_files(const Session& session, const BuildRequest& request, const std::string& into) {
  HALLMARK_TRY(const auto now, look_around(session, request));
  HALLMARK_TRY(const auto plan, plan_of(session, *now, {}));
  for (const auto& file : plan.files)
    HALLMARK_CHECK(
        kernels::settle_text(session.files, path::join(path::join(session.cwd, into), file.path), file.text));
  return {};
}

Status run_codegen_only(const Session& session, const BuildRequest& request, std::string_view generator) {
  HALLMARK_TRY(const auto now, look_around(session, request));
  const auto name = generator.substr(0, generator.find('@'));
  manifest::Codegen own;
  const auto& codegens = now->manifest.codegens;
  const auto declared = std::ranges::find(codegens, name, &manifest::Codegen::name);
  if (name == kernels::paths::kOwnGenerator) {
    own = own_generator(session, *now);
  } else if (declared == codegens.end()) {
    return fail({ErrorKind::invalid,
                 formatted("{} declares no code generator \"{}\"", now->manifest.file, name),
                 {}});
  }
  const auto& codegen = name == kernels::paths::kOwnGenerator ? own : *declared;
  std::vector<std::string> archs;
  for (const auto& arch : now->expansion.archs) {
    auto identifier = manifest::arch_identifier(arch.name);
    if (std::ranges::find(archs, identifier) == archs.end()) archs.push_back(std::move(identifier));
  }
  // Ninja's children outlive a Ninja that is killed: one of an earlier build may still be at it.
  const auto lock_path = path::join(now->expansion.folder, formatted(".hallmark-lock-{}", name));
  HALLMARK_TRY(const auto lock, session.files.lock(lock_path, os::LockMode::exclusive, os::LockWait::yes));
  CapturedCommands commands(session);
  HALLMARK_CHECK(kernels::run_codegen(
      {now->manifest, codegen, now->source_folders, std::move(archs), now->expansion.folder,
       session.installation.program, root_for_runs(session, *now), session.installation.full_program},
      session.files, commands));
  return {};
}

}  // namespace hallmark::app
