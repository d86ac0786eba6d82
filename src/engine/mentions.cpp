#include "engine/mentions.h"

#include "inspect/searchable.h"

namespace hallmark::engine {

void Mentions::search(std::string_view bytes) {
  const auto visibility = inspect::visit_searchable(bytes, [this](std::string_view part) {
    for (auto& name : bindings_.mentioned_in(part)) names_.insert(std::move(name));
  });
  if (visibility == inspect::Visibility::clear) return;
  for (auto& name : bindings_.all_names()) names_.insert(std::move(name));
}

}  // namespace hallmark::engine
