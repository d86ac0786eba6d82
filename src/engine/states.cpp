#include "engine/states.h"

#include <algorithm>

#include "base/limits.h"
#include "base/path.h"
#include "engine/answers.h"

namespace hallmark::engine {
namespace {

constexpr std::size_t kVolatileBytes = 16u << 20;
/// From this number of names in one folder on, one listing may be cheaper than one stat a name ...
constexpr std::size_t kNamesForListing = 8;
/// ... if the folder is not much larger than the names that are asked for.
constexpr std::uint64_t kFolderBytesPerName = 512;

std::string_view parent_of(std::string_view subject) {
  return path::parent(subject);
}

const model::Answer* answer_among(std::span<const States::Known> known, const model::Question& question) {
  for (const auto& [paths, answers] : known) {
    const auto& asked = paths.questions;
    const auto at = std::lower_bound(asked.begin(), asked.end(), question);
    if (at != asked.end() && *at == question) return &answers[static_cast<std::size_t>(at - asked.begin())];
  }
  return nullptr;
}

}  // namespace

bool is_volatile(std::string_view path) {
  return path::is_within(path, "/proc") || path::is_within(path, "/sys");
}

std::vector<model::Answer> States::ask(const model::PathSet& paths, std::span<const Known> known) {
  std::vector<model::Answer> answers(paths.questions.size());
  std::vector<Index> kinds;
  for (Index i = 0; i < paths.questions.size(); ++i) {
    const auto& question = paths.questions[i];
    if (const auto* answer = answer_among(known, question)) {
      answers[i] = *answer;
    } else if (question.aspect == model::Aspect::kind) {
      kinds.push_back(i);
    } else {
      answers[i] = find_out(question);
    }
  }
  ask_kinds(paths, kinds, answers);
  return answers;
}

void States::ask_kinds(const model::PathSet& paths, const std::vector<Index>& unanswered,
                       std::vector<model::Answer>& answers) {
  // Subjects are sorted, so that the names of a folder follow each other, but for those of its subfolders.
  std::map<std::string_view, std::vector<Index>> by_folder;
  for (const auto i : unanswered) by_folder[parent_of(paths.questions[i].subject)].push_back(i);
  for (const auto& [folded_folder, members] : by_folder) {
    const auto folder = world_.bindings.tokens().unfold(folded_folder);
    std::optional<std::vector<std::string>> names;
    bool folder_is_there = true;
    if (folder && !folder->empty() && members.size() >= kNamesForListing) {
      const auto stat = world_.files.stat(*folder);
      folder_is_there = !stat.has_value() || stat->has_value();
      if (stat.has_value() && stat->has_value() && (*stat)->kind == NodeKind::directory &&
          (*stat)->size_bytes <= members.size() * kFolderBytesPerName) {
        if (auto listed = world_.files.list(*folder); listed.has_value()) names = *std::move(listed);
      }
    }
    for (const auto i : members) {
      const auto& question = paths.questions[i];
      const std::string_view name = path::base_name(question.subject);
      const bool surely_absent =
          !folder_is_there ||
          (names && !std::binary_search(names->begin(), names->end(), name, std::less<>()));
      answers[i] = surely_absent ? answer_absent() : kind(question.subject);
    }
  }
}

model::Answer States::find_out(const model::Question& question) {
  using enum model::Aspect;
  switch (question.aspect) {
    case content:
      return this->content(question.subject);
    case kind:
      return this->kind(question.subject);
    case listing:
      return this->listing(question.subject);
    case link:
      return this->link(question.subject);
    case size:
    case mtime:
      return attribute(question);
    case program:
      return this->program(question.subject);
    case soname:
      return this->soname(question.subject);
    case stdin_bytes: {
      const auto digest = world_.streams.digest_of_stdin(world_.command.in);
      return digest ? answer_digest(*digest) : answer_unknown("stdin has no end, or is too long");
    }
    case machine: {
      const auto identity = world_.machine.identity(question.subject);
      return identity ? answer_text(*identity) : answer_unknown(question.subject);
    }
    case bound: {
      const auto* value = world_.bindings.value_of(question.subject);
      return value != nullptr ? answer_text(*value) : answer_absent();
    }
  }
  return answer_unknown("a question of a newer hallmark");
}

model::Answer States::content(const std::string& subject) {
  const auto path = world_.bindings.tokens().unfold(subject);
  if (!path) return answer_unknown("a name that is not set today");
  if (is_volatile(*path)) return volatile_content(*path);
  const auto hashed = world_.hasher.hash(*path);
  if (!hashed.has_value()) {
    return hashed.error().kind == ErrorKind::not_found ? answer_absent()
                                                       : answer_unknown(hashed.error().what);
  }
  changes_ns_.push_back(hashed->stat.mtime_ns);
  return answer_digest(hashed->digest);
}

model::Answer States::volatile_content(const std::string& path) {
  const auto bytes = os::read_file(world_.files, path, kVolatileBytes);
  if (bytes.has_value()) return answer_digest(digest::digest_of(*bytes));
  return bytes.error().kind == ErrorKind::not_found ? answer_absent() : answer_unknown(bytes.error().what);
}

Result<std::optional<FileStat>> States::look(const std::string& path) {
  auto stat = world_.files.lstat(path);
  if (world_.forbidden_is_absent && !stat.has_value() && stat.error().kind == ErrorKind::permission)
    return std::nullopt;
  return stat;
}

model::Answer States::kind(const std::string& subject) {
  const auto path = world_.bindings.tokens().unfold(subject);
  if (!path) return answer_unknown("a name that is not set today");
  const auto stat = look(*path);
  return stat.has_value() ? answer_kind(*stat) : answer_unknown(stat.error().what);
}

model::Answer States::listing(const std::string& subject) {
  const auto parts = split_listing_subject(subject);
  const auto folder = world_.bindings.tokens().unfold(parts.folder);
  if (!folder) return answer_unknown("a name that is not set today");
  const auto names = world_.files.list(*folder);
  if (names.has_value()) return answer_names(*names, parts.own);
  return names.error().kind == ErrorKind::not_found ? answer_absent() : answer_unknown(names.error().what);
}

model::Answer States::link(const std::string& subject) {
  const auto path = world_.bindings.tokens().unfold(subject);
  if (!path) return answer_unknown("a name that is not set today");
  const auto stat = look(*path);
  if (!stat.has_value()) return answer_unknown(stat.error().what);
  if (!stat->has_value() || (*stat)->kind != NodeKind::symlink) return answer_kind(*stat);
  const auto target = world_.files.read_link(*path);
  return target.has_value() ? answer_text(world_.bindings.fold_or_mark(*target))
                            : answer_unknown(target.error().what);
}

model::Answer States::attribute(const model::Question& question) {
  const auto path = world_.bindings.tokens().unfold(question.subject);
  if (!path) return answer_unknown("a name that is not set today");
  const auto stat = world_.files.lstat(*path);
  if (!stat.has_value()) return answer_unknown(stat.error().what);
  if (!stat->has_value()) return answer_absent();
  return answer_number(question.aspect == model::Aspect::size ? static_cast<std::int64_t>((*stat)->size_bytes)
                                                              : (*stat)->mtime_ns);
}

model::Answer States::program(const std::string& name) {
  const auto found = programs_.find(name);
  return found ? answer_text(world_.bindings.fold_or_mark(*found)) : answer_absent();
}

model::Answer States::soname(const std::string& name) {
  if (!loader_cache_) loader_cache_ = LoaderCache::read(world_.files);
  return answer_text(loader_cache_->answer(name));
}

std::int64_t States::newest_change_ns(std::int64_t now_ns) const {
  std::int64_t newest = 0;
  for (const auto change : changes_ns_) {
    if (change <= now_ns) newest = std::max(newest, change);
  }
  return newest;
}

}  // namespace hallmark::engine
