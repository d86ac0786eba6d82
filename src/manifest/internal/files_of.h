// The files that a manifest's patterns mean.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "manifest/manifest.h"
#include "manifest/parse.h"
#include "manifest/patterns.h"

namespace hallmark::manifest {

class FilesOf {
 public:
  FilesOf(const Manifest& manifest, std::map<std::string, std::string> source_folders, Globber& globber,
          std::vector<Problem>& problems)
      : manifest_(manifest),
        source_folders_(std::move(source_folders)),
        globber_(globber),
        problems_(problems) {}

  enum class Order { sorted, as_written };

  /// Absolute paths of all that the patterns match, each once. A pattern that matches nothing is a problem,
  /// unless it lies below a source that is passed over.
  Result<std::vector<std::string>> find(const Texts& patterns, Order order = Order::sorted) const;
  /// A path: no pattern, need not exist. nullopt: a problem was added.
  std::optional<std::string> path(const Text& text) const;

  /// Patterns below these folders may match nothing.
  void pass_over(std::string folder) { passed_over_.push_back(std::move(folder)); }

 private:
  const Manifest& manifest_;
  std::map<std::string, std::string> source_folders_;
  Globber& globber_;
  std::vector<Problem>& problems_;
  std::vector<std::string> passed_over_;
};

}  // namespace hallmark::manifest
