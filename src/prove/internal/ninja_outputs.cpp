#include "prove/internal/ninja_outputs.h"

#include "base/path.h"

namespace hallmark::prove {

std::set<std::string> outputs_of_commands(const inspect::NinjaManifest& manifest, const std::string& folder) {
  std::set<std::string> paths;
  for (const auto& edge : manifest.edges()) {
    if (edge.is_phony() || !manifest.value(edge, "generator").empty()) continue;
    for (const auto& output : edge.outputs) paths.insert(inspect::ninja_path(path::join(folder, output)));
  }
  return paths;
}

}  // namespace hallmark::prove
