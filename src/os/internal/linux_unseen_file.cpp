#include "os/internal/linux_unseen_file.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "os/internal/linux_descriptor.h"

namespace hallmark::os {
namespace {

/// How often a peer that puts the same file in place may be quicker than we are.
constexpr int kMostTries = 100;
constexpr std::uint32_t kModeBeforeFinish = 0600;

class NamelessFile final : public UnseenFile {
 public:
  NamelessFile(Descriptor descriptor, std::string folder)
      : descriptor_(std::move(descriptor)), folder_(std::move(folder)) {}

  Status write(ByteView bytes) override { return write_all(descriptor_.number(), bytes, folder_); }

  Result<bool> clone(const std::string& from) override {
    const Descriptor source = open_file(from, O_RDONLY);
    if (!source.open()) return fail(Error::from_errno("open", from));
    if (::ioctl(descriptor_.number(), FICLONE, source.number()) == 0) return true;
    if (errno == ENOSPC || errno == EDQUOT || errno == EIO) return fail(Error::from_errno("write", folder_));
    return false;
  }

  Result<std::unique_ptr<ReadableFile>> read_back() override {
    // Another open of the same file, with its own place in it.
    Descriptor descriptor = open_file(link(), O_RDONLY);
    if (!descriptor.open()) return fail(Error::from_errno("open", folder_));
    return std::make_unique<LinuxReadableFile>(std::move(descriptor), folder_);
  }

  Status finish(std::uint32_t mode) override {
    if (::fchmod(descriptor_.number(), static_cast<mode_t>(mode)) == 0) return {};
    return fail(Error::from_errno("change mode of a new file in", folder_));
  }

  /// A link is never made over a name, so what is there goes first, as compilers do it too: a death in
  /// between leaves no file rather than a stranger beside it.
  Status appear(const std::string& path) override {
    for (int tries = 0;; ++tries) {
      if (::linkat(AT_FDCWD, link().c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) == 0) return {};
      if (errno != EEXIST || tries == kMostTries) return fail(Error::from_errno("put in place", path));
      if (::unlink(path.c_str()) != 0 && errno != ENOENT) return fail(Error::from_errno("replace", path));
    }
  }

 private:
  /// linkat by descriptor alone (AT_EMPTY_PATH) asks for a capability; by this name it does not.
  std::string link() const { return "/proc/self/fd/" + std::to_string(descriptor_.number()); }

  Descriptor descriptor_;
  std::string folder_;
};

}  // namespace

Result<std::unique_ptr<UnseenFile>> create_nameless(const std::string& folder) {
  Descriptor descriptor = open_file(folder.empty() ? "." : folder, O_TMPFILE | O_RDWR, kModeBeforeFinish);
  if (descriptor.open()) return std::make_unique<NamelessFile>(std::move(descriptor), folder);
  // What kernels and file systems answer that do not know O_TMPFILE: for them it asks to write to a folder.
  if (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL) return std::unique_ptr<UnseenFile>();
  return fail(Error::from_errno("create a file in", folder));
}

}  // namespace hallmark::os
