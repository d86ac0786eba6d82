// LoaderCache: what /etc/ld.so.cache answers for a soname. The file as a whole changes with every library
// that is installed; a command depends only on the answers for the sonames that it asked for (rule 5).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "os/file_system.h"

namespace hallmark::engine {

class LoaderCache {
 public:
  static constexpr const char* kPath = "/etc/ld.so.cache";

  /// Of the bytes of a cache file in the format of glibc since 2.2 ("glibc-ld.so.cache1.1"); anything else
  /// has no answers and its whole content counts.
  explicit LoaderCache(std::string bytes);
  static LoaderCache read(os::FileSystem& files);

  /// Every entry for the soname, with its flags and place, as canonical bytes; empty: none.
  std::string answer(std::string_view soname) const;

 private:
  std::string bytes_;
  std::size_t entries_ = 0;  ///< number of entries; 0: not understood
};

/// Whether a file name is that of a shared library ("libc.so.6").
bool is_library_name(std::string_view name);

}  // namespace hallmark::engine
