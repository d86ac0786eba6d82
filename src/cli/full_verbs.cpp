#include "cli/full_verbs.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <ctime>

#include "app/care.h"
#include "app/command.h"
#include "app/config_file.h"
#include "app/make_asker.h"
#include "app/places.h"
#include "app/prove.h"
#include "app/run_stamped.h"
#include "app/session.h"
#include "base/format.h"
#include "base/path.h"
#include "cli/audit_verb.h"
#include "cli/build_verb.h"
#include "cli/doctor_view.h"
#include "cli/exit_code.h"
#include "cli/help.h"
#include "cli/inspect_verb.h"
#include "cli/json.h"
#include "cli/manifest_verb.h"
#include "cli/proof_view.h"
#include "cli/run_report.h"
#include "cli/run_verb.h"
#include "cli/terminal.h"
#include "cli/test_verb.h"

namespace hallmark::cli {
namespace {

int refuse(const Error& error) {
  complain(error.message());
  return exit_code_of(error.kind);
}

int show(std::string_view text, int exit_code = kOk) {
  if (print(text)) return exit_code;
  complain("cannot write to stdout; is the disk full?");
  return kEnvironment;
}

Result<std::string> compile_here(const std::string& root) {
  return app::compile_config(os::linux_file_system(), os::system_clock(), app::current_environment(), root);
}

/// Shown sizes are for people: three digits.
std::string size_text(std::uint64_t bytes) {
  constexpr std::array kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 999.5 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  return unit == 0 ? formatted("{} B", bytes) : formatted("{:.3g} {}", value, kUnits[unit]);
}

std::string time_text(std::int64_t at_ns) {
  const auto at_s = static_cast<std::time_t>(at_ns / 1'000'000'000);
  std::tm local{};
  std::array<char, 32> text;
  if (::localtime_r(&at_s, &local) == nullptr) return formatted("{} s", at_s);
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &local)};
}

bool parse_number(std::string_view text, int& number) {
  const auto* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  return parsed.ec == std::errc() && parsed.ptr == end && number > 0;
}

std::vector<std::string> operands_of(const Parsed& parsed) {
  return {parsed.operands.begin(), parsed.operands.end()};
}

/// In the place of a sub-make that is asked what it would do.
int ask_sub_make(const Parsed& parsed) {
  auto& files = os::linux_file_system();
  const auto cwd = app::current_folder();
  if (!cwd.has_value()) return refuse(cwd.error());
  const auto installed = app::find_installation(files);
  if (!installed.has_value()) return refuse(installed.error());
  const auto told =
      app::ask_make(files, app::current_environment(), {operands_of(parsed), *cwd, installed->full_program});
  if (!told.has_value()) return refuse(told.error());
  return show(told->trace, told->is_whole ? kOk : kNegative);
}

int verify(const Parsed& parsed, const app::Session& session) {
  const bool of_build = parsed.has("--build-dir");
  const bool of_process = parsed.has("--pid");
  if ((parsed.operands.empty() ? 0 : 1) + (of_build ? 1 : 0) + (of_process ? 1 : 0) != 1) {
    complain("give either ARTIFACTs, as in `hallmark verify build/libkernels.so`, or --build-dir, or --pid");
    return kUsage;
  }
  int process = 0;
  if (of_process && !parse_number(parsed.value("--pid"), process)) {
    complain(formatted("--pid wants the number of a process, not `{}`", parsed.value("--pid")));
    return kUsage;
  }
  const auto attestation = parsed.value("--attestation");
  if (!attestation.empty() && parsed.operands.size() != 1) {
    complain("--attestation speaks of one ARTIFACT; give exactly one");
    return kUsage;
  }
  const auto accept = parsed.has("--weak") ? app::Accept::weaker : app::Accept::records;
  const auto found = of_build ? app::prove_build(session, std::string(parsed.value("--build-dir")), accept)
                     : of_process
                         ? app::prove_process(session, process)
                         : app::prove(session, operands_of(parsed), accept, std::string(attestation));
  if (!found.has_value()) return refuse(found.error());
  if (found->proofs.empty()) {
    if (parsed.has("--json")) return show(verdicts_json(*found), kNegative);
    complain("nothing that it executes was made by a recorded command or lies in the tree");
    return kNegative;
  }
  const bool fresh = std::all_of(found->proofs.begin(), found->proofs.end(), [](const prove::Proof& proof) {
    return proof.verdict == prove::Verdict::fresh;
  });
  const auto which = of_build ? Shown::not_fresh : Shown::all;
  return show(parsed.has("--json") ? verdicts_json(*found) : verdicts_text(*found, session.cwd, which),
              fresh ? kOk : kNegative);
}

int which_tests(const Parsed& parsed, const app::Session& session) {
  const std::string file(parsed.operands.front());
  const auto programs = app::which_tests(session, file, std::string(parsed.value("--build-dir")));
  if (!programs.has_value()) return refuse(programs.error());
  const int exit_code = programs->empty() ? kNegative : kOk;
  if (parsed.has("--json")) return show(which_tests_json(*programs), exit_code);
  if (programs->empty())
    complain(
        formatted("no test program is known that loads something made of {}: run your tests once with "
                  "`hallmark test -- ...`, or name their build with --build-dir",
                  file));
  return show(which_tests_text(*programs, session.cwd), exit_code);
}

int why_artifact(const Parsed& parsed, const app::Session& session) {
  if (parsed.operands.size() > 1 || parsed.has("--last-miss")) {
    complain(parsed.has("--last-miss") ? "--last-miss takes no ARTIFACT; leave one of them out"
                                       : "`hallmark why` explains one ARTIFACT at a time");
    return kUsage;
  }
  const auto found = app::prove(session, operands_of(parsed));
  if (!found.has_value()) return refuse(found.error());
  const auto& proof = found->proofs.front();
  const int known = proof.step ? kOk : kNegative;
  if (parsed.has("--json")) return show(steps_json(*found), known);
  if (!proof.step) {
    complain(path::relative_below(proof.artifact, session.cwd) + ": " + proof.doubt);
    return kNegative;
  }
  TreeOptions options;
  options.all = parsed.has("--all");
  if (const auto to = parsed.value("--to"); !to.empty())
    options.to = app::real_or_spelled(session, std::string(to));
  if (parsed.has("--dot")) return show(steps_dot(*found, session.cwd, options));
  if (parsed.has("--stale")) return show(differences_text(*found, session.cwd));
  const auto tree = tree_text(*found, session.cwd, options);
  if (tree) return show(*tree);
  complain(formatted("{} does not derive from {}", path::relative_below(proof.artifact, session.cwd),
                     parsed.value("--to")));
  return kNegative;
}

int why(const Parsed& parsed, const app::Session& session) {
  if (!parsed.operands.empty()) return why_artifact(parsed, session);
  for (const std::string_view flag : {"--to", "--stale", "--all", "--dot"}) {
    if (!parsed.has(flag)) continue;
    complain(formatted("{} wants an ARTIFACT, as in: hallmark why {} build/libkernels.so", flag, flag));
    return kUsage;
  }
  const auto miss = app::last_miss(session);
  if (!miss.has_value()) return refuse(miss.error());
  const std::string& root = session.settings.root.value;
  if (!*miss) {
    if (parsed.has("--json")) return show(line_of(Json{{"root", root}, {"miss", nullptr}}), kNegative);
    complain("no miss is recorded below " + root);
    return kNegative;
  }
  const store::LocalStore::LastMiss& found = **miss;
  if (parsed.has("--json")) {
    Json reasons = Json::array();
    for (const model::Reason& reason : found.reasons) reasons.push_back(to_json(reason));
    return show(line_of(Json{
        {"root", root},
        {"miss", {{"command", found.command}, {"at_ns", found.at_ns}, {"reasons", std::move(reasons)}}}}));
  }
  std::string text = formatted("{}\nran at {} because\n", found.command, time_text(found.at_ns));
  for (const model::Reason& reason : found.reasons) text += formatted("  {}\n", model::sentence(reason));
  return show(text);
}

int cache_stats(const Parsed& parsed, const app::Session& session) {
  const auto stats = app::cache_stats(session);
  if (!stats.has_value()) return refuse(stats.error());
  const store::StoreCounters& counted = stats->counters;
  const store::StoreUsage& usage = stats->usage;
  if (parsed.has("--json")) {
    return show(line_of(Json{{"folder", stats->folder},
                             {"replayed", counted.replayed},
                             {"executed", counted.executed},
                             {"unproven", counted.unproven},
                             {"failed", counted.failed},
                             {"uncacheable", counted.uncacheable},
                             {"saved_ns", counted.saved_ns},
                             {"blobs", usage.blobs},
                             {"blob_bytes", usage.blob_bytes},
                             {"records", usage.records},
                             {"weak_entries", usage.weak_entries},
                             {"derivations", usage.derivations}}));
  }
  const std::uint64_t looked_up = counted.replayed + counted.executed + counted.unproven + counted.failed;
  const std::uint64_t percent = looked_up == 0 ? 0 : counted.replayed * 100 / looked_up;
  return show(
      formatted("store        {}\n"
                "replayed     {} of {} ({} %), {} spared\n"
                "executed     {} and recorded, {} unproven, {} failed\n"
                "uncacheable  {}\n"
                "holds        {} in {} blobs, {} records of {} commands\n",
                stats->folder, counted.replayed, looked_up, percent, duration_text(counted.saved_ns),
                counted.executed, counted.unproven, counted.failed, counted.uncacheable,
                size_text(usage.blob_bytes), usage.blobs, usage.records, usage.weak_entries));
}

int cache_verify(const Parsed& parsed, const app::Session& session) {
  const bool repair = parsed.has("--repair");
  std::uint64_t checked = 0;
  const auto defects = app::verify_cache(session, repair, [&](std::uint64_t done) { checked = done; });
  if (!defects.has_value()) return refuse(defects.error());
  const int exit_code = defects->empty() || repair ? kOk : kCorruptStore;
  if (parsed.has("--json")) {
    Json list = Json::array();
    for (const store::StoreDefect& defect : *defects)
      list.push_back({{"path", defect.path}, {"what", defect.what}});
    return show(line_of(Json{{"checked", checked}, {"repaired", repair}, {"defects", std::move(list)}}),
                exit_code);
  }
  std::string text;
  for (const store::StoreDefect& defect : *defects) text += formatted("{}: {}\n", defect.path, defect.what);
  text += formatted("{} entries checked, {} damaged{}\n", checked, defects->size(),
                    defects->empty() ? ""
                    : repair         ? " and removed"
                                     : "; `hallmark cache verify --repair` removes them");
  return show(text, exit_code);
}

}  // namespace

int full_verb(const Parsed& parsed) {
  const std::string_view name = parsed.verb->name;
  if (parsed.has("--help")) return show(help_of(*parsed.verb));
  if (name == "help") return show(parsed.topic == nullptr ? overview() : help_of(*parsed.topic));
  if (name == "man") return show(manual(HALLMARK_VERSION));
  if (name == "completions") return show(completions(parsed.operands.front()));
  if (name == "run")
    return run_verb(parsed, compile_here, parsed.has("--stamp") ? app::run_stamped : app::run);
  if (name == app::kAskMakeVerb) return ask_sub_make(parsed);
  if (name == "compile-config") {
    const auto compiled = compile_here(std::string(parsed.operands.front()));
    return compiled.has_value() ? show(*compiled) : refuse(compiled.error());
  }

  if (name == "copy-files" || name == "write-files") {
    const auto bare = app::open_bare_session(os::linux_file_system(), os::system_clock());
    if (!bare.has_value()) return refuse(bare.error());
    return name == "copy-files" ? copy_files_verb(parsed, *bare) : write_files_verb(parsed, *bare);
  }

  const auto session = app::open_session(os::linux_file_system(), os::system_clock(),
                                         std::string(parsed.value("--root")), compile_here);
  if (!session.has_value()) return refuse(session.error());
  for (const std::string& warning : session->warnings) complain(warning);
  if (name == "build") return build_verb(parsed, *session);
  if (name == "plan-build") return plan_build_verb(parsed, *session);
  if (name == "run-codegen") return run_codegen_verb(parsed, *session);
  if (name == "why") return why(parsed, *session);
  if (name == "verify") return verify(parsed, *session);
  if (name == "audit") return audit_verb(parsed, *session);
  if (name == "manifest check") return manifest_check_verb(parsed, *session);
  if (name == "manifest show") return manifest_show_verb(parsed, *session);
  if (name == "manifest expand") return manifest_expand_verb(parsed, *session);
  if (name == "which-tests") return which_tests(parsed, *session);
  if (name == "inspect") return inspect_verb(parsed, *session);
  if (name == "test") return test_verb(parsed, *session);
  if (name == "cache stats") return cache_stats(parsed, *session);
  if (name == "cache verify") return cache_verify(parsed, *session);
  if (name == "config") {
    const int exit_code = session->warnings.empty() ? kOk : kUsage;
    return show(parsed.has("--json") ? settings_json(*session) : settings_text(*session), exit_code);
  }
  const app::Diagnosis found = app::diagnose(*session);
  return show(parsed.has("--json") ? diagnosis_json(*session, found) : diagnosis_text(*session, found),
              found.healthy() ? kOk : kNegative);
}

}  // namespace hallmark::cli
