// The unseen file of any file system: a temporary that is renamed.
#include <unistd.h>

#include <cerrno>
#include <chrono>

#include "base/path.h"
#include "os/file_system.h"

namespace hallmark::os {
namespace {

class HiddenFile final : public UnseenFile {
 public:
  HiddenFile(FileSystem& files, std::string name) : files_(files), name_(std::move(name)) {}
  ~HiddenFile() override {
    file_.reset();
    // Nothing to do about a failure: nobody reads such a name.
    if (stands_) (void)files_.remove(name_);
  }
  HiddenFile(const HiddenFile&) = delete;
  HiddenFile& operator=(const HiddenFile&) = delete;

  Status write(ByteView bytes) override {
    HALLMARK_CHECK(open());
    return file_->write(bytes);
  }

  Result<bool> clone(const std::string& from) override {
    HALLMARK_TRY(stands_, files_.clone(from, name_, kModeBeforeFinish));
    return stands_;
  }
  Result<std::unique_ptr<ReadableFile>> read_back() override { return files_.open_read(name_); }

  Status finish(std::uint32_t mode) override {
    if (!stands_) HALLMARK_CHECK(open());  // it stays empty
    if (file_ != nullptr) HALLMARK_CHECK(file_->close());
    file_.reset();
    return files_.set_mode(name_, mode);
  }

  Status appear(const std::string& path) override {
    HALLMARK_CHECK(files_.rename(name_, path));
    stands_ = false;
    return {};
  }

 private:
  static constexpr std::uint32_t kModeBeforeFinish = 0600;

  Status open() {
    if (file_ != nullptr) return {};
    HALLMARK_TRY(file_, files_.create(name_, kModeBeforeFinish));
    stands_ = true;
    return {};
  }

  FileSystem& files_;
  std::string name_;
  std::unique_ptr<WritableFile> file_;
  bool stands_ = false;  ///< under name_
};

}  // namespace

Result<std::unique_ptr<UnseenFile>> FileSystem::create_unseen(const std::string& folder, Unseen /*unseen*/) {
  // The thread tells the living apart, the time those of one thread and the dead.
  for (;;) {
    const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
    std::string name =
        path::join(folder, ".hallmark-" + std::to_string(::gettid()) + "-" + std::to_string(now) + ".tmp");
    HALLMARK_TRY(const auto taken, lstat(name));
    if (!taken) return std::make_unique<HiddenFile>(*this, std::move(name));
  }
}

}  // namespace hallmark::os
