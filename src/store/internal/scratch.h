// Scratch: new files that become visible whole or not at all.
//
// A file is written under a name of its own in tmp/ and then renamed to its place, so that a reader never
// sees a part and a killed writer leaves nothing but a file in tmp/, which sweep() removes. tmp/ lies in the
// store, so that the rename stays in one file system, and is one folder, so that leftovers are found without
// walking the blobs.
//
// Contract: thread-safe; any number of processes. Nothing is fsynced.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>

#include "os/clock.h"
#include "os/file_system.h"
#include "store/internal/layout.h"

namespace hallmark::store {

class Scratch {
 public:
  Scratch(os::FileSystem& files, os::Clock& clock, const Layout& layout)
      : files_(files), clock_(clock), layout_(layout) {}

  /// A name in tmp/ that no other writer uses; the folder exists.
  Result<std::string> new_name();

  /// Puts `temporary` under the name `path`, whose folder is made if needed. On failure the temporary is
  /// removed.
  Status place(const std::string& temporary, const std::string& path);
  /// The same, unless `path` exists: then false, and the temporary is removed.
  Result<bool> place_new(const std::string& temporary, const std::string& path);

  /// Writes `bytes` to a new temporary and gives its name. On failure nothing is left.
  Result<std::string> write(std::string_view bytes, std::uint32_t mode);

  /// Removes what writers that died more than limits::kStoreSweep_ns ago left behind.
  Status sweep();

 private:
  Status make_parent(const std::string& path);

  os::FileSystem& files_;
  os::Clock& clock_;
  const Layout& layout_;
  std::atomic<std::uint32_t> next_{0};
};

}  // namespace hallmark::store
