// Lookup: finds the record of an earlier run whose every question has the same answer today.
#pragma once

#include <optional>
#include <vector>

#include "engine/states.h"
#include "model/reason.h"
#include "model/record.h"
#include "store/store.h"

namespace hallmark::engine {

struct Hit {
  digest::Key strong;
  model::Record record;
  model::PathSet paths;
  std::vector<model::Answer> answers;
};

struct Lookup {
  std::optional<Hit> hit;
  std::optional<model::WeakEntry> entry;  ///< what is known under the weak key; of a miss
  std::vector<std::vector<model::Answer>>
      today;  ///< today's answers, parallel to entry->sets as far as they were asked
  std::vector<model::Reason> troubles;  ///< entries or records that could not be read
};

/// Tries the path sets of a weak key, most recent first. Touches nothing.
Lookup look_up(store::RecordStore& records, const digest::Key& weak, States& states);

}  // namespace hallmark::engine
