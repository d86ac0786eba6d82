#include "model/observation.h"

namespace hallmark::model {

std::string_view name_of(Tier tier) {
  switch (tier) {
    case Tier::hybrid:
      return "hybrid";
    case Tier::notify:
      return "notify";
    case Tier::ptrace:
      return "ptrace";
    case Tier::none:
      return "none";
  }
  return "unknown";
}

}  // namespace hallmark::model
