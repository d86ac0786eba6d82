// PlainHasher: hashes every file anew, for runs without a store.
#pragma once

#include "digest/content_hasher.h"
#include "os/file_system.h"

namespace hallmark::engine {

class PlainHasher final : public digest::ContentHasher {
 public:
  explicit PlainHasher(os::FileSystem& files) : files_(files) {}
  Result<Hashed> hash(const std::string& path) override;

 private:
  os::FileSystem& files_;
};

}  // namespace hallmark::engine
