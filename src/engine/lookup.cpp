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
  for (const auto& set : found.entry->sets) {
    auto answers = states.ask(set.paths);
    found.today.push_back(answers);
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
    found.hit = Hit{strong, **std::move(record), set.paths, std::move(answers)};
    return found;
  }
  return found;
}

}  // namespace hallmark::engine
