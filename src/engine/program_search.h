// ProgramSearch: which file a command's first word means, as the kernel and the C library find it.
//
// RealPaths and ProgramSearch find out each thing once and keep the answer: they serve one look-up, or one
// command that has ended, and see one world. Not thread-safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/command.h"
#include "os/file_system.h"

namespace hallmark::engine {

/// Resolves links.
class RealPaths {
 public:
  explicit RealPaths(os::FileSystem& files) : files_(files) {}

  /// `path` with every link resolved, if it exists (absolute paths only).
  std::optional<std::string> of(const std::string& path);

 private:
  struct Node {
    bool exists = false;
    std::string target;  ///< of a link; else empty
  };
  const Node& look(const std::string& path);

  os::FileSystem& files_;
  std::unordered_map<std::string, Node> nodes_;
};

/// For one path alone.
std::optional<std::string> real_path(os::FileSystem& files, const std::string& path);

/// The absolute folders of a PATH in order, without slashes at their ends.
std::vector<std::string> search_folders(std::string_view search_path);

/// Where a name is found in the folders of PATH. Looks at links, as the kernel does.
class ProgramSearch {
 public:
  ProgramSearch(os::FileSystem& files, const std::vector<std::string>& folders);

  /// The first executable file of that name: its folder without links, and the name; nullopt if there is
  /// none.
  std::optional<std::string> find(const std::string& name);
  /// The folders of PATH that exist, without links, in order, each once.
  const std::vector<std::string>& folders();

  RealPaths& real_paths() { return real_paths_; }

 private:
  os::FileSystem& files_;
  RealPaths real_paths_;
  const std::vector<std::string>& spelled_;
  std::vector<std::string> real_;
  bool resolved_ = false;
  std::unordered_map<std::string, std::optional<std::string>> found_;
};

/// The file that a command starts.
struct ProgramFile {
  std::string path;     ///< without links; empty: there is none
  bool script = false;  ///< it is no ELF file
};
ProgramFile find_program(os::FileSystem& files, const model::Command& command);

}  // namespace hallmark::engine
