#include "engine/replay.h"

#include <algorithm>
#include <memory>

#include "base/limits.h"
#include "base/path.h"
#include "engine/answers.h"

namespace hallmark::engine {

using model::ReasonCode;
using model::RecordedOutput;

namespace {

constexpr const char* kNoFolder = "its folder is not there";

}  // namespace

struct Replayer::Plan {
  struct Step {
    const RecordedOutput* output = nullptr;
    std::string path;
    bool fix_mode_only = false;
    std::unique_ptr<os::UnseenFile> file = nullptr;  ///< a regular file's bytes, once they are prepared
    bool is_new = false;                             ///< nothing stood there
    bool is_placed = false;
  };
  std::vector<std::string> folders;  ///< to make, with their modes
  std::vector<std::uint32_t> folder_modes;
  std::vector<std::string> made;  ///< of the folders, so far
  std::vector<Step> steps;
};

bool Replayer::restore(const Hit& hit, Restored& restored, std::vector<model::Reason>& reasons) {
  Plan steps;
  if (!plan(hit, steps, restored, reasons)) return false;
  if (prepare(steps, reasons) && carry_out(steps, reasons)) return true;
  undo(steps);
  return false;
}

/// The command runs now, and is to find what it would have found without us: "mkdir out" fails if out is
/// there. What stood there before and was written over stays so: it was an output of an action of ours.
void Replayer::undo(Plan& plan) {
  for (auto& step : plan.steps) {
    step.file.reset();
    if (step.is_placed && step.is_new) static_cast<void>(tools_.files.remove(step.path));
  }
  for (auto folder = plan.made.rbegin(); folder != plan.made.rend(); ++folder)
    static_cast<void>(tools_.files.remove_folder(*folder));
}

bool Replayer::plan(const Hit& hit, Plan& plan, Restored& restored, std::vector<model::Reason>& reasons) {
  for (const auto& output : hit.record.outputs) {
    const auto unfolded = tools_.bindings.tokens().unfold(output.path);
    if (!unfolded) {
      reasons.push_back({ReasonCode::record_unreadable, output.path, "a name that is not set today", {}});
      return false;
    }
    const auto& path = *unfolded;
    if (output.role == model::OutputRole::depfile) {
      auto text = tools_.blobs.read(output.content, limits::kRecordBytes);
      if (!text.has_value() || !text->has_value()) {
        reasons.push_back({ReasonCode::record_unreadable,
                           path,
                           text.has_value() ? "its bytes are not in the store" : text.error().what,
                           {}});
        return false;
      }
      auto today = tools_.bindings.tokens().unfold(**text);
      if (!today) {
        reasons.push_back({ReasonCode::record_unreadable, path, "a name that is not set today", {}});
        return false;
      }
      if (!has_folder(path, plan)) {
        reasons.push_back({ReasonCode::outputs_in_the_way, path, kNoFolder, {}});
        return false;
      }
      restored.depfiles.emplace(path, *std::move(today));
      continue;
    }
    if (!plan_file(hit, output, path, plan, restored, reasons)) return false;
  }
  return true;
}

/// A folder that the command found there and that is gone: only the command can say what happens then.
bool Replayer::has_folder(const std::string& path, const Plan& plan) {
  const std::string folder(path::parent(path));
  if (std::find(plan.folders.begin(), plan.folders.end(), folder) != plan.folders.end()) return true;
  const auto stat = tools_.files.stat(folder);
  return stat.has_value() && stat->has_value();
}

bool Replayer::plan_file(const Hit& hit, const RecordedOutput& output, const std::string& path, Plan& plan,
                         Restored& restored, std::vector<model::Reason>& reasons) {
  const auto in_the_way = [&](std::string what) {
    reasons.push_back({ReasonCode::outputs_in_the_way, path, std::move(what), {}});
    return false;
  };
  const auto stat = tools_.files.lstat(path);
  if (!stat.has_value()) return in_the_way(stat.error().what);
  if (!*stat) {
    if (!has_folder(path, plan)) return in_the_way(kNoFolder);
    restored.created.push_back(path);
    if (output.kind == NodeKind::directory) {
      plan.folders.push_back(path);
      plan.folder_modes.push_back(output.mode);
    } else {
      restored.written.push_back(path);
      plan.steps.push_back({&output, path});
      plan.steps.back().is_new = true;
    }
    return true;
  }
  if ((*stat)->kind != output.kind) return in_the_way("it is a " + describe(answer_kind(*stat)) + " now");
  bool equal = false;
  if (!may_overwrite(hit, output, path, **stat, equal))
    return in_the_way(output.kind == NodeKind::symlink ? "it leads elsewhere now" : kForeignBytes);
  if (output.kind == NodeKind::directory) {
    if (output.role != model::OutputRole::searched_folder) return true;
    const auto names = tools_.files.list(path);
    if (!names.has_value()) return in_the_way(names.error().what);
    const auto& outputs = hit.record.outputs;
    for (const std::string& found : *names) {
      // A companion goes with its output.
      const auto& suffix = tools_.companion_suffix;
      const bool is_companion = !suffix.empty() && found.ends_with(suffix);
      const auto name = std::string_view(found).substr(0, found.size() - (is_companion ? suffix.size() : 0));
      const bool own = std::any_of(outputs.begin(), outputs.end(), [&](const RecordedOutput& other) {
        return other.path.size() == output.path.size() + 1 + name.size() && other.path.ends_with(name) &&
               path::parent(other.path) == output.path;
      });
      if (own || is_unlisted_name(found)) continue;
      reasons.push_back({ReasonCode::outputs_in_the_way,
                         path::join(path, found),
                         "the command makes its folder, looks into it, and did not find it there",
                         {}});
      return false;
    }
    return true;
  }
  if (!equal) {
    restored.written.push_back(path);
    plan.steps.push_back({&output, path});
  } else if (output.kind == NodeKind::file && (*stat)->mode != output.mode) {
    plan.steps.push_back({&output, path, true});
  }
  return true;
}

/// Whether what stands there may go: it is what an action of ours made, what the command itself read (so that
/// the look-up compared it), or nothing at all.
bool Replayer::may_overwrite(const Hit& hit, const RecordedOutput& output, const std::string& path,
                             const FileStat& stat, bool& equal) {
  switch (output.kind) {
    case NodeKind::directory:
      return true;
    case NodeKind::symlink: {
      const auto target = tools_.files.read_link(path);
      const auto recorded = tools_.bindings.tokens().unfold(output.target);
      equal = target.has_value() && recorded && *target == *recorded;
      return equal;
    }
    case NodeKind::file: {
      const auto hashed = tools_.hasher.hash(path);
      if (!hashed.has_value()) return false;
      equal = hashed->digest == output.content;
      if (equal || stat.size_bytes == 0) return true;
      const auto known = tools_.blobs.contains(hashed->digest);
      if (known.has_value() && *known) return true;
      const model::Question read{model::Aspect::content, output.path};
      return std::binary_search(hit.paths.questions.begin(), hit.paths.questions.end(), read);
    }
    case NodeKind::other:
      break;
  }
  return false;
}

bool Replayer::prepare(Plan& plan, std::vector<model::Reason>& reasons) {
  for (std::size_t i = 0; i < plan.folders.size(); ++i) {
    const auto made = tools_.files.make_folder(plan.folders[i], plan.folder_modes[i]);
    if (made.has_value()) plan.made.push_back(plan.folders[i]);
    const auto moded = made.has_value() ? tools_.files.set_mode(plan.folders[i], plan.folder_modes[i]) : made;
    if (!moded.has_value()) {
      // A peer that replays beside us may have made it meanwhile.
      const auto stat = tools_.files.lstat(plan.folders[i]);
      if (stat.has_value() && stat->has_value() && (*stat)->kind == NodeKind::directory) continue;
      reasons.push_back({ReasonCode::outputs_in_the_way, plan.folders[i], moded.error().what, {}});
      return false;
    }
  }
  std::size_t held = 0;
  for (auto& step : plan.steps) {
    if (step.fix_mode_only || step.output->kind == NodeKind::symlink) continue;
    // A nameless file holds a descriptor until all are in place.
    const auto unseen = ++held <= limits::kNamelessOutputs ? os::Unseen::nameless : os::Unseen::hidden;
    auto file = tools_.files.create_unseen(std::string(path::parent(step.path)), unseen);
    if (!file.has_value()) {
      reasons.push_back({ReasonCode::outputs_in_the_way, step.path, file.error().what, {}});
      return false;
    }
    step.file = *std::move(file);
    const auto restored = tools_.blobs.restore(step.output->content, *step.file, step.output->mode);
    if (restored.has_value() && *restored) continue;
    reasons.push_back({ReasonCode::record_unreadable,
                       step.path,
                       restored.has_value() ? "its bytes are not in the store" : restored.error().what,
                       {}});
    return false;
  }
  return true;
}

bool Replayer::carry_out(Plan& plan, std::vector<model::Reason>& reasons) {
  const auto make_link = [&](const Plan::Step& step) -> Status {
    const auto target = tools_.bindings.tokens().unfold(step.output->target);
    if (!target) return fail({ErrorKind::invalid, "a name that is not set today", {}});
    const Status made = tools_.files.make_link(*target, step.path);
    if (made.has_value()) return made;
    // A peer that replays beside us may have made it meanwhile.
    const auto there = tools_.files.read_link(step.path);
    return there.has_value() && *there == *target ? Status() : made;
  };
  const auto put_in_place = [&](const Plan::Step& step) -> Status {
    if (step.fix_mode_only) return tools_.files.set_mode(step.path, step.output->mode);
    return step.file != nullptr ? step.file->appear(step.path) : make_link(step);
  };
  for (auto& step : plan.steps) {
    const auto done = put_in_place(step);
    step.is_placed = done.has_value();
    if (step.is_placed) continue;
    reasons.push_back({ReasonCode::outputs_in_the_way, step.path, done.error().what, {}});
    return false;
  }
  return true;
}

void Replayer::stamp(const Hit& hit, const Restored& restored, std::int64_t mtime_ns) {
  for (const auto& output : hit.record.outputs) {
    if (output.kind == NodeKind::directory || output.role == model::OutputRole::depfile) continue;
    const auto path = tools_.bindings.tokens().unfold(output.path);
    if (!path) continue;
    const bool untouched =
        std::find(restored.written.begin(), restored.written.end(), *path) == restored.written.end();
    if (restat_ && untouched) continue;
    static_cast<void>(tools_.files.touch(*path, mtime_ns));
  }
}

}  // namespace hallmark::engine
