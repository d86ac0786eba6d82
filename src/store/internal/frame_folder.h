// FrameFolder: small verified files by key: one of the areas weak, records, sites and misses of a local
// store.
//
// Contract: what load() gives is whole and was stored under this very key. A damaged file is removed and
// reported as ErrorKind::corrupt once; from then on it is absent. Thread-safe; any number of processes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "store/internal/frame.h"
#include "store/internal/scratch.h"

namespace hallmark::store {

/// Verified bytes of one file.
class Frame {
 public:
  Frame(std::string bytes, std::string_view payload) : bytes_(std::move(bytes)), size_(payload.size()) {}
  std::string_view payload() const { return std::string_view(bytes_).substr(kFrameHeaderBytes, size_); }

 private:
  std::string bytes_;
  std::size_t size_;
};

class FrameFolder {
 public:
  FrameFolder(os::FileSystem& files, Scratch& scratch, const Layout& layout, std::string_view area,
              FrameKind kind, bool read_only)
      : files_(files), scratch_(scratch), layout_(layout), area_(area), kind_(kind), read_only_(read_only) {}

  Result<std::optional<Frame>> load(const digest::Key& key);
  Status replace(const digest::Key& key, std::string_view payload);
  /// False, and nothing done, if there is a file of this key.
  Result<bool> add(const digest::Key& key, std::string_view payload);
  /// For a payload that load() let pass but that its reader cannot decode.
  Error reject(const digest::Key& key, const Error& why);

  std::string path_of(const digest::Key& key) const { return layout_.hashed(area_, key.hash); }

 private:
  Status check_writable(std::size_t payload_bytes) const;

  os::FileSystem& files_;
  Scratch& scratch_;
  const Layout& layout_;
  std::string_view area_;
  FrameKind kind_;
  bool read_only_;
};

}  // namespace hallmark::store
