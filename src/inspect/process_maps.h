// ProcessMaps: the files that a process has mapped, as /proc/PID/maps lists them (proc_pid_maps(5)). Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hallmark::inspect {

struct MappedFile {
  std::string path;      ///< as it was when it was mapped, or as it was renamed since
  bool deleted = false;  ///< the name was removed, or leads to another file now
  bool runs = false;     ///< some part of it may be executed
  std::uint64_t device_major = 0;
  std::uint64_t device_minor = 0;
  std::uint64_t inode = 0;
  std::string range;  ///< of its first mapping, as the names in /proc/PID/map_files: "7f00-7f10"
};

/// Each file once, in the order of first appearance. What is no file ([heap], anonymous memory, memfd) and
/// lines that are no mappings are passed over.
std::vector<MappedFile> parse_process_maps(std::string_view text);

}  // namespace hallmark::inspect
