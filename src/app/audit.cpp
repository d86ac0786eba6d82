#include "app/audit.h"

#include <sys/wait.h>

#include <algorithm>
#include <optional>

#include "app/build_reader.h"
#include "app/command.h"
#include "app/prove.h"
#include "app/temporary_folder.h"
#include "app/watched_run.h"
#include "base/path.h"
#include "engine/engine.h"
#include "prove/witness.h"

namespace hallmark::app {
namespace {

/// Runs compiles of a build so that they write into a scratch folder.
class ScratchRuns {
 public:
  ScratchRuns(const Session& session, TemporaryFolder folder)
      : session_(session), folder_(std::move(folder)) {}

  /// nullopt, and why in `complaint`: it could not be run so, or it failed. Errors: io (interrupted, too).
  Result<std::optional<prove::StepReads>> run(const prove::BuildEdge& edge, std::string& complaint) {
    const auto& output = edge.outputs.front();
    std::string why_not;
    const auto command = prove::command_into(session_.files, edge, folder_.path(), why_not);
    if (!command) {
      complaint = output + " was not observed: " + why_not;
      return std::nullopt;
    }
    auto environment = session_.environment;
    environment["TMPDIR"] = folder_.path();
    // stdout is the report's.
    std::vector<std::string> argv = {"/bin/sh", "-c", "exec \"$@\" >&2", "sh"};
    argv.insert(argv.end(), command->argv.begin(), command->argv.end());
    const auto request = request_to_watch(session_, describe_command(argv, environment, command->cwd));
    HALLMARK_TRY(const auto observation, engine::watch(session_.files, request));
    auto reads = reads_of(observation);
    folder_.clear();
    if (WIFSIGNALED(observation.wait_status))
      return fail({ErrorKind::io, "interrupted while " + output + " was observed", {}});
    if (observation.tier == model::Tier::none) {
      complaint = "commands cannot be observed here; see hallmark doctor";
    } else if (observation.wait_status != 0) {
      complaint = output + " was not observed: its compiler failed";
    } else {
      for (const auto& made : observation.outputs) {
        if (!path::is_within(made.path, folder_.path()))
          complaint = "observing " + output + " wrote " + made.path + " as well";
      }
      return std::optional(std::move(reads));
    }
    return std::nullopt;
  }

 private:
  prove::StepReads reads_of(const model::Observation& observation) const {
    prove::StepReads reads{prove::Testimony::observed, {}, {}};
    for (const auto& input : observation.inputs) {
      if (input.use == model::Use::content && input.stat && input.stat->kind == NodeKind::file &&
          !path::is_within(input.path, folder_.path()))
        reads.read.push_back(input.path);
    }
    return reads;
  }

  const Session& session_;
  TemporaryFolder folder_;
};

}  // namespace

Result<AuditResult> audit(const Session& session, const AuditRequest& request) {
  AuditResult result;
  result.folder = real_or_spelled(session, request.folder);
  HALLMARK_TRY(const auto graph, read_build(session, result.folder));
  HALLMARK_TRY(const auto store, open_store(session));

  const auto& edges = graph.edges();
  std::vector<std::optional<prove::StepReads>> reads(edges.size());
  std::vector<std::size_t> unrecorded;
  prove::RecordWitness records(*store);
  for (std::size_t i = 0; i < edges.size(); ++i) {
    if (edges[i].is_phony() || edges[i].is_generator) continue;
    for (const auto& output : edges[i].outputs) {
      if (!reads[i]) reads[i] = records.of(output);
    }
    if (!reads[i]) unrecorded.push_back(i);
  }

  std::vector<std::string> complaints;
  if (request.observe) {
    HALLMARK_TRY(auto folder, TemporaryFolder::make(session.files, session.environment, "audit"));
    ScratchRuns runs(session, std::move(folder));
    auto compiles = unrecorded;
    std::erase_if(compiles, [&](std::size_t i) { return !prove::is_compile(session.files, edges[i]); });
    for (std::size_t done = 0; done < compiles.size(); ++done) {
      const auto& edge = edges[compiles[done]];
      if (request.progress) request.progress(done, compiles.size(), edge.outputs.front());
      std::string complaint;
      HALLMARK_TRY(reads[compiles[done]], runs.run(edge, complaint));
      if (!complaint.empty()) complaints.push_back(std::move(complaint));
    }
  }
  prove::IncludeWitness includes(session.files);
  for (const auto i : unrecorded) {
    if (!reads[i]) reads[i] = includes.of(edges[i]);
  }

  result.audit = prove::audit(session.files, graph, reads);
  result.audit.complaints.insert(result.audit.complaints.end(), complaints.begin(), complaints.end());
  const auto cache = session.files.stat(path::join(result.folder, "CMakeCache.txt"));
  const bool is_made_by_cmake = cache.has_value() && cache->has_value();
  result.repairs = prove::repair_lines(graph, result.audit, is_made_by_cmake);
  static_cast<void>(store->flush());
  return result;
}

}  // namespace hallmark::app
