#include "engine/depfile.h"

#include <algorithm>
#include <unordered_set>

#include "base/path.h"
#include "engine/answers.h"
#include "engine/internal/loader_cache.h"
#include "engine/make_text.h"
#include "engine/outputs.h"

namespace hallmark::engine {

using model::Aspect;

Dependencies::Dependencies(Tools tools, const model::PathSet& paths,
                           const std::vector<model::Answer>& answers, const std::vector<std::string>& own,
                           std::int64_t start_ns)
    : tools_(tools), own_(own.begin(), own.end()), base_(tools.command.cwd) {
  // Ninja reads relative names from the folder where it runs. A command that changed into another folder
  // first writes absolute ones if CMake transforms its file, else names from Ninja's folder.
  if (const auto& ninja = tools.build.ninja_folder(); ninja && *ninja != base_)
    base_ = tools.build.made_by_cmake() ? std::string() : *ninja;
  for (std::size_t i = 0; i < paths.questions.size(); ++i) add(paths.questions[i], answers[i]);
  finish_folders(start_ns);
}

void Dependencies::add(const model::Question& question, const model::Answer& answer) {
  const auto unfold = [&](std::string_view folded) { return tools_.bindings.tokens().unfold(folded); };
  switch (question.aspect) {
    case Aspect::content:
    case Aspect::size:
    case Aspect::mtime:
      if (const auto path = unfold(question.subject)) is_absent(answer) ? watch_name(*path) : add_file(*path);
      return;
    case Aspect::kind:
      if (const auto path = unfold(question.subject)) {
        if (is_absent(answer)) {
          watch_name(*path);
        } else if (answer == answer_kind(FileStat{.kind = NodeKind::directory})) {
          present_folders_.insert(*path);
        } else {
          add_file(*path);
        }
      }
      return;
    case Aspect::listing:
      if (const auto path = unfold(split_listing_subject(question.subject).folder)) listed_.insert(*path);
      return;
    case Aspect::link:
      // A link that points elsewhere is another node: only its folder shows it.
      if (const auto path = unfold(question.subject)) listed_.insert(std::string(path::parent(*path)));
      return;
    case Aspect::program: {
      // The program may appear in each folder of PATH in front of the one where it was found.
      const auto found = tools_.programs.find(question.subject);
      for (const auto& folder : tools_.programs.folders()) {
        const auto candidate = path::join(folder, question.subject);
        if (found == candidate) break;
        watch_name(candidate);
      }
      if (found) add_file(*found);
      return;
    }
    case Aspect::soname:
      add_file(LoaderCache::kPath);
      return;
    case Aspect::stdin_bytes:
    case Aspect::machine:
    case Aspect::bound:
      return;  // no file shows them
  }
}

void Dependencies::add_file(const std::string& path) {
  if (is_volatile(path) || path::is_within(path, "/dev") || own_.contains(path)) return;
  files_.insert(files_.end(), path);  // questions are sorted: nearly always the right place
}

void Dependencies::watch_name(const std::string& path) {
  if (is_volatile(path) || path::is_within(path, "/dev") || own_.contains(path)) return;
  // Names of one folder follow each other.
  const auto folder = path::parent(path);
  if (probed_now_ == probed_.end() || probed_now_->first != folder)
    probed_now_ = probed_.try_emplace(std::string(folder)).first;
  auto& names = probed_now_->second;
  names.emplace_hint(names.end(), path::base_name(path));
}

void Dependencies::finish_folders(std::int64_t start_ns) {
  std::set<std::string> folders;
  std::set<std::string> sentinels;
  for (const auto& [folder, names] : probed_) {
    if (folder.empty() || is_volatile(folder)) continue;
    if (!tools_.build.writes_into(folder, start_ns)) {
      folders.insert(folder);
      continue;
    }
    bool appeared = false;
    if (const auto sentinel = tools_.sentinels.watch(folder, names, appeared)) sentinels.insert(*sentinel);
    overtaken_ = overtaken_ || appeared;
  }
  for (const auto& folder : listed_) {
    if (folders.contains(folder) || is_volatile(folder) || path::is_within(folder, "/dev")) continue;
    if (!tools_.build.writes_into(folder, start_ns)) folders.insert(folder);
  }
  // That a folder is there needs no watch of its own where something in it is watched.
  for (const auto& folder : present_folders_) {
    const auto inside = [&](const std::set<std::string>& paths) {
      const auto next = paths.lower_bound(folder + "/");
      return next != paths.end() && next->starts_with(folder + "/");
    };
    if (folder == "/" || inside(files_) || inside(folders) || folders.contains(folder) ||
        is_volatile(folder) || path::is_within(folder, "/dev"))
      continue;
    if (!own_.contains(folder) && !tools_.build.writes_into(folder, start_ns)) folders.insert(folder);
  }
  folders.erase("/");  // Ninja's canonical form of it is empty: the deps log then cannot be written
  all_.assign(files_.begin(), files_.end());
  all_.insert(all_.end(), folders.begin(), folders.end());
  all_.insert(all_.end(), sentinels.begin(), sentinels.end());
}

std::string Dependencies::spelled(const std::string& path) const {
  return base_.empty() ? path : path::relative_below(path, base_);
}

std::string Dependencies::depfile(const std::string& target, bool phony) const {
  std::vector<std::string> names;
  for (const auto& path : all_) names.push_back(spelled(path));
  // Where the inputs are named from another folder, the target is as well: Ninja looks for its own name of
  // it.
  const auto name = base_ == tools_.command.cwd ? target : spelled(absolute_path(tools_.command.cwd, target));
  return make_rule(name, names) + (phony ? "\n" + phony_targets(names) : std::string());
}

/// `spelled` as an observed path would name it. Folders are asked once each.
std::string Dependencies::real(const std::string& name) const {
  // Observed paths are real ones: most headers are spelled just so.
  if (files_.contains(name)) return name;
  const auto whole = path::join(tools_.command.cwd, name);
  const std::string folder(path::parent(whole));
  auto known = real_folders_.find(folder);
  if (known == real_folders_.end()) {
    auto real = tools_.programs.real_paths().of(folder).value_or(absolute_path("/", folder));
    known = real_folders_.emplace(folder, std::move(real)).first;
  }
  return path::join(known->second, path::base_name(whole));
}

std::string Dependencies::completed(const std::string& text, bool phony) const {
  const auto parsed = parse_make_text(text);
  if (!parsed) return text;
  std::unordered_set<std::string> known;
  known.reserve(all_.size());
  for (const auto& rule : parsed->rules) {
    for (const auto& name : rule.prerequisites) known.insert(real(name));
  }
  std::vector<std::string> missing;
  for (const auto& path : all_) {
    if (!known.contains(path)) missing.push_back(spelled(path));
  }
  auto result = with_prerequisites(text, *parsed, missing);
  if (phony || parsed->has_phony_targets()) {
    if (!result.ends_with('\n')) result += '\n';
    result += phony_targets(missing);
  }
  return result;
}

}  // namespace hallmark::engine
