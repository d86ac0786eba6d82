// ActionLocks: one lock for each action that runs, in a file that lives as long as the lock is held.
//
// The holder removes the file before it lets go; os::FileSystem::lock makes whoever waited for it try again
// on the name, so no two can hold the lock on different files. A holder that is killed leaves its file
// behind: the next run of the action, or sweep(), takes it over and removes it.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "os/file_system.h"
#include "store/internal/layout.h"

namespace hallmark::store {

class ActionLocks {
 public:
  ActionLocks(os::FileSystem& files, const Layout& layout) : files_(files), layout_(layout) {}

  /// May block; `on_wait` as in LocalStore::lock_action.
  Result<std::unique_ptr<os::FileLock>> lock(const digest::Key& action,
                                             const std::function<bool(int)>& on_wait);

  /// Removes the files of holders that died.
  Status sweep();

 private:
  Result<std::unique_ptr<os::FileLock>> take(const std::string& path, os::LockWait wait);

  os::FileSystem& files_;
  const Layout& layout_;
};

}  // namespace hallmark::store
