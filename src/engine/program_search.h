// ProgramSearch: which file a command's first word means, as the kernel and the C library find it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/command.h"
#include "os/file_system.h"

namespace hallmark::engine {

/// `path` with every link resolved, if it exists (absolute paths only).
std::optional<std::string> real_path(os::FileSystem& files, const std::string& path);

/// The absolute folders of PATH in order, without slashes at their ends.
std::vector<std::string> search_folders(const model::Environment& environment);

/// Where a name is found in the folders of PATH. Looks at links, as the kernel does.
class ProgramSearch {
 public:
  ProgramSearch(os::FileSystem& files, const std::vector<std::string>& folders);

  /// The first executable file of that name: its folder without links, and the name; nullopt if there is
  /// none.
  std::optional<std::string> find(const std::string& name);
  /// The folders of PATH that exist, without links, in order, each once.
  const std::vector<std::string>& folders();

 private:
  os::FileSystem& files_;
  const std::vector<std::string>& spelled_;
  std::vector<std::string> real_;
  bool resolved_ = false;
};

/// The file that a command starts.
struct ProgramFile {
  std::string path;     ///< without links; empty: there is none
  bool script = false;  ///< it is no ELF file
};
ProgramFile find_program(os::FileSystem& files, const model::Command& command);

}  // namespace hallmark::engine
