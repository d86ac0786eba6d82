// BlobFolder: the blobs of a local store, each a read-only file named by the hash of its bytes.
//
// Contract: as BlobStore. A blob whose bytes are not those of its name is removed and reported as
// ErrorKind::corrupt once; from then on it is absent. Content goes to outputs by reflink or copy, never by a
// hard link, so that nothing done to an output can reach the store.
#pragma once

#include <string>

#include "store/internal/scratch.h"
#include "store/store.h"

namespace hallmark::store {

class BlobFolder final : public BlobStore {
 public:
  /// With `read_only`, put fails with ErrorKind::permission and a corrupt blob stays.
  BlobFolder(os::FileSystem& files, Scratch& scratch, const Layout& layout, bool read_only)
      : files_(files), scratch_(scratch), layout_(layout), read_only_(read_only) {}

  Result<bool> contains(const digest::Digest& digest) override;
  Result<std::optional<std::string>> read(const digest::Digest& digest, std::size_t max_bytes) override;
  Result<digest::Digest> put(std::string_view bytes) override;
  Result<digest::Digest> put_file(const std::string& path) override;
  Result<bool> restore(const digest::Digest& digest, os::UnseenFile& into, std::uint32_t mode) override;

 private:
  std::string path_of(const digest::Digest& digest) const {
    return layout_.hashed(Layout::kBlobs, digest.hash);
  }
  Status check_writable() const;
  Result<digest::Digest> put_large(const std::string& path);
  /// Copies into a new file and hashes what it copied.
  Result<digest::Digest> copy_hashed(const std::string& from, const std::string& to, std::uint32_t mode);
  Result<digest::Digest> hash_file(const std::string& path);
  /// Gives the file the blob's bytes and says which they were.
  Result<digest::Digest> fill(const std::string& blob, os::UnseenFile& into);
  Error remove_corrupt(const std::string& blob);

  os::FileSystem& files_;
  Scratch& scratch_;
  const Layout& layout_;
  bool read_only_;
};

}  // namespace hallmark::store
