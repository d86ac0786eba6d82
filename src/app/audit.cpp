#include "app/audit.h"

#include <algorithm>
#include <optional>

#include "app/build_reader.h"
#include "app/command.h"
#include "app/prove.h"
#include "app/temporary_folder.h"
#include "base/path.h"
#include "engine/engine.h"
#include "engine/outputs.h"
#include "prove/witness.h"

namespace hallmark::app {
namespace {

/// Runs compiles of a build so that they write into a scratch folder.
class ScratchRuns {
 public:
  ScratchRuns(const Session& session, TemporaryFolder folder)
      : session_(session), folder_(std::move(folder)) {}

  /// nullopt, and why in `complaint`: it could not be run so, or it failed.
  Result<std::optional<prove::StepReads>> run(const prove::BuildEdge& edge, std::string& complaint) {
    const auto command = prove::command_into(edge, folder_.path());
    const auto& output = edge.outputs.front();
    if (!command) {
      complaint =
          output + " was not observed: its command does not name its output, so it cannot be led elsewhere";
      return std::nullopt;
    }
    for (const auto& path : edge.outputs) {
      const auto moved = prove::moved_output(path, folder_.path());
      HALLMARK_CHECK(os::make_folders(session_.files, std::string(path::parent(moved))));
    }
    observe::Request request;
    // stdout is the report's.
    request.command =
        describe_command({"/bin/sh", "-c", "exec >&2\n" + *command}, session_.environment, edge.cwd);
    request.hallmark_program = session_.installation.program;
    request.agent_library = session_.installation.agent;
    request.best = session_.settings.observe.value;
    if (!session_.settings.store.value.empty()) request.invisible.push_back(session_.settings.store.value);
    HALLMARK_TRY(const auto observation, engine::watch(session_.files, request));
    auto reads = reads_of(observation);
    folder_.clear();
    if (observation.tier == model::Tier::none) {
      complaint = "commands cannot be observed here; see hallmark doctor";
      return std::nullopt;
    }
    if (observation.wait_status != 0) {
      complaint = output + " was not observed: its command failed";
      return std::nullopt;
    }
    return std::optional(std::move(reads));
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
    std::erase_if(unrecorded, [&](std::size_t i) { return !prove::is_compile(edges[i]); });
    for (std::size_t done = 0; done < unrecorded.size(); ++done) {
      const auto& edge = edges[unrecorded[done]];
      if (request.progress) request.progress(done, unrecorded.size(), edge.outputs.front());
      std::string complaint;
      HALLMARK_TRY(reads[unrecorded[done]], runs.run(edge, complaint));
      if (!complaint.empty()) complaints.push_back(std::move(complaint));
    }
  }
  prove::IncludeWitness includes(session.files);
  for (const auto i : unrecorded) {
    if (!reads[i]) reads[i] = includes.of(edges[i]);
  }

  result.audit = prove::audit(session.files, graph, reads);
  result.audit.complaints.insert(result.audit.complaints.end(), complaints.begin(), complaints.end());
  result.repairs = prove::repair_lines(graph, result.audit);
  static_cast<void>(store->flush());
  return result;
}

}  // namespace hallmark::app
