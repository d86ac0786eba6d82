// NinjaLogs: what Ninja remembers between builds: .ninja_log (which command made an output, and when) and
// .ninja_deps (what it read, by the compiler's dependency file). Pure readers of bytes of any origin.
//
// .ninja_log, versions 4 to 7: a line `# ninja log vN`, then lines of five fields parted by tabs: start and
// end of the command in milliseconds of that build, a time stamp in nanoseconds since the epoch, the output,
// a hash of the command in hexadecimal. The time stamp is the output's mtime (up to version 5; with restat
// that of its newest input) or the start of the command (from 6 on). The last line of an output counts. Up to
// version 6 the hash is MurmurHash64A of the command and, behind ";rspfile=", its response file.
//
// .ninja_deps, versions 3 and 4: a line `# ninjadeps`, a u32 version, then records, each a u32 of size, its
// highest bit set for a record of dependencies. Of a path: its bytes, zeros up to a multiple of 4, and a u32
// that is the complement of its number. Of dependencies: u32 number of the output, its mtime (u32 seconds; in
// version 4 u64 nanoseconds), u32 numbers of what it read. All little-endian; the last record of an output
// counts; what follows a damaged record is not there.
// (Ninja's build_log.cc and deps_log.cc.)
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hallmark::inspect {

struct NinjaLogEntry {
  std::int64_t mtime_ns = 0;
  std::uint64_t command_hash = 0;
};

struct NinjaLog {
  int version = 0;
  std::map<std::string, NinjaLogEntry, std::less<>> outputs;

  /// Whether an output was made by this command; nullopt if this version's hash is not known here.
  std::optional<bool> is_made_by(const NinjaLogEntry& entry, std::string_view command) const;
};

/// Errors: invalid (no such file), unsupported (another version).
Result<NinjaLog> parse_ninja_log(std::string_view text);

struct NinjaDeps {
  struct Entry {
    std::int64_t mtime_ns = 0;  ///< of the output when they were noted
    std::vector<std::uint32_t> paths;
  };
  std::vector<std::string> paths;
  std::map<std::string, Entry, std::less<>> outputs;
};

/// Errors: invalid (no such file), unsupported (another version).
Result<NinjaDeps> parse_ninja_deps(std::string_view bytes);

}  // namespace hallmark::inspect
