// BuildFolder: in which folders a build writes. A dependency file must not name such a folder: its time
// changes with every build, so the build tool would never come to rest (rule 1).
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/command.h"
#include "os/file_system.h"

namespace hallmark::engine {

class BuildFolder {
 public:
  /// `cache`: a folder for what was parsed, or empty. `own`: paths that the action itself writes.
  BuildFolder(os::FileSystem& files, const model::Command& command, std::string build_folder,
              std::string cache, const std::vector<std::string>& own);

  /// `start_ns`: when this run began; a folder that changed since is written by somebody.
  bool writes_into(const std::string& folder, std::int64_t start_ns);

  /// The folder of build.ninja, if Ninja runs this build.
  const std::optional<std::string>& ninja_folder() const { return ninja_folder_; }
  bool made_by_cmake() const { return made_by_cmake_; }
  /// Whether Ninja writes response files for edges of this build.
  bool has_response_files();

 private:
  /// What matters of build.ninja.
  struct Manifest {
    std::set<std::string> folders;
    bool has_response_files = false;
  };
  const Manifest& manifest();
  std::optional<Manifest> cached(const std::string& path) const;
  Manifest read_manifest(const std::string& kept) const;
  void keep(const std::string& path, const Manifest& manifest, const std::vector<std::string>& files) const;
  bool exists(const std::string& path) const;

  os::FileSystem& files_;
  std::string build_folder_;
  std::string cache_;
  std::set<std::string> own_folders_;
  std::vector<std::string> temporary_folders_;
  std::string cwd_;
  std::optional<std::string> ninja_folder_;
  bool made_by_cmake_ = false;
  std::optional<Manifest> manifest_;
};

}  // namespace hallmark::engine
