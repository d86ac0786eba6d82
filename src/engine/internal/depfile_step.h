// DepfileStep: the part of an action that tells the build tool what to watch: writes --depfile, completes the
// dependency file of the command itself, keeps the sentinels.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/depfile.h"
#include "engine/engine.h"
#include "engine/kinds.h"
#include "engine/sentinels.h"
#include "model/observation.h"

namespace hallmark::engine {

class DepfileStep {
 public:
  DepfileStep(os::FileSystem& files, os::Clock& clock, const Bindings& bindings,
              const model::Command& command, const RunOptions& options, const Arguments& arguments,
              const std::vector<std::string>& response_files, std::string output);

  /// Before anything runs: whether the file that the caller wants can be written at all.
  Status check() const;

  /// Dependency files among what the command left: path -> text.
  std::map<std::string, std::string> own_depfiles(const model::Observation& observation) const;

  struct Written {
    bool overtaken = false;  ///< see Dependencies
  };
  /// After the outputs are in place. `outputs`: absolute, all that the command made. `depfiles`: as
  /// own_depfiles gives them; `rewrite`: they are not on disk yet; `programs`: where the answers came from.
  /// Fails only if a file cannot be written.
  Result<Written> write(const model::PathSet& paths, const std::vector<model::Answer>& answers,
                        ProgramSearch& programs, const std::vector<std::string>& outputs,
                        const std::map<std::string, std::string>& depfiles, bool rewrite,
                        std::int64_t start_ns);

  /// These paths are new: whoever looked for them must run again.
  void announce(const std::vector<std::string>& created) { sentinels_.announce(created); }

  /// Whether a file in the place of a dependency file may be replaced by one.
  bool may_replace(const std::string& path) const;

 private:
  bool is_named(const std::string& spelled, const std::string& path) const;
  bool names_depfile(const std::string& path) const;
  bool is_completed(const std::string& path, const std::string& text,
                    const std::map<std::string, std::string>& all,
                    const std::vector<std::string>& outputs) const;
  bool is_ninjas_own(const std::string& response_file, BuildFolder& build) const;
  Status put(const std::string& path, const std::string& text);
  std::string target(const std::vector<std::string>& outputs) const;

  os::FileSystem& files_;
  const Bindings& bindings_;
  const model::Command& command_;
  const RunOptions& options_;
  const Arguments& arguments_;
  const std::vector<std::string>& response_files_;
  std::string output_;  ///< as spelled
  Sentinels sentinels_;
};

}  // namespace hallmark::engine
