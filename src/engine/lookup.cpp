#include "engine/lookup.h"

#include <algorithm>

#include "engine/answers.h"

namespace hallmark::engine {
namespace {

model::Reason unreadable(const Error& error) {
  return {model::ReasonCode::record_unreadable, {}, error.what, {}};
}

}  // namespace

Lookup look_up(store::RecordStore& records, const digest::Key& weak, States& states) {
  Lookup found;
  auto entry = records.weak_entry(weak);
  if (!entry.has_value()) {
    found.troubles.push_back(unreadable(entry.error()));
    return found;
  }
  found.entry = *std::move(entry);
  if (!found.entry) return found;
  found.today.reserve(found.entry->sets.size());  // `known` refers to its elements
  std::vector<States::Known> known;
  for (auto& set : found.entry->sets) {
    auto& answers = found.today.emplace_back(states.ask(set.paths, known));
    known.push_back({set.paths, answers});
    // An answer that cannot be told today equals none: no need to look for such a record.
    if (std::any_of(answers.begin(), answers.end(), is_unknown)) continue;
    const auto strong = model::strong_key(weak, set.paths, answers);
    auto record = records.record(strong);
    if (!record.has_value()) {
      found.troubles.push_back(unreadable(record.error()));
      continue;
    }
    if (!record->has_value()) continue;
    // The key is a digest of all of it; a record under a key that it does not belong to is damage, never a
    // hit.
    if ((*record)->weak_key != weak) {
      found.troubles.push_back(
          {model::ReasonCode::record_unreadable, {}, "the record belongs to another command", {}});
      continue;
    }
    found.hit = Hit{strong, **std::move(record), std::move(set.paths), std::move(answers)};
    found.entry.reset();
    found.today.clear();
    return found;
  }
  return found;
}

}  // namespace hallmark::engine
