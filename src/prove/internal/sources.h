// Sources: whether a file that no recorded command made may be a source, or must have been made by a step of
// the build that hallmark did not see. Then nobody knows what it was made of, and nothing that was made of it
// is fresh.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "os/file_system.h"

namespace hallmark::prove {

class Sources {
 public:
  /// Either may be empty. Reads the build's own files when they are first needed.
  Sources(os::FileSystem& files, std::string root, std::string build_folder)
      : files_(files), root_(std::move(root)), build_folder_(std::move(build_folder)) {}

  /// Why `path` (absolute, without links) is surely no source; nullopt: it may be one.
  ///
  /// With Ninja in the build folder (without one: in the tree): it is an output of an edge of any of its
  /// manifests. In a build folder that CMake made for Make: it is not among what CMake itself wrote when it
  /// configured. In the tree: it has the name or the first bytes of an object, a library or a program.
  std::optional<std::string> why_made(const std::string& path);

 private:
  enum class Builder { unknown, ninja, cmake_make };
  void read_build_folder();
  bool read_ninja(const std::string& folder);

  os::FileSystem& files_;
  std::string root_;
  std::string build_folder_;
  bool is_read_ = false;
  Builder builder_ = Builder::unknown;
  std::set<std::string> named_;  ///< ninja: outputs of edges; cmake_make: what CMake wrote
};

}  // namespace hallmark::prove
