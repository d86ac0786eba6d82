#include "prove/internal/today.h"

#include "engine/answers.h"
#include "prove/internal/places.h"

namespace hallmark::prove {

Today::Today(Tools tools, const model::Places& places)
    : files_(tools.files),
      bindings_(engine::Bindings::of_places(places, tools.environment)),
      sources_(tools.files, place_named(places, "R"), place_named(places, "B")),
      states_({tools.files, tools.hasher, tools.machine, streams_, bindings_, command_, tools.same_user}) {}

/// What cannot be looked at counts as there: the questions in it then say why.
bool Today::exists(const std::string& path) {
  const auto [known, is_new] = exists_.try_emplace(path, true);
  if (is_new) {
    const auto stat = files_.stat(path);
    known->second = !stat.has_value() || stat->has_value();
  }
  return known->second;
}

std::vector<const Today::Known*> Today::ask(const model::PathSet& paths) {
  std::vector<const Known*> answers;
  answers.reserve(paths.questions.size());
  model::PathSet rest;
  std::vector<Known*> unanswered;
  for (const auto& question : paths.questions) {
    const auto [known, is_new] = known_.try_emplace(question);
    answers.push_back(&known->second);
    if (!is_new) continue;
    rest.questions.push_back(question);
    unanswered.push_back(&known->second);
  }
  auto found = states_.ask(rest);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto& question = rest.questions[i];
    const bool listing = question.aspect == model::Aspect::listing;
    unanswered[i]->answer = std::move(found[i]);
    unanswered[i]->path =
        bindings_.tokens().unfold(listing ? engine::split_listing_subject(question.subject).folder
                                          : std::string_view(question.subject));
  }
  return answers;
}

}  // namespace hallmark::prove
