// SettledFiles: a set of files in a folder, made to be exactly what is wanted, and nothing more than needed
// is touched.
//
// A file whose bytes are right keeps its time, so that nothing downstream runs. What an earlier call made and
// nobody wants any more is removed, with the folders that it leaves empty; what somebody else put there
// stays. The set remembers what it made in a record file. Safe to kill: each file appears whole, a file is in
// the record before it exists, and what went missing or was edited since is made again. One writer at a time
// (callers lock the build folder).
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "os/file_system.h"

namespace hallmark::kernels {

/// One wanted file, below the folder.
struct WantedFile {
  enum class Kind : std::uint8_t { text, copy, link };
  Kind kind = Kind::text;
  std::string path;
  std::string value;  ///< the text; the absolute path that is copied; the target of the link
};

struct Settled {
  std::size_t written = 0;
  std::size_t untouched = 0;
  std::size_t removed = 0;
};

class SettledFiles {
 public:
  /// `record` is a path below `folder`, the set's own.
  SettledFiles(os::FileSystem& files, std::string folder, std::string record)
      : files_(files), folder_(std::move(folder)), record_(std::move(record)) {}

  /// Makes the files be there; of two of one path the last counts. Errors: invalid (a path that leaves the
  /// folder or that another wanted file is a folder of), io, no_space, not_found (a file to copy).
  Result<Settled> settle(const std::vector<WantedFile>& wanted);

  /// What the set made, by its record; sorted.
  Result<std::set<std::string>> made() const;

 private:
  Result<bool> is_right(const WantedFile& file) const;
  Status make(const WantedFile& file) const;
  Status write_record(const std::set<std::string>& paths) const;
  Result<bool> remove(const std::string& path) const;

  os::FileSystem& files_;
  std::string folder_;
  std::string record_;
};

/// One file that has these bytes and appears whole; true if it was touched.
Result<bool> settle_text(os::FileSystem& files, const std::string& path, std::string_view text);

}  // namespace hallmark::kernels
