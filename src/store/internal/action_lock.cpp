#include "store/internal/action_lock.h"

#include <charconv>

#include "base/path.h"

namespace hallmark::store {
namespace {

class HeldAction final : public os::FileLock {
 public:
  HeldAction(os::FileSystem& files, std::string path, std::unique_ptr<os::FileLock> lock)
      : files_(files), path_(std::move(path)), lock_(std::move(lock)) {}
  ~HeldAction() override {
    (void)files_.remove(path_);  // before lock_ lets go
  }
  HeldAction(const HeldAction&) = delete;
  HeldAction& operator=(const HeldAction&) = delete;

 private:
  os::FileSystem& files_;
  std::string path_;
  std::unique_ptr<os::FileLock> lock_;
};

/// 0 if it cannot be told: the holder is just starting, or just gone.
int holder_of(os::FileSystem& files, const std::string& path) {
  constexpr std::size_t kMostBytes = 64;
  const auto text = os::read_file(files, path, kMostBytes);
  int process = 0;
  if (text.has_value()) std::from_chars(text->data(), text->data() + text->size(), process);
  return process > 0 ? process : 0;
}

}  // namespace

Result<std::unique_ptr<os::FileLock>> ActionLocks::take(const std::string& path, os::LockWait wait) {
  auto lock = files_.lock(path, os::LockMode::exclusive, wait);
  if (lock.has_value() || lock.error().kind != ErrorKind::not_found) return lock;
  HALLMARK_CHECK(os::make_folders(files_, layout_.at(Layout::kLocks)));
  return files_.lock(path, os::LockMode::exclusive, wait);
}

Result<std::unique_ptr<os::FileLock>> ActionLocks::lock(const digest::Key& action,
                                                        const std::function<bool(int)>& on_wait) {
  const std::string path = path::join(layout_.at(Layout::kLocks), action.hex());
  HALLMARK_TRY(auto held, take(path, os::LockWait::no));
  if (held == nullptr) {
    if (on_wait && !on_wait(holder_of(files_, path))) return nullptr;
    HALLMARK_TRY(held, take(path, os::LockWait::yes));
  }
  return std::make_unique<HeldAction>(files_, path, std::move(held));
}

Status ActionLocks::sweep() {
  const std::string folder = layout_.at(Layout::kLocks);
  HALLMARK_TRY(const auto names, files_.list(folder));
  for (const std::string& name : names) {
    const std::string path = path::join(folder, name);
    HALLMARK_TRY(const auto free, files_.lock(path, os::LockMode::exclusive, os::LockWait::no));
    if (free != nullptr) (void)files_.remove(path);
  }
  return {};
}

}  // namespace hallmark::store
