// Explain: why a look-up found nothing: what differs from the nearest earlier record.
#pragma once

#include <string>
#include <vector>

#include "engine/environment.h"
#include "engine/keys.h"
#include "engine/lookup.h"
#include "model/reason.h"
#include "store/store.h"

namespace hallmark::engine {

/// Never empty. Looks at the path set with the most equal answers, or, if the command itself is new, at the
/// last commands of the same site. At most kReasonsPerDecision reasons.
std::vector<model::Reason> explain_miss(const Lookup& lookup, const CommandKey& key, const digest::Key& site,
                                        store::RecordStore& records, store::SiteHistory& history,
                                        const Bindings& bindings);

/// What makes `now` another command than `before`.
std::vector<model::Reason> compare_commands(const model::CommandText& before, const model::CommandText& now,
                                            const Bindings& bindings);

/// The Reason for one question whose answer changed.
model::Reason changed_answer(const model::Question& question, const model::Answer& before,
                             const model::Answer& now, const Bindings& bindings);

}  // namespace hallmark::engine
