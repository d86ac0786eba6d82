#include "engine/internal/action.h"

#include <algorithm>

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

std::vector<std::string> expanded_words(os::FileSystem& files, const model::Command& command) {
  return expand_response_files(command.argv, [&](const std::string& name) -> std::optional<std::string> {
    auto text = os::read_file(files, path::join(command.cwd, name), kResponseFileBytes);
    if (!text.has_value()) return std::nullopt;
    return *std::move(text);
  });
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

bool is_read_only(const Error& error) {
  return error.kind == ErrorKind::permission;
}

}  // namespace

Action::Action(Tools tools, const model::Command& command, const RunOptions& options)
    : tools_(tools),
      command_(command),
      options_(options),
      words_(expanded_words(tools.files, command)),
      arguments_(read_arguments(words_)),
      output_(options.outputs.empty() ? arguments_.output : options.outputs.front()),
      bindings_(command, options.root, options.build_folder, output_) {}

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
  bool ccache = kind_of_program(command_.argv.front()) == ProgramKind::peer_cache;
  if (!ccache) {
    std::optional<std::string> program;
    if (command_.argv.front().find('/') != std::string::npos) {
      program = absolute_path(command_.cwd, command_.argv.front());
    } else {
      program = ProgramSearch(tools_.files, bindings_.search_folders()).find(command_.argv.front());
    }
    const auto real = program ? real_path(tools_.files, *program) : std::nullopt;
    ccache = real && kind_of_program(*real) == ProgramKind::peer_cache;
  }
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
  if (kind == ProgramKind::other && !asked_for)
    return model::Reason{ReasonCode::not_cacheable_kind, name, {}, {}};
  return std::nullopt;
}

Result<RunResult> Action::run() {
  const auto began_ns = tools_.clock.steady_ns();
  const auto finish = [&] {
    result_.wall_ns = tools_.clock.steady_ns() - began_ns;
    if (tools_.store != nullptr) static_cast<void>(tools_.store->flush());
  };
  bypass_ccache();
  key_ = key_of(command_, bindings_, options_.ignored_variables,
                tools_.ports.machine.identity("arch").value_or("unknown"));
  site_ = site_of(command_, options_.root, output_);
  result_.weak_key = key_.weak;

  if (auto reason = why_not_looked_up()) {
    result_.reasons.push_back(*std::move(reason));
  } else {
    looked_up_ = true;
    model::WeakEntry known;
    if (look_up_and_replay(&known)) {
      finish();
      return std::move(result_);
    }
    int holder = -1;
    auto lock = tools_.store->lock_action(key_.weak, [&](int process) { holder = process; });
    if (lock.has_value()) lock_ = *std::move(lock);
    if (holder >= 0) {
      // The equal command that ran meanwhile may have made what we want.
      const auto why = std::move(result_.reasons);
      result_.reasons = {{ReasonCode::waited, std::to_string(holder), {}, {}}};
      if (look_up_and_replay(&known)) {
        finish();
        return std::move(result_);
      }
      static_cast<void>(why);
    }
  }
  HALLMARK_CHECK(execute());
  finish();
  return std::move(result_);
}

bool Action::look_up_and_replay(model::WeakEntry* known) {
  const auto start_ns = tools_.clock.now_ns();
  States states(world());
  auto lookup = look_up(*tools_.store, key_.weak, states);
  if (lookup.entry) *known = *lookup.entry;
  if (lookup.hit) {
    result_.strong_key = lookup.hit->strong;
    lock_.reset();
    (void)start_ns;
    if (replay(*lookup.hit)) return true;
    return false;
  }
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

bool Action::replay(const Hit& hit) {
  const auto start_ns = tools_.clock.now_ns();
  std::string out;
  std::string err;
  if (!read_streams(hit, out, err)) return false;
  Replayer replayer({tools_.files, *tools_.store, tools_.hasher, bindings_}, options_.restat);
  Restored restored;
  if (!replayer.restore(hit, restored, result_.reasons)) return false;
  replayer.stamp(hit, restored, start_ns);
  // A reader that went away is no reason to run the command: it would meet the same.
  static_cast<void>(tools_.ports.streams.write(1, out));
  static_cast<void>(tools_.ports.streams.write(2, err));
  result_.outcome = Outcome::replayed;
  result_.reasons.insert(result_.reasons.begin(), {ReasonCode::replayed, {}, {}, {}});
  result_.exit_code = 0;
  result_.tier = hit.record.tier;
  result_.inputs = hit.paths.questions.size();
  result_.outputs = hit.record.outputs.size();
  store::StoreCounters delta;
  delta.replayed = 1;
  delta.saved_ns = hit.record.wall_ns;
  tools_.store->count(delta);
  return true;
}

Status Action::execute() {
  HALLMARK_CHECK(tools_.ports.streams.feed_back());
  observe::Request request;
  request.command = command_;
  request.hallmark_program = options_.hallmark_program;
  request.agent_library = options_.agent_library;
  request.best = options_.best_tier;
  if (tools_.store != nullptr) {
    request.invisible.push_back(tools_.store->folder());
    if (!tools_.store->read_only()) request.hints_file = path::join(tools_.store->folder(), "hints");
  }
  HALLMARK_TRY(const model::Observation observation, tools_.ports.runner.run(request));
  finish_execution(observation);
  return {};
}

void Action::finish_execution(const model::Observation& observation) {
  result_.exit_code = exit_code_of(observation.wait_status);
  result_.tier = observation.tier;
  result_.outputs = observation.outputs.size();
  auto doubts = doubts_of(observation, territory());

  States states(world());
  Questions questions(world(), states, options_.root);
  const bool may_publish = looked_up_ && doubts.empty();
  Asked asked = questions.of(observation, may_publish);
  result_.inputs = asked.paths.questions.size();
  doubts.insert(doubts.end(), asked.doubts.begin(), asked.doubts.end());

  store::StoreCounters delta;
  if (observation.wait_status != 0) {
    result_.outcome = Outcome::failed;
    delta.failed = 1;
  } else if (!looked_up_) {
    result_.outcome = Outcome::uncacheable;
    delta.uncacheable = 1;
  } else if (doubts.empty() && publish(observation, std::move(asked))) {
    result_.outcome = Outcome::published;
    delta.executed = 1;
  } else {
    result_.outcome = Outcome::unproven;
    delta.unproven = 1;
  }
  result_.reasons.insert(result_.reasons.end(), doubts.begin(), doubts.end());
  lock_.reset();
  if (tools_.store == nullptr) return;
  tools_.store->count(delta);
  if (looked_up_)
    static_cast<void>(
        tools_.store->put_last_miss(options_.root, command_line(command_.argv), result_.reasons));
}

bool Action::publish(const model::Observation& observation, Asked asked) {
  Publisher publisher({tools_.files, tools_.clock, *tools_.store, bindings_});
  auto published = publisher.publish(key_, observation, std::move(asked), {});
  result_.reasons.insert(result_.reasons.end(), published.reasons.begin(), published.reasons.end());
  if (published.trouble) warn("the result was not kept: " + published.trouble->message());
  if (!published.strong) return false;
  result_.strong_key = published.strong;
  static_cast<void>(tools_.store->remember(site_, key_.weak));
  return true;
}

}  // namespace hallmark::engine
