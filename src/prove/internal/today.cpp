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
  std::vector<const Known*> answers(paths.questions.size(), nullptr);
  model::PathSet rest;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < paths.questions.size(); ++i) {
    if (const auto found = known_.find(paths.questions[i]); found != known_.end()) {
      answers[i] = &found->second;
    } else {
      rest.questions.push_back(paths.questions[i]);
      places.push_back(i);
    }
  }
  auto found = states_.ask(rest);
  for (std::size_t i = 0; i < found.size(); ++i) {
    auto& question = rest.questions[i];
    const bool listing = question.aspect == model::Aspect::listing;
    auto path = bindings_.tokens().unfold(listing ? engine::split_listing_subject(question.subject).folder
                                                  : std::string_view(question.subject));
    answers[places[i]] =
        &known_.emplace(std::move(question), Known{std::move(found[i]), std::move(path)}).first->second;
  }
  return answers;
}

}  // namespace hallmark::prove
