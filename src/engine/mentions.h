// Mentions: which values of this run (root, HOME, USER ...) the bytes of a result show (rule 8). Bytes that
// cannot be searched (inspect::Visibility::opaque) count as mentioning everything.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "engine/environment.h"

namespace hallmark::engine {

class Mentions {
 public:
  explicit Mentions(const Bindings& bindings) : bindings_(bindings) {}

  void search(std::string_view bytes);
  /// Of bytes that are known to be text.
  void search_text(std::string_view text);
  const std::set<std::string>& names() const { return names_; }

 private:
  const Bindings& bindings_;
  std::set<std::string> names_;
};

}  // namespace hallmark::engine
