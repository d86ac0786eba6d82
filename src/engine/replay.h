// Replay: puts the outputs of a record on the disk and its streams on ours (rules 1 and 2).
//
// Contract: either all outputs stand afterwards as the record has them, or the command must run: nothing was
// overwritten that hallmark did not know, and every byte that was put in place was verified. First everything
// is checked and prepared unseen, then each output appears; only a failure between two of them leaves a part
// of the outputs renewed, and the command that then runs makes them again. A death at any moment leaves whole
// outputs or none, and nothing beside them (but where the file system knows no nameless files).
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "digest/content_hasher.h"
#include "engine/environment.h"
#include "engine/lookup.h"
#include "engine/ports.h"
#include "model/reason.h"
#include "os/file_system.h"
#include "store/store.h"

namespace hallmark::engine {

/// Why an output of somebody else's stays.
inline constexpr const char* kForeignBytes = "it holds bytes that hallmark did not put there";

/// What stands on disk after a replay.
struct Restored {
  std::vector<std::string> created;  ///< paths that were absent before
  std::vector<std::string> written;  ///< paths that got new bytes; the others already had the right ones
  std::map<std::string, std::string>
      depfiles;  ///< dependency files of the command: path -> text, for today's tree
};

class Replayer {
 public:
  struct Tools {
    os::FileSystem& files;
    store::BlobStore& blobs;
    digest::ContentHasher& hasher;
    const Bindings& bindings;
    std::string_view companion_suffix = {};  ///< Finisher::companion_suffix(); empty: there is none
  };

  Replayer(Tools tools, bool restat) : tools_(tools), restat_(restat) {}

  /// Puts all outputs but dependency files in place; those are only unfolded (the caller completes and writes
  /// them). On failure the reasons say why the command must run instead.
  bool restore(const Hit& hit, Restored& restored, std::vector<model::Reason>& reasons);

  /// Gives every output the modification time `mtime_ns` (with restat: only those that got new bytes).
  void stamp(const Hit& hit, const Restored& restored, std::int64_t mtime_ns);

 private:
  struct Plan;
  bool plan(const Hit& hit, Plan& plan, Restored& restored, std::vector<model::Reason>& reasons);
  bool has_folder(const std::string& path, const Plan& plan);
  bool plan_file(const Hit& hit, const model::RecordedOutput& output, const std::string& path, Plan& plan,
                 Restored& restored, std::vector<model::Reason>& reasons);
  bool may_overwrite(const Hit& hit, const model::RecordedOutput& output, const std::string& path,
                     const FileStat& stat, bool& equal);
  bool prepare(Plan& plan, std::vector<model::Reason>& reasons);
  bool carry_out(Plan& plan, std::vector<model::Reason>& reasons);
  void undo(Plan& plan);

  Tools tools_;
  bool restat_;
};

}  // namespace hallmark::engine
