#include "engine/explain.h"

#include <algorithm>
#include <functional>
#include <map>

#include "base/limits.h"
#include "engine/answers.h"

namespace hallmark::engine {
namespace {

using model::Aspect;
using model::ReasonCode;

/// A folded text as a person knows it.
std::string shown(std::string_view folded, const Bindings& bindings) {
  if (auto text = bindings.tokens().unfold(folded)) return *std::move(text);
  return std::string(folded);
}

std::string shown_answer(const model::Answer& answer, const Bindings& bindings) {
  return shown(describe(answer), bindings);
}

ReasonCode code_of(Aspect aspect) {
  switch (aspect) {
    case Aspect::content:
      return ReasonCode::content_changed;
    case Aspect::kind:
      return ReasonCode::kind_changed;
    case Aspect::listing:
      return ReasonCode::listing_changed;
    case Aspect::link:
      return ReasonCode::link_changed;
    case Aspect::size:
    case Aspect::mtime:
      return ReasonCode::attribute_changed;
    case Aspect::program:
      return ReasonCode::program_changed;
    case Aspect::soname:
      return ReasonCode::loader_changed;
    case Aspect::stdin_bytes:
      return ReasonCode::stdin_changed;
    case Aspect::machine:
      return ReasonCode::machine_changed;
    case Aspect::bound:
      return ReasonCode::bound_value_changed;
  }
  return ReasonCode::content_changed;
}

void cut(std::vector<model::Reason>& reasons) {
  if (reasons.size() <= limits::kReasonsPerDecision) return;
  const auto more = reasons.size() - limits::kReasonsPerDecision;
  reasons.resize(limits::kReasonsPerDecision);
  reasons.push_back(
      {ReasonCode::limit_reached, "kReasonsPerDecision", std::to_string(more) + " further reasons", {}});
}

/// "name=value" lists as maps: later equal names are joined.
std::map<std::string, std::string> as_map(const std::vector<std::string>& notes) {
  std::map<std::string, std::string> map;
  for (const auto& note : notes) {
    const auto equals = note.find('=');
    auto& value = map[note.substr(0, equals)];
    if (!value.empty()) value += ", ";
    if (equals != std::string::npos) value += note.substr(equals + 1);
  }
  return map;
}

const std::string& value_in(const std::map<std::string, std::string>& map, const std::string& name) {
  static const std::string kNone(model::kUnset);
  const auto found = map.find(name);
  return found == map.end() ? kNone : found->second;
}

void compare_maps(
    const std::map<std::string, std::string>& before, const std::map<std::string, std::string>& now,
    const std::function<void(const std::string&, const std::string&, const std::string&)>& differs) {
  for (const auto& [name, value] : before) {
    if (value_in(now, name) != value) differs(name, value, value_in(now, name));
  }
  for (const auto& [name, value] : now) {
    if (!before.contains(name)) differs(name, value_in(before, name), value);
  }
}

void compare_arguments(const std::vector<std::string>& before, const std::vector<std::string>& now,
                       const Bindings& bindings, std::vector<model::Reason>& reasons) {
  // One word more or less must not make every word behind it look changed: equal ends are set aside first.
  std::size_t start = 0;
  while (start < before.size() && start < now.size() && before[start] == now[start]) ++start;
  std::size_t end = 0;
  while (end + start < before.size() && end + start < now.size() &&
         before[before.size() - 1 - end] == now[now.size() - 1 - end]) {
    ++end;
  }
  const std::size_t old_count = before.size() - start - end;
  const std::size_t new_count = now.size() - start - end;
  const auto word = [&](const std::vector<std::string>& words, std::size_t count, std::size_t i) {
    return i < count ? shown(words[start + i], bindings) : std::string(model::kUnset);
  };
  for (std::size_t i = 0; i < std::max(old_count, new_count); ++i) {
    auto old_word = word(before, old_count, i);
    auto new_word = word(now, new_count, i);
    if (old_word != new_word)
      reasons.push_back({ReasonCode::argument_changed, std::to_string(start + i), std::move(old_word),
                         std::move(new_word)});
  }
}

std::vector<model::Reason> compare_sets(const Lookup& lookup, const Bindings& bindings) {
  std::vector<model::Reason> best;
  std::size_t best_equal = 0;
  bool found = false;
  for (std::size_t s = 0; s < lookup.today.size(); ++s) {
    const auto& set = lookup.entry->sets[s];
    const auto& today = lookup.today[s];
    std::vector<model::Reason> differences;
    std::size_t equal = 0;
    for (std::size_t i = 0; i < set.paths.questions.size(); ++i) {
      if (set.answers[i] == today[i]) {
        ++equal;
      } else {
        differences.push_back(changed_answer(set.paths.questions[i], set.answers[i], today[i], bindings));
      }
    }
    if (found && equal <= best_equal) continue;
    found = true;
    best_equal = equal;
    best = std::move(differences);
    if (best.empty()) best.push_back({ReasonCode::record_missing, {}, {}, {}});
  }
  return best;
}

}  // namespace

model::Reason changed_answer(const model::Question& question, const model::Answer& before,
                             const model::Answer& now, const Bindings& bindings) {
  model::Reason reason;
  reason.code = code_of(question.aspect);
  const bool listing = question.aspect == Aspect::listing;
  reason.subject =
      shown(listing ? split_listing_subject(question.subject).folder : question.subject, bindings);
  const bool place = question.aspect == Aspect::content || question.aspect == Aspect::kind || listing;
  if (place && !is_unknown(now)) {
    if (is_absent(before)) reason.code = ReasonCode::appeared;
    if (is_absent(now)) reason.code = ReasonCode::vanished;
  }
  if (listing) return reason;  // digests of names tell a person nothing
  reason.before = shown_answer(before, bindings);
  reason.after = shown_answer(now, bindings);
  return reason;
}

std::vector<model::Reason> compare_commands(const model::CommandText& before, const model::CommandText& now,
                                            const Bindings& bindings) {
  std::vector<model::Reason> reasons;
  compare_arguments(before.argv, now.argv, bindings, reasons);
  if (before.cwd != now.cwd)
    reasons.push_back(
        {ReasonCode::working_folder_changed, {}, shown(before.cwd, bindings), shown(now.cwd, bindings)});
  compare_maps({before.environment.begin(), before.environment.end()},
               {now.environment.begin(), now.environment.end()},
               [&](const auto& name, const auto& old_value, const auto& new_value) {
                 reasons.push_back({ReasonCode::variable_changed, name, shown(old_value, bindings),
                                    shown(new_value, bindings)});
               });
  compare_maps(as_map(before.others), as_map(now.others),
               [&](const auto& name, const auto& old_value, const auto& new_value) {
                 const bool stream = name.starts_with("std") || name == "merged";
                 const auto code = stream                   ? ReasonCode::stream_changed
                                   : name == "PWD"          ? ReasonCode::variable_changed
                                   : name.starts_with("--") ? ReasonCode::argument_changed
                                                            : ReasonCode::machine_changed;
                 reasons.push_back({code, name, old_value, new_value});
               });
  return reasons;
}

std::vector<model::Reason> explain_miss(const Lookup& lookup, const CommandKey& key, const digest::Key& site,
                                        store::RecordStore& records, store::SiteHistory& history,
                                        const Bindings& bindings) {
  auto reasons = lookup.troubles;
  if (lookup.entry && !lookup.entry->sets.empty()) {
    const auto differences = compare_sets(lookup, bindings);
    reasons.insert(reasons.end(), differences.begin(), differences.end());
    cut(reasons);
    return reasons;
  }
  std::vector<model::Reason> nearest;
  if (const auto earlier = history.recent(site); earlier.has_value()) {
    for (const auto& weak : *earlier) {
      if (weak == key.weak) continue;
      const auto entry = records.weak_entry(weak);
      if (!entry.has_value() || !*entry) continue;
      auto differences = compare_commands((*entry)->command, key.text, bindings);
      if (!differences.empty() && (nearest.empty() || differences.size() < nearest.size()))
        nearest = std::move(differences);
    }
  }
  reasons.insert(reasons.end(), nearest.begin(), nearest.end());
  if (reasons.empty()) reasons.push_back({ReasonCode::first_run, {}, {}, {}});
  cut(reasons);
  return reasons;
}

}  // namespace hallmark::engine
