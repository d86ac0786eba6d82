// States: answers the questions of path sets from today's disk, environment and machine.
//
// One States serves one look-up: each answer is found out once and kept, so that twenty path sets that ask
// the same cost no more than one. Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "digest/content_hasher.h"
#include "engine/environment.h"
#include "engine/internal/loader_cache.h"
#include "engine/ports.h"
#include "engine/program_search.h"
#include "model/command.h"
#include "model/record.h"
#include "os/file_system.h"

namespace hallmark::engine {

class States {
 public:
  struct World {
    os::FileSystem& files;
    digest::ContentHasher& hasher;
    Machine& machine;
    Streams& streams;
    const Bindings& bindings;
    const model::Command& command;
    /// What lies in a folder that may not be searched is absent, as to the command and its observer (a folder
    /// of PATH is often like that). False for whoever looks on behalf of another user.
    bool forbidden_is_absent = true;
  };

  explicit States(World world) : world_(world), programs_(world.files, world.bindings.search_folders()) {}

  /// What was asked before, with the answers.
  struct Known {
    const model::PathSet& paths;
    const std::vector<model::Answer>& answers;
  };

  /// Answers parallel to `paths.questions`. What is `known` is not asked again: one look-up sees one world.
  std::vector<model::Answer> ask(const model::PathSet& paths, std::span<const Known> known = {});

  /// The latest modification time, not after `now_ns`, of all files whose content was asked for.
  std::int64_t newest_change_ns(std::int64_t now_ns) const;

  ProgramSearch& programs() { return programs_; }

 private:
  using Index = std::size_t;

  Result<std::optional<FileStat>> look(const std::string& path);
  model::Answer find_out(const model::Question& question);
  model::Answer content(const std::string& subject);
  model::Answer volatile_content(const std::string& path);
  model::Answer kind(const std::string& subject);
  model::Answer listing(const std::string& subject);
  model::Answer link(const std::string& subject);
  model::Answer attribute(const model::Question& question);
  model::Answer program(const std::string& name);
  model::Answer soname(const std::string& name);
  void ask_kinds(const model::PathSet& paths, const std::vector<Index>& unanswered,
                 std::vector<model::Answer>& answers);

  World world_;
  ProgramSearch programs_;
  std::optional<LoaderCache> loader_cache_;
  std::vector<std::int64_t> changes_ns_;
};

/// Paths whose bytes are made when they are read: no stat tells that they changed.
bool is_volatile(std::string_view path);

}  // namespace hallmark::engine
