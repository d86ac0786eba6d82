// Depfile: what a build tool must look at to know when to start the command again, and the dependency files
// that say so.
//
// Everything of the path set is an input: sources, headers, programs, libraries, configuration. Folders stand
// for names that were looked for in them and for listings; where the build itself writes, a sentinel stands
// for the folder (rule 1).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/build_folder.h"
#include "engine/environment.h"
#include "engine/sentinels.h"
#include "engine/states.h"
#include "model/command.h"
#include "model/record.h"
#include "os/file_system.h"

namespace hallmark::engine {

class Dependencies {
 public:
  struct Tools {
    os::FileSystem& files;
    const Bindings& bindings;
    const model::Command& command;
    ProgramSearch& programs;
    Sentinels& sentinels;
    BuildFolder& build;
  };

  /// Works out the list. `own`: absolute paths that the command writes, which are no inputs; `start_ns`: when
  /// the run began. Registers the names that were looked for.
  Dependencies(Tools tools, const model::PathSet& paths, const std::vector<model::Answer>& answers,
               const std::vector<std::string>& own, std::int64_t start_ns);
  Dependencies(const Dependencies&) = delete;  // probed_now_ points into probed_
  Dependencies& operator=(const Dependencies&) = delete;

  /// A name that was absent is there by now: the result is older than the tree.
  bool overtaken() const { return overtaken_; }

  /// A whole dependency file.
  std::string depfile(const std::string& target, bool phony) const;
  /// The command's own file with what it leaves out. `phony`: add targets for what is added (if the file has
  /// such targets they are added anyway).
  std::string completed(const std::string& text, bool phony) const;

 private:
  void add(const model::Question& question, const model::Answer& answer);
  void add_file(const std::string& path);
  void watch_name(const std::string& path);
  void finish_folders(std::int64_t start_ns);
  std::string spelled(const std::string& path) const;
  std::string real(const std::string& spelled) const;

  Tools tools_;
  std::set<std::string> own_;
  std::set<std::string> files_;  // absolute
  using Names = std::map<std::string, std::set<std::string>>;
  Names probed_;                                // folder -> absent names
  Names::iterator probed_now_ = probed_.end();  // of the name that was added last
  std::set<std::string> listed_;                // folders whose names mattered
  std::set<std::string> present_folders_;       // folders that were looked at
  std::vector<std::string> all_;                // absolute: files, folders and sentinels
  std::string base_;                            // paths below it are written relative to it
  mutable std::map<std::string, std::string> real_folders_;
  bool overtaken_ = false;
};

}  // namespace hallmark::engine
