// Sentinels: files that a build tool watches in place of a folder in which the build itself writes (rule 1).
//
// For a folder F there are `<root>/.hallmark/watch/<digest of F>`, whose modification time is all that
// counts, and beside it `.names`, one name a line: names that some action looked for in F and did not find.
// Whoever makes such a name through hallmark touches the sentinel, so that the readers run again.
//
// Contract: best effort on a tree that cannot be written; several processes may use it at once. A name that
// appears while its reader registers is not lost: the reader looks again after it registered.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "os/clock.h"
#include "os/file_system.h"

namespace hallmark::engine {

class Sentinels {
 public:
  Sentinels(os::FileSystem& files, os::Clock& clock, const std::string& root);

  /// The sentinel of a folder, for someone who looked for `names` in it and found none of them. Made if
  /// absent, older than any output. nullopt if it cannot be made. `appeared`: one of the names is there by
  /// now.
  std::optional<std::string> watch(const std::string& folder, const std::set<std::string>& names,
                                   bool& appeared);

  /// These paths did not exist before: touches the sentinel of each folder where somebody looked for such a
  /// name.
  void announce(const std::vector<std::string>& created);

  const std::string& folder() const { return folder_; }

 private:
  std::string place_of(const std::string& folder) const;
  bool make_folder();

  os::FileSystem& files_;
  os::Clock& clock_;
  std::string folder_;
};

}  // namespace hallmark::engine
