#include "engine/internal/action.h"

#include <algorithm>
#include <new>

#include "base/limits.h"
#include "base/path.h"
#include "engine/answers.h"
#include "engine/explain.h"
#include "engine/publish.h"

namespace hallmark::engine {
namespace {

using model::ReasonCode;

constexpr std::size_t kResponseFileBytes = 16u << 20;
constexpr std::size_t kShownCommandBytes = 4096;

/// `names`: gets the response files, absolute.
std::vector<std::string> expanded_words(os::FileSystem& files, const model::Command& command,
                                        std::vector<std::string>& names) {
  return expand_response_files(command.argv, [&](const std::string& name) -> std::optional<std::string> {
    auto text = os::read_file(files, path::join(command.cwd, name), kResponseFileBytes);
    if (!text.has_value()) return std::nullopt;
    names.push_back(absolute_path(command.cwd, name));
    return *std::move(text);
  });
}

model::Command marked(model::Command command, const ProgramFile& program) {
  command.script = program.script;
  return command;
}

std::string command_line(const std::vector<std::string>& argv) {
  std::string line;
  for (const auto& word : argv) {
    if (!line.empty()) line += ' ';
    line += word;
    if (line.size() > kShownCommandBytes) return line.substr(0, kShownCommandBytes) + " ...";
  }
  return line;
}

}  // namespace

Action::Action(Tools tools, const model::Command& asked, const RunOptions& options)
    : tools_(tools),
      program_(find_program(tools.files, asked)),
      command_(marked(asked, program_)),
      options_(options),
      words_(expanded_words(tools.files, command_, response_files_)),
      arguments_(read_arguments(words_)),
      output_(options.outputs.empty() ? arguments_.output : options.outputs.front()),
      bindings_(command_, options.root, options.build_folder, output_),
      depfile_(tools.files, tools.clock, bindings_, command_, options, arguments_, response_files_, output_) {
}

States::World Action::world() {
  return {tools_.files, tools_.hasher, tools_.ports.machine, tools_.ports.streams, bindings_, command_};
}

void Action::warn(std::string line) {
  result_.warnings.push_back(std::move(line));
}

Territory Action::territory() const {
  Territory territory;
  for (const auto& folder : {options_.root, options_.build_folder, command_.cwd}) {
    if (!folder.empty()) territory.folders.push_back(folder);
  }
  const auto named = [&](const std::string& spelled) {
    if (spelled.empty()) return;
    const auto absolute = absolute_path(command_.cwd, spelled);
    territory.outputs.push_back(absolute);
    // Observed paths have no links in them; the caller's may.
    if (const auto folder = real_path(tools_.files, std::string(path::parent(absolute))))
      territory.outputs.push_back(path::join(*folder, path::base_name(absolute)));
  };
  for (const auto& output : options_.outputs) named(output);
  named(options_.depfile);
  if (kind_of_program(command_.argv.front()) != ProgramKind::other) {
    named(arguments_.output);
    if (arguments_.depfile) named(arguments_.depfile->path);
  }
  return territory;
}

/// A ccache in front of the compiler would answer from its own store (rule 9).
void Action::bypass_ccache() {
  const bool ccache = kind_of_program(command_.argv.front()) == ProgramKind::peer_cache ||
                      kind_of_program(program_.path) == ProgramKind::peer_cache;
  if (!ccache) return;
  command_.environment["CCACHE_DISABLE"] = "1";
  result_.reasons.push_back({ReasonCode::ccache_bypassed, {}, {}, {}});
  if (tools_.store == nullptr || tools_.store->read_only()) return;
  // Once for each root, whatever the number of commands: a site that only this remark uses keeps count.
  digest::Encoder remark;
  remark.text("ccache bypassed").text(options_.root);
  const auto site = remark.key();
  if (const auto said = tools_.store->recent(site); said.has_value() && !said->empty()) return;
  if (tools_.store->remember(site, site).has_value())
    warn("ccache is on PATH: it is run with CCACHE_DISABLE=1, hallmark keeps the results itself");
}

std::optional<model::Reason> Action::why_not_looked_up() {
  if (tools_.store == nullptr) return model::Reason{ReasonCode::store_unusable, {}, "there is no store", {}};
  const auto kind = kind_of_program(command_.argv.front());
  const auto name = std::string(path::base_name(command_.argv.front()));
  if (kind == ProgramKind::peer_remote)
    return model::Reason{ReasonCode::foreign_cache, name, {}, "start the compiler without it"};
  const bool asked_for = options_.cache_any || options_.in_build_edge || !options_.outputs.empty();
  if (kind != ProgramKind::peer_cache && !is_tool_name(command_.argv.front()) && !asked_for)
    return model::Reason{ReasonCode::not_cacheable_kind, name, {}, {}};
  return std::nullopt;
}

Result<RunResult> Action::run() {
  const auto began_ns = tools_.clock.steady_ns();
  HALLMARK_CHECK(depfile_.check());
  bypass_ccache();
  // No compiler, assembler or linker (nor a script in front of one, as nvcc has) reads a variable that the
  // configuration passes over; a code generator may read a CI system's commit or build number.
  std::span<const std::string> ignored;
  if (kind_of_program(command_.argv.front()) != ProgramKind::other) ignored = options_.ignored_variables;
  key_ = key_of(command_, bindings_, pwd_kind(tools_.files, command_), ignored,
                tools_.ports.machine.identity("arch").value_or("unknown"),
                options_.finisher != nullptr ? options_.finisher->name() : std::string_view());
  site_ = site_of(command_, options_.root, output_);
  result_.weak_key = key_.weak;

  bool done = false;
  if (auto reason = why_not_looked_up()) {
    result_.reasons.push_back(*std::move(reason));
  } else {
    looked_up_ = true;
    const auto reasons_before = result_.reasons.size();
    HALLMARK_TRY(done, look_up_and_replay());
    if (!done) {
      std::optional<int> holder;
      auto lock = tools_.store->lock_action(key_.weak, [&](int process) {
        // A wrapper script of the compiler's name that starts us again: who waits for us cannot be waited
        // for.
        if (options_.is_ancestor && options_.is_ancestor(process)) return false;
        holder = process;
        return true;
      });
      // Without a lock (a store that cannot be written) equal commands run beside each other, as they always
      // could.
      if (lock.has_value()) lock_ = *std::move(lock);
      if (holder) {
        // The equal command that ran meanwhile may have made what we want.
        result_.reasons.resize(reasons_before);
        result_.reasons.push_back({ReasonCode::waited, std::to_string(*holder), {}, {}});
        HALLMARK_TRY(done, look_up_and_replay());
      }
    }
  }
  if (!done) HALLMARK_CHECK(execute());
  lock_.reset();
  result_.wall_ns = tools_.clock.steady_ns() - began_ns;
  if (tools_.store != nullptr) static_cast<void>(tools_.store->flush());
  return std::move(result_);
}

Result<bool> Action::look_up_and_replay() {
  // Outputs get this time, so that whatever is edited from now on is newer (rule 1).
  const auto start_ns = tools_.clock.now_ns();
  States states(world());
  const auto lookup = look_up(*tools_.store, key_.weak, states);
  if (lookup.hit) {
    const auto stamp_ns = std::max(start_ns, states.newest_change_ns(tools_.clock.now_ns()));
    return replay(*lookup.hit, states, stamp_ns);
  }
  remember_outputs(lookup);
  for (auto& reason : explain_miss(lookup, key_, site_, *tools_.store, *tools_.store, bindings_))
    result_.reasons.push_back(std::move(reason));
  return false;
}

bool Action::read_streams(const Hit& hit, std::string& out, std::string& err) {
  const auto read = [&](const std::optional<digest::Digest>& digest, std::string& into, const char* name) {
    if (!digest) return true;
    auto bytes = tools_.store->read(*digest, limits::kStreamCaptureBytes);
    if (bytes.has_value() && *bytes) {
      into = **std::move(bytes);
      return true;
    }
    result_.reasons.push_back({ReasonCode::record_unreadable,
                               name,
                               bytes.has_value() ? "its bytes are not in the store" : bytes.error().what,
                               {}});
    return false;
  };
  return read(hit.record.out, out, "stdout") && read(hit.record.err, err, "stderr");
}

Result<bool> Action::replay(const Hit& hit, States& states, std::int64_t start_ns) {
  std::string out;
  std::string err;
  if (!read_streams(hit, out, err)) return false;
  note_replayed(hit);
  const auto companion =
      options_.finisher != nullptr ? options_.finisher->companion_suffix() : std::string_view();
  Replayer replayer({tools_.files, *tools_.store, tools_.hasher, bindings_, companion}, options_.restat);
  Restored restored;
  if (!replayer.restore(hit, restored, result_.reasons)) return false;
  for (const auto& [path, text] : restored.depfiles) {
    if (depfile_.may_replace(path)) continue;
    result_.reasons.push_back({ReasonCode::outputs_in_the_way, path, kForeignBytes, {}});
    return false;
  }
  // From here on it is a replay: what follows can fail only as the command itself would.
  depfile_.announce(restored.created);
  replayer.stamp(hit, restored, start_ns);
  std::vector<std::string> outputs;
  for (const auto& output : hit.record.outputs) {
    if (auto path = bindings_.tokens().unfold(output.path)) outputs.push_back(*std::move(path));
  }
  HALLMARK_TRY(const auto written, depfile_.write(hit.paths, hit.answers, states.programs(), outputs,
                                                  restored.depfiles, true, start_ns));
  static_cast<void>(written);  // the outputs already bear the time before the look-up
  // No reason to run the command: it would meet the same.
  HALLMARK_CHECK(tools_.ports.streams.write(1, out));
  HALLMARK_CHECK(tools_.ports.streams.write(2, err));
  if (std::any_of(hit.paths.questions.begin(), hit.paths.questions.end(),
                  [](const auto& question) { return question.aspect == model::Aspect::stdin_bytes; }))
    tools_.ports.streams.skip_stdin(command_.in);

  result_.outcome = Outcome::replayed;
  result_.exit_code = 0;
  result_.strong_key = hit.strong;
  for (auto& made : made_by(hit.record, bindings_)) result_.files.push_back(std::move(made.path));
  result_.reasons.insert(result_.reasons.begin(), {ReasonCode::replayed, {}, {}, {}});
  result_.tier = hit.record.tier;
  result_.inputs = hit.paths.questions.size();
  result_.outputs = hit.record.outputs.size();
  store::StoreCounters delta;
  delta.replayed = 1;
  delta.saved_ns = hit.record.wall_ns;
  tools_.store->count(delta);
  return true;
}

/// Another command may have made the same bytes in the same place since: what stands there is this one's now.
/// Before it stands there: a made file without a note may look like a source. A note of what did not come to
/// be raises a doubt at most, until the command that then runs leaves its own.
void Action::note_replayed(const Hit& hit) {
  if (tools_.store->read_only()) return;
  static_cast<void>(tools_.store->note_made(hit.strong, bindings_.places(), made_by(hit.record, bindings_)));
}

/// What this command made is no source, though nobody knows what it was made of.
void Action::note_unproven(const model::Observation& observation) {
  if (tools_.store->read_only()) return;
  std::vector<store::DerivationStore::Made> made;
  for (const auto& output : observation.outputs) {
    if (output.kind == NodeKind::file) made.push_back({{}, output.path});
  }
  static_cast<void>(tools_.store->note_made(std::nullopt, bindings_.places(), made));
}

/// With restat, an output that the command makes again with the same bytes keeps its time. That needs its
/// bytes from before: of the outputs that are named, and of those that the last known run made.
void Action::remember_outputs(const Lookup& lookup) {
  if (!options_.restat) return;
  std::set<std::string> paths;
  for (const auto& output : options_.outputs) paths.insert(absolute_path(command_.cwd, output));
  if (!arguments_.output.empty()) paths.insert(absolute_path(command_.cwd, arguments_.output));
  if (lookup.entry && !lookup.entry->sets.empty()) {
    const auto& last = lookup.entry->sets.front();
    const auto record = tools_.store->record(model::strong_key(key_.weak, last.paths, last.answers));
    if (record.has_value() && *record) {
      for (const auto& output : (*record)->outputs) {
        if (auto path = bindings_.tokens().unfold(output.path)) paths.insert(*std::move(path));
      }
    }
  }
  for (const auto& path : paths) {
    const auto stat = tools_.files.lstat(path);
    if (!stat.has_value() || !*stat || (*stat)->kind != NodeKind::file) continue;
    if (const auto hashed = tools_.hasher.hash(path); hashed.has_value())
      earlier_outputs_.emplace(path, *hashed);
  }
}

Status Action::execute() {
  HALLMARK_CHECK(tools_.ports.streams.feed_back());
  observe::Request request;
  request.command = command_;
  request.hallmark_program = options_.hallmark_program;
  request.agent_library = options_.agent_library;
  request.best = options_.best_tier;
  request.keep_output = looked_up_;
  if (tools_.store != nullptr) {
    request.invisible.push_back(tools_.store->folder());
    if (!tools_.store->read_only()) request.hints_file = path::join(tools_.store->folder(), "hints");
  }
  HALLMARK_TRY(model::Observation observation, tools_.ports.runner.run(request));
  drop_litter(observation, tools_.files, temporary_folders(command_.environment));
  return finish_execution(observation);
}

/// In arguments and in variables such as NVCC_APPEND_FLAGS: -DSTAMP=__TIME__.
digest::ClockWords Action::named_clock_words() const {
  std::string text;
  for (const auto& word : words_) text.append(word).append("\n");
  for (const auto& [name, value] : command_.environment) text.append(value).append("\n");
  return digest::clock_words(text);
}

bool Action::asks_for_native() const {
  if (arguments_.native_machine) return true;
  // NVCC_APPEND_FLAGS, CCC_OVERRIDE_OPTIONS, RUSTFLAGS and the like.
  return std::any_of(command_.environment.begin(), command_.environment.end(), [](const auto& variable) {
    return variable.second.find("native") != std::string::npos;
  });
}

Status Action::finish_execution(const model::Observation& observation) {
  const bool succeeded = observation.wait_status == 0 && !observation.undelivered;
  result_.exit_code = exit_code_of(observation.wait_status);
  result_.tier = observation.tier;
  result_.outputs = observation.outputs.size();
  auto doubts = doubts_of(observation, territory());
  if (options_.finisher != nullptr)
    forgive_companions(observation, options_.finisher->companion_suffix(), doubts);
  if (leaves_descriptors_alone(words_)) {
    std::erase_if(doubts,
                  [](const model::Reason& doubt) { return doubt.code == ReasonCode::inherited_descriptor; });
  }

  States states(world());
  const Asked asked = Questions(world(), states, options_.root, asks_for_native(), named_clock_words())
                          .of(observation, looked_up_ && doubts.empty());
  result_.inputs = asked.paths.questions.size();
  doubts.insert(doubts.end(), asked.doubts.begin(), asked.doubts.end());
  const auto depfiles = succeeded ? depfile_.own_depfiles(observation) : std::map<std::string, std::string>();

  store::StoreCounters delta;
  if (!succeeded) {
    result_.outcome = Outcome::failed;
    delta.failed = 1;
  } else if (!looked_up_) {
    result_.outcome = Outcome::uncacheable;
    delta.uncacheable = 1;
  } else if (doubts.empty() && publish(observation, asked, depfiles)) {
    result_.outcome = Outcome::published;
    delta.executed = 1;
  } else {
    result_.outcome = Outcome::unproven;
    delta.unproven = 1;
    note_unproven(observation);
  }
  lock_.reset();
  result_.reasons.insert(result_.reasons.end(), observation.notes.begin(), observation.notes.end());
  result_.reasons.insert(result_.reasons.end(), doubts.begin(), doubts.end());
  const auto told = tell_build_tool(observation, asked, states, depfiles, succeeded);
  if (tools_.store != nullptr) {
    tools_.store->count(delta);
    if (looked_up_)
      static_cast<void>(
          tools_.store->put_last_miss(options_.root, command_line(command_.argv), result_.reasons));
  }
  if (observation.undelivered) return fail(*observation.undelivered);
  return told;
}

/// Announces new names, writes dependency files, and sees to it that an edit of an input during the run is
/// newer than what was made from the input's old bytes (rule 1).
Status Action::tell_build_tool(const model::Observation& observation, const Asked& asked, States& states,
                               const std::map<std::string, std::string>& depfiles, bool succeeded) {
  std::vector<std::string> created;
  std::vector<std::string> outputs;
  for (const auto& output : observation.outputs) {
    outputs.push_back(output.path);
    if (!output.before) created.push_back(output.path);
  }
  depfile_.announce(created);
  if (!succeeded) return {};
  HALLMARK_TRY(const auto written, depfile_.write(asked.paths, asked.answers, states.programs(), outputs,
                                                  depfiles, false, observation.start_ns));
  const bool too_old = !asked.changed.empty() || written.overtaken;
  for (const auto& output : observation.outputs) {
    if (output.kind == NodeKind::directory || output.kind == NodeKind::other) continue;
    const auto stat = tools_.files.lstat(output.path);
    if (!stat.has_value() || !*stat) continue;
    const auto earlier = earlier_outputs_.find(output.path);
    if (!too_old && earlier != earlier_outputs_.end() && earlier->second.stat == output.before) {
      const auto now = tools_.hasher.hash(output.path);
      if (now.has_value() && now->digest == earlier->second.digest)
        static_cast<void>(tools_.files.touch(output.path, output.before->mtime_ns));
      continue;
    }
    const bool kept_old_time =
        result_.outcome == Outcome::published && !options_.restat && (*stat)->mtime_ns < observation.start_ns;
    if (too_old || kept_old_time) static_cast<void>(tools_.files.touch(output.path, observation.start_ns));
  }
  return {};
}

bool Action::publish(const model::Observation& observation, Asked asked,
                     const std::map<std::string, std::string>& depfiles) {
  Published published;
  try {
    Publisher publisher({tools_.files, tools_.clock, *tools_.store, bindings_, options_.finisher});
    published = publisher.publish(key_, observation, std::move(asked), depfiles);
  } catch (const std::bad_alloc&) {
    // An output that is larger than what memory is left. The command itself is done.
    constexpr const char* kWhy = "not enough memory to search its outputs";
    published = {
        std::nullopt, {{ReasonCode::store_unusable, {}, kWhy, {}}}, Error{ErrorKind::limit, kWhy, {}}};
  }
  result_.reasons.insert(result_.reasons.end(), published.reasons.begin(), published.reasons.end());
  if (published.trouble) warn("the result was not kept: " + published.trouble->message());
  if (!published.strong) return false;
  result_.strong_key = published.strong;
  for (const auto& output : observation.outputs) {
    if (output.kind == NodeKind::file && !depfiles.contains(output.path))
      result_.files.push_back(output.path);
  }
  static_cast<void>(tools_.store->remember(site_, key_.weak));
  return true;
}

}  // namespace hallmark::engine
