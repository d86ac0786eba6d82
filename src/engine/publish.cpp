#include "engine/publish.h"

#include <algorithm>
#include <cctype>

#include "base/limits.h"
#include "base/path.h"
#include "engine/answers.h"
#include "engine/mentions.h"

namespace hallmark::engine {

using model::ReasonCode;

namespace {

/// From this size on a file is given to the store by its name, so that the store can share its blocks.
constexpr std::size_t kSharedBlocksPayBytes = 32u << 20;

}  // namespace

struct Publisher::Work {
  Asked asked;
  model::Record record;
  Mentions mentions;
  Published result;
};

std::string without_process_numbers(std::string bytes) {
  constexpr std::string_view kMark = "tmpxft_";
  for (auto at = bytes.find(kMark); at != std::string::npos; at = bytes.find(kMark, at)) {
    at += kMark.size();
    // tmpxft_<process, 8 hex>_<counter, 8 hex>-<n>_<name>
    for (;
         at < bytes.size() && (std::isxdigit(static_cast<unsigned char>(bytes[at])) != 0 || bytes[at] == '_');
         ++at)
      bytes[at] = '0';
  }
  return bytes;
}

std::vector<store::DerivationStore::Made> made_by(const model::Record& record, const Bindings& bindings) {
  std::vector<store::DerivationStore::Made> made;
  for (const auto& output : record.outputs) {
    if (output.kind != NodeKind::file || output.role != model::OutputRole::plain) continue;
    if (auto path = bindings.tokens().unfold(output.path)) made.push_back({output.content, *std::move(path)});
  }
  return made;
}

Published Publisher::publish(const CommandKey& key, const model::Observation& observation, Asked asked,
                             const std::map<std::string, std::string>& depfiles) {
  Work work{std::move(asked), {}, Mentions(tools_.bindings), {}};
  auto& record = work.record;
  record.weak_key = key.weak;
  record.tier = observation.tier;
  record.created_ns = tools_.clock.now_ns();
  record.wall_ns = observation.wall_ns;
  record.peak_rss_bytes = observation.peak_rss_bytes;
  for (const auto& program : observation.programs) {
    auto folded = tools_.bindings.fold_or_mark(program.path);
    if (std::find(record.programs.begin(), record.programs.end(), folded) == record.programs.end())
      record.programs.push_back(std::move(folded));
  }

  const auto status = [&]() -> Status {
    HALLMARK_CHECK(add_outputs(observation, depfiles, work));
    HALLMARK_CHECK(add_streams(observation, work));
    add_bound(work);
    const model::Derivation derivation{key.weak, key.text, work.asked.paths, work.asked.answers};
    const auto strong = model::strong_key(key.weak, derivation.paths, derivation.answers);
    HALLMARK_CHECK(finish_outputs(strong, derivation, work));
    HALLMARK_CHECK(tools_.store.put_derivation(strong, derivation));
    // What stands on the disk, also where an earlier run's bytes stay in the record. Before the record: a
    // made file without a note looks like a source.
    HALLMARK_CHECK(
        tools_.store.note_made(strong, tools_.bindings.places(), made_by(record, tools_.bindings)));
    HALLMARK_TRY(const auto kept, tools_.store.put_record(strong, record));
    if (kept) HALLMARK_CHECK(compare(*kept, work));
    work.result.strong = strong;
    return update_entry(key, work);
  }();
  if (!status.has_value()) {
    const auto& error = status.error();
    work.result.strong.reset();
    if (error.kind == ErrorKind::invalid) {
      work.result.reasons.push_back({ReasonCode::volatile_input, error.what, {}, {}});
    } else {
      work.result.reasons.push_back({ReasonCode::store_unusable, {}, error.what, {}});
      work.result.trouble = error;
    }
    return std::move(work.result);
  }
  work.result.reasons.insert(work.result.reasons.begin(), {ReasonCode::published, {}, {}, {}});
  return std::move(work.result);
}

Status Publisher::add_outputs(const model::Observation& observation,
                              const std::map<std::string, std::string>& depfiles, Work& work) {
  for (const auto& output : observation.outputs) {
    model::RecordedOutput recorded;
    auto folded = tools_.bindings.tokens().fold(output.path);
    if (!folded) return fail(Error{ErrorKind::invalid, output.path, {}});
    recorded.path = *std::move(folded);
    recorded.kind = output.kind;
    HALLMARK_TRY(const auto stat, tools_.files.lstat(output.path));
    // Somebody removed or replaced it since the command ended.
    if (!stat || stat->kind != output.kind) return fail(Error{ErrorKind::invalid, output.path, {}});
    recorded.mode = stat->mode;
    if (output.searched && !output.before) recorded.role = model::OutputRole::searched_folder;
    if (output.kind == NodeKind::symlink) {
      HALLMARK_TRY(const auto target, tools_.files.read_link(output.path));
      auto folded_target = tools_.bindings.tokens().fold(target);
      if (!folded_target) return fail(Error{ErrorKind::invalid, output.path, {}});
      recorded.target = *std::move(folded_target);
    } else if (const auto depfile = depfiles.find(output.path); depfile != depfiles.end()) {
      auto text = tools_.bindings.tokens().fold(depfile->second);
      if (text) {
        recorded.role = model::OutputRole::depfile;
        // Values that stand where no path can begin were not folded: then they bind the result.
        work.mentions.search_text(*text);
        HALLMARK_TRY(recorded.content, tools_.store.put(*text));
      } else {
        HALLMARK_CHECK(add_file(output, work, recorded));
      }
    } else if (output.kind == NodeKind::file) {
      HALLMARK_CHECK(add_file(output, work, recorded));
    }
    work.record.outputs.push_back(std::move(recorded));
  }
  // By folded path: a folder's name is a prefix of the names in it, so it comes before them.
  std::sort(work.record.outputs.begin(), work.record.outputs.end(),
            [](const auto& a, const auto& b) { return a.path < b.path; });
  return {};
}

Status Publisher::add_file(const model::ObservedOutput& output, Work& work, model::RecordedOutput& recorded) {
  HALLMARK_TRY(const auto bytes, os::read_file(tools_.files, output.path, limits::kBlobBytes));
  work.mentions.search(bytes);
  if (tools_.finisher != nullptr) {  // stored when it is finished, which takes the run's key
    recorded.content = digest::digest_of(bytes);
    return {};
  }
  if (bytes.size() < kSharedBlocksPayBytes) {
    HALLMARK_TRY(recorded.content, tools_.store.put(bytes));
    return {};
  }
  HALLMARK_TRY(recorded.content, tools_.store.put_file(output.path));
  // Stored must be what was searched: another writer may be at work.
  if (digest::digest_of(bytes) != recorded.content) return fail(Error{ErrorKind::invalid, output.path, {}});
  return {};
}

Status Publisher::finish_outputs(const digest::Key& strong, const model::Derivation& derivation, Work& work) {
  if (tools_.finisher == nullptr) return {};
  for (auto& output : work.record.outputs) {
    if (output.kind == NodeKind::file && output.role != model::OutputRole::depfile)
      HALLMARK_CHECK(finish_file(strong, derivation, output));
  }
  return {};
}

/// The finished file appears in the place of the command's, whole: whoever looks sees one or the other.
Status Publisher::finish_file(const digest::Key& strong, const model::Derivation& derivation,
                              model::RecordedOutput& recorded) {
  const auto path = tools_.bindings.tokens().unfold(recorded.path);
  if (!path) return fail(Error{ErrorKind::invalid, recorded.path, {}});
  HALLMARK_TRY(const auto bytes, os::read_file(tools_.files, *path, limits::kBlobBytes));
  // Another writer may be at work: what is finished must be what was searched.
  if (digest::digest_of(bytes) != recorded.content) return fail(Error{ErrorKind::invalid, *path, {}});
  HALLMARK_TRY(const auto finished, tools_.finisher->finish(bytes, strong, derivation));
  if (!finished) {
    HALLMARK_TRY(recorded.content, tools_.store.put(bytes));
    return {};
  }
  HALLMARK_TRY(const auto file,
               tools_.files.create_unseen(std::string(path::parent(*path)), os::Unseen::nameless));
  HALLMARK_CHECK(file->write(as_bytes(*finished)));
  HALLMARK_CHECK(file->finish(recorded.mode));
  HALLMARK_CHECK(file->appear(*path));
  HALLMARK_TRY(recorded.content, tools_.store.put(*finished));
  return {};
}

Status Publisher::add_streams(const model::Observation& observation, Work& work) {
  const auto add = [&](const std::string& bytes, std::optional<digest::Digest>& digest) -> Status {
    if (bytes.empty()) return {};
    work.mentions.search(bytes);
    HALLMARK_TRY(digest, tools_.store.put(bytes));
    return {};
  };
  HALLMARK_CHECK(add(observation.out.bytes, work.record.out));
  return add(observation.err.bytes, work.record.err);
}

void Publisher::add_bound(Work& work) {
  auto& paths = work.asked.paths.questions;
  auto& answers = work.asked.answers;
  for (const auto& name : work.mentions.names()) {
    const model::Question question{model::Aspect::bound, name};
    const auto place = std::lower_bound(paths.begin(), paths.end(), question);
    if (place != paths.end() && *place == question) continue;
    const auto* value = tools_.bindings.value_of(name);
    answers.insert(answers.begin() + (place - paths.begin()),
                   value != nullptr ? answer_text(*value) : answer_absent());
    paths.insert(place, question);
  }
}

Result<std::string> Publisher::comparable_bytes(const digest::Digest& digest) {
  HALLMARK_TRY(auto bytes, tools_.store.read(digest, limits::kBlobBytes));
  return without_process_numbers(bytes ? *std::move(bytes) : std::string());
}

/// The first published result stays. Another one for the same inputs is worth knowing.
Status Publisher::compare(const model::Record& kept, Work& work) {
  std::vector<model::Reason> notes;
  const auto differs = [&](const std::string& what) {
    notes.push_back({ReasonCode::nondeterministic, what, {}, {}});
  };
  bool lost = false;
  for (const auto& ours : work.record.outputs) {
    const auto theirs = std::find_if(kept.outputs.begin(), kept.outputs.end(),
                                     [&](const auto& other) { return other.path == ours.path; });
    if (theirs == kept.outputs.end() || theirs->kind != ours.kind || theirs->target != ours.target) {
      differs(ours.path);
      continue;
    }
    if (ours.kind != NodeKind::file) continue;
    HALLMARK_TRY(const bool there, tools_.store.contains(theirs->content));
    lost = lost || !there;
    if (theirs->content == ours.content || !there) continue;
    HALLMARK_TRY(const auto our_bytes, comparable_bytes(ours.content));
    HALLMARK_TRY(const auto their_bytes, comparable_bytes(theirs->content));
    if (our_bytes != their_bytes) differs(ours.path);
  }
  if (kept.outputs.size() > work.record.outputs.size()) differs("the number of outputs");
  for (const auto& stream : {kept.out, kept.err}) {
    if (!stream) continue;
    HALLMARK_TRY(const bool there, tools_.store.contains(*stream));
    lost = lost || !there;
  }
  if (kept.out != work.record.out) differs("stdout");
  if (kept.err != work.record.err) differs("stderr");

  for (auto note : notes) {  // kept folded, told to a person of this tree
    note.subject = tools_.bindings.tokens().unfold(note.subject).value_or(note.subject);
    work.result.reasons.push_back(std::move(note));
  }
  const auto strong = model::strong_key(work.record.weak_key, work.asked.paths, work.asked.answers);
  if (lost) {
    // Its blobs are gone, so this record serves nobody: ours takes its place.
    work.record.notes = kept.notes;
    work.record.notes.insert(work.record.notes.end(), notes.begin(), notes.end());
    return tools_.store.replace_record(strong, work.record);
  }
  if (notes.empty() || !kept.notes.empty()) return {};
  auto noted = kept;
  noted.notes = notes;
  if (noted.notes.size() > limits::kReasonsPerDecision) noted.notes.resize(limits::kReasonsPerDecision);
  return tools_.store.replace_record(strong, noted);
}

Status Publisher::update_entry(const CommandKey& key, Work& work) {
  model::WeakEntry entry;
  if (auto known = tools_.store.weak_entry(key.weak); known.has_value() && *known) entry = **std::move(known);
  entry.command = key.text;
  std::erase_if(entry.sets, [&](const auto& set) { return set.paths == work.asked.paths; });
  entry.sets.insert(entry.sets.begin(), {std::move(work.asked.paths), std::move(work.asked.answers)});
  if (entry.sets.size() > limits::kPathSetsPerWeakKey) entry.sets.resize(limits::kPathSetsPerWeakKey);
  return tools_.store.put_weak_entry(key.weak, entry);
}

}  // namespace hallmark::engine
