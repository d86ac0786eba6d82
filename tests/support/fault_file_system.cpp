#include "support/fault_file_system.h"

#include <cerrno>

namespace hallmark::test {
namespace {

Error stopped_error(std::string_view action, const std::string& path) {
  return Error{ErrorKind::io, std::string(action) + " " + path + ": the process was stopped by the test", {}};
}

}  // namespace

void FaultFileSystem::arm(std::uint64_t first, std::uint64_t last, int error_number, bool stop) {
  steps_ = 0;
  first_ = first;
  last_ = last;
  error_number_ = error_number;
  stop_ = stop;
  stopped_ = false;
}

void FaultFileSystem::heal() {
  arm(kNever, kNever, 0, false);
  reads_ = 0;
  first_bad_read_ = kNever;
}

Status FaultFileSystem::look(std::string_view action, const std::string& path) {
  if (stopped_) return fail(stopped_error(action, path));
  return {};
}

Status FaultFileSystem::step(std::string_view action, const std::string& path) {
  HALLMARK_CHECK(look(action, path));
  const std::uint64_t number = ++steps_;
  if (number < first_ || number > last_) return {};
  if (stop_) {
    stopped_ = true;
    return fail(stopped_error(action, path));
  }
  if (action == "remove" && last_ == kNever) return {};
  return fail(Error::from_errno(action, path, error_number_));
}

Status FaultFileSystem::read_step(const std::string& path) {
  HALLMARK_CHECK(look("read", path));
  if (++reads_ >= first_bad_read_) return fail(Error::from_errno("read", path, EIO));
  return {};
}

class FaultFileSystem::Readable final : public os::ReadableFile {
 public:
  Readable(FaultFileSystem& files, std::unique_ptr<os::ReadableFile> inner, std::string path)
      : files_(files), inner_(std::move(inner)), path_(std::move(path)) {}
  Result<std::size_t> read(std::span<std::uint8_t> into) override {
    HALLMARK_CHECK(files_.read_step(path_));
    return inner_->read(into);
  }
  Result<FileStat> stat() override {
    HALLMARK_CHECK(files_.look("stat", path_));
    return inner_->stat();
  }

 private:
  FaultFileSystem& files_;
  std::unique_ptr<os::ReadableFile> inner_;
  std::string path_;
};

class FaultFileSystem::Writable final : public os::WritableFile {
 public:
  Writable(FaultFileSystem& files, std::unique_ptr<os::WritableFile> inner, std::string path)
      : files_(files), inner_(std::move(inner)), path_(std::move(path)) {}
  Status write(ByteView bytes) override {
    HALLMARK_CHECK(files_.look("write", path_));
    Status allowed = files_.step("write", path_);
    if (allowed.has_value()) return inner_->write(bytes);
    HALLMARK_CHECK(inner_->write(bytes.first(bytes.size() / 2)));
    return allowed;
  }
  Status sync() override {
    HALLMARK_CHECK(files_.step("sync", path_));
    return inner_->sync();
  }
  Status close() override {
    HALLMARK_CHECK(files_.step("close", path_));
    return inner_->close();
  }

 private:
  FaultFileSystem& files_;
  std::unique_ptr<os::WritableFile> inner_;
  std::string path_;
};

class FaultFileSystem::Random final : public os::RandomFile {
 public:
  Random(FaultFileSystem& files, std::unique_ptr<os::RandomFile> inner, std::string path)
      : files_(files), inner_(std::move(inner)), path_(std::move(path)) {}
  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::uint8_t> into) override {
    HALLMARK_CHECK(files_.read_step(path_));
    return inner_->read_at(offset, into);
  }
  Status write_at(std::uint64_t offset, ByteView bytes) override {
    HALLMARK_CHECK(files_.look("write", path_));
    Status allowed = files_.step("write", path_);
    if (allowed.has_value()) return inner_->write_at(offset, bytes);
    HALLMARK_CHECK(inner_->write_at(offset, bytes.first(bytes.size() / 2)));
    return allowed;
  }
  Result<FileStat> stat() override {
    HALLMARK_CHECK(files_.look("stat", path_));
    return inner_->stat();
  }

 private:
  FaultFileSystem& files_;
  std::unique_ptr<os::RandomFile> inner_;
  std::string path_;
};

Result<std::optional<FileStat>> FaultFileSystem::lstat(const std::string& path) {
  HALLMARK_CHECK(look("stat", path));
  return inner_.lstat(path);
}

Result<std::optional<FileStat>> FaultFileSystem::stat(const std::string& path) {
  HALLMARK_CHECK(look("stat", path));
  return inner_.stat(path);
}

Result<std::string> FaultFileSystem::read_link(const std::string& path) {
  HALLMARK_CHECK(look("read link", path));
  return inner_.read_link(path);
}

Result<std::vector<std::string>> FaultFileSystem::list(const std::string& path) {
  HALLMARK_CHECK(look("list", path));
  return inner_.list(path);
}

Result<std::unique_ptr<os::ReadableFile>> FaultFileSystem::open_read(const std::string& path) {
  HALLMARK_CHECK(look("open", path));
  HALLMARK_TRY(auto file, inner_.open_read(path));
  return std::make_unique<Readable>(*this, std::move(file), path);
}

Result<std::unique_ptr<os::WritableFile>> FaultFileSystem::create(const std::string& path,
                                                                  std::uint32_t mode) {
  HALLMARK_CHECK(step("create", path));
  HALLMARK_TRY(auto file, inner_.create(path, mode));
  return std::make_unique<Writable>(*this, std::move(file), path);
}

Result<std::unique_ptr<os::WritableFile>> FaultFileSystem::append(const std::string& path,
                                                                  std::uint32_t mode) {
  HALLMARK_CHECK(step("open", path));
  HALLMARK_TRY(auto file, inner_.append(path, mode));
  return std::make_unique<Writable>(*this, std::move(file), path);
}

Result<std::unique_ptr<os::RandomFile>> FaultFileSystem::open_random(const std::string& path, bool writable) {
  HALLMARK_CHECK(look("open", path));
  HALLMARK_TRY(auto file, inner_.open_random(path, writable));
  return std::make_unique<Random>(*this, std::move(file), path);
}

Status FaultFileSystem::rename(const std::string& from, const std::string& to) {
  HALLMARK_CHECK(step("rename", to));
  return inner_.rename(from, to);
}

Result<bool> FaultFileSystem::rename_new(const std::string& from, const std::string& to) {
  HALLMARK_CHECK(step("rename", to));
  return inner_.rename_new(from, to);
}

Status FaultFileSystem::exchange(const std::string& one, const std::string& other) {
  HALLMARK_CHECK(step("exchange", other));
  return inner_.exchange(one, other);
}

Status FaultFileSystem::remove(const std::string& path) {
  HALLMARK_CHECK(step("remove", path));
  return inner_.remove(path);
}

Status FaultFileSystem::remove_folder(const std::string& path) {
  HALLMARK_CHECK(step("remove", path));
  return inner_.remove_folder(path);
}

Status FaultFileSystem::make_folder(const std::string& path, std::uint32_t mode) {
  HALLMARK_CHECK(step("make folder", path));
  return inner_.make_folder(path, mode);
}

Status FaultFileSystem::make_link(const std::string& target, const std::string& path) {
  HALLMARK_CHECK(step("make link", path));
  return inner_.make_link(target, path);
}

Status FaultFileSystem::set_mode(const std::string& path, std::uint32_t mode) {
  HALLMARK_CHECK(step("change mode of", path));
  return inner_.set_mode(path, mode);
}

Status FaultFileSystem::touch(const std::string& path, std::int64_t mtime_ns) {
  HALLMARK_CHECK(step("set time of", path));
  return inner_.touch(path, mtime_ns);
}

Result<bool> FaultFileSystem::clone(const std::string& from, const std::string& to, std::uint32_t mode) {
  HALLMARK_CHECK(step("clone", to));
  return inner_.clone(from, to, mode);
}

Status FaultFileSystem::copy(const std::string& from, const std::string& to, std::uint32_t mode) {
  HALLMARK_CHECK(step("copy", to));
  return inner_.copy(from, to, mode);
}

Status FaultFileSystem::sync_folder(const std::string& path) {
  HALLMARK_CHECK(step("sync", path));
  return inner_.sync_folder(path);
}

Result<std::unique_ptr<os::FileLock>> FaultFileSystem::lock(const std::string& path, os::LockMode mode,
                                                            os::LockWait wait) {
  HALLMARK_CHECK(step("lock", path));
  return inner_.lock(path, mode, wait);
}

Result<bool> FaultFileSystem::is_network(const std::string& path) {
  HALLMARK_CHECK(look("stat file system of", path));
  return inner_.is_network(path);
}

Result<bool> FaultFileSystem::is_writable_folder(const std::string& path) {
  HALLMARK_CHECK(look("look at", path));
  return inner_.is_writable_folder(path);
}

}  // namespace hallmark::test
