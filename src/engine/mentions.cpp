#include "engine/mentions.h"

#include "inspect/searchable.h"

namespace hallmark::engine {

void Mentions::search(std::string_view bytes) {
  const auto visibility =
      inspect::visit_searchable(bytes, [this](std::string_view part) { search_text(part); });
  if (visibility == inspect::Visibility::clear) return;
  for (auto& name : bindings_.all_names()) names_.insert(std::move(name));
}

void Mentions::search_text(std::string_view text) {
  for (auto& name : bindings_.mentioned_in(text)) names_.insert(std::move(name));
}

}  // namespace hallmark::engine
