// Hints: for which programs the agent pays, and where the sites of a libc are.
//
// Putting the agent into a process costs about as much as it saves in 50 accesses (kPaysFrom). A program that
// makes fewer is better watched without it. How many a program makes is learnt: a running average per program
// file, kept across runs in one small file (docs/formats/hints.md). A program that was never seen gets the
// agent. Beside it are the sites of each libc (sites.h), which take a third of a millisecond to find.
//
// A hint decides about speed only, never about what is observed (the agent compares each site with the code
// before it touches anything): so the file is read without locks, a corrupt, newer or unreadable one counts
// as empty, the last writer wins, and a failure to save is nobody's business. Bounded by
// limits::kHintPrograms and kLibrariesMax; what was not used for longest goes first. One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/file_stat.h"
#include "base/result.h"
#include "digest/encoding.h"
#include "observe/internal/ring.h"
#include "os/file_system.h"

namespace hallmark::observe {

class Hints {
 public:
  /// Accesses of one process from which on the agent is cheaper than the supervisor.
  static constexpr std::uint32_t kPaysFrom = 48;

  static constexpr std::size_t kLibrariesMax = 16;

  /// Never fails: see above.
  static Hints load(os::FileSystem& files, const std::string& path);
  /// Of file content; nullopt if it is not of this format.
  static std::optional<Hints> decode(std::string_view bytes);
  std::string encode() const;

  /// Whether the program with this stat is worth an agent.
  bool pays(const FileStat& program) const;
  /// `processes` executions of it made `accesses` file accesses in this run.
  void learn(const FileStat& program, std::uint64_t processes, std::uint64_t accesses);

  /// The sites of a libc, if they were found before.
  std::optional<std::vector<ring::SharedSite>> sites_of(const FileStat& library) const;
  void learn_sites(const FileStat& library, std::vector<ring::SharedSite> sites);

  /// Whether something was learnt that would change a later decision, or make a program known.
  bool worth_saving() const { return worth_saving_; }
  /// Replaces the file. `unique` names the temporary beside it.
  Status save(os::FileSystem& files, const std::string& path, std::string_view unique) const;

  std::size_t size() const { return programs_.size(); }

 private:
  struct Key {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::uint64_t size_bytes = 0;
    std::int64_t mtime_ns = 0;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const;
  };
  struct Program {
    std::uint32_t average_x16 = 0;  ///< accesses of one process, times 16
    std::uint64_t last_run = 0;     ///< number of the run that last used it
  };
  struct Library {
    std::vector<ring::SharedSite> sites;
    std::uint64_t last_run = 0;
  };
  static Key key_of(const FileStat& stat) {
    return {stat.device, stat.inode, stat.size_bytes, stat.mtime_ns};
  }

  static Key decode_key(digest::Decoder& in);
  bool decode_programs(digest::Decoder& in);
  bool decode_libraries(digest::Decoder& in);

  std::unordered_map<Key, Program, KeyHash> programs_;
  std::unordered_map<Key, Library, KeyHash> libraries_;
  std::uint64_t run_ = 1;
  bool worth_saving_ = false;
};

}  // namespace hallmark::observe
