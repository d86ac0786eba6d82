// TemporaryFolder: a folder of our own below TMPDIR; it goes with this, and all that is in it.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "model/command.h"
#include "os/file_system.h"

namespace hallmark::app {

class TemporaryFolder {
 public:
  /// `purpose` is part of its name. Errors: io, permission, no_space.
  static Result<TemporaryFolder> make(os::FileSystem& files, const model::Environment& environment,
                                      std::string_view purpose);
  TemporaryFolder(TemporaryFolder&& other) noexcept
      : files_(other.files_), path_(std::exchange(other.path_, std::string())) {}
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder();

  const std::string& path() const { return path_; }
  /// Removes what is in it.
  void clear();

 private:
  TemporaryFolder(os::FileSystem& files, std::string path) : files_(files), path_(std::move(path)) {}

  std::reference_wrapper<os::FileSystem> files_;
  std::string path_;
};

}  // namespace hallmark::app
