#include "app/build_lock.h"

#include "base/format.h"
#include "base/path.h"
#include "kernels/paths.h"

namespace hallmark::app {
namespace {

/// A process number and a line break.
constexpr std::size_t kHolderBytes = 64;

}  // namespace

Result<std::unique_ptr<os::FileLock>> lock_build(os::FileSystem& files, const std::string& folder,
                                                 const std::function<void(std::string_view)>& say) {
  const auto path = path::join(folder, kernels::paths::kLock);
  HALLMARK_TRY(auto lock, files.lock(path, os::LockMode::exclusive, os::LockWait::no));
  if (lock != nullptr) return lock;
  const auto holder = os::read_file(files, path, kHolderBytes);
  std::string who = holder.has_value() ? *holder : std::string();
  while (!who.empty() && (who.back() == '\n' || who.back() == ' ')) who.pop_back();
  say(formatted("waiting for another build of {}{}", folder, who.empty() ? "" : " (process " + who + ")"));
  return files.lock(path, os::LockMode::exclusive, os::LockWait::yes);
}

}  // namespace hallmark::app
