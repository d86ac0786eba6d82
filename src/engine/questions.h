// Questions: reads an Observation as questions with the answers that the command itself saw.
//
// The answers come from the events, never from a later look at the disk, so that a record says what made it.
// Contents are the exception: they are hashed after the command ended, and the stat at the event must then
// still hold; where it does not, the input changed while the command ran and nothing is published.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "digest/clock_words.h"
#include "engine/environment.h"
#include "engine/states.h"
#include "model/observation.h"
#include "model/reason.h"
#include "model/record.h"

namespace hallmark::engine {

struct Asked {
  model::PathSet paths;                ///< sorted
  std::vector<model::Answer> answers;  ///< parallel
  std::vector<model::Reason> doubts;   ///< why this may not be published
  std::vector<std::string> changed;    ///< inputs that changed while the command ran
};

class Questions {
 public:
  /// `native`: the command's words ask for this machine's processor. `clock`: clock words among its words.
  Questions(States::World world, States& states, std::string root, bool native, digest::ClockWords clock)
      : world_(world),
        states_(states),
        root_(std::move(root)),
        temporary_folders_(temporary_folders(world.command.environment)),
        native_(native),
        clock_(clock) {}

  /// `with_contents`: hash what was read. Without it the answers of contents are unknown (the questions still
  /// serve a depfile) and only stats are compared.
  Asked of(const model::Observation& observation, bool with_contents);

 private:
  struct Draft;
  bool is_temporary_folder(std::string_view folder) const;
  /// nvcc lists the temporary folder to remove what it left there: what else lies there does not matter to
  /// it.
  bool is_clean_up(const std::string& listed) const;
  void add_input(const model::ObservedInput& input, const model::Observation& observation, Draft& draft);
  void add_search(Draft& draft);
  void add_loader(Draft& draft);
  void add_programs(const model::Observation& observation, Draft& draft);
  void add_machine(const std::string& what, Draft& draft);
  void add_processor(const model::Observation& observation, Draft& draft);
  void add_attributes(const model::Observation& observation, Draft& draft);
  void add_contents(const model::Observation& observation, bool with_contents, Draft& draft);
  digest::ClockWords clock_words_of(const model::ObservedInput& input, const Draft& draft) const;
  void add_source_clocks(const model::Observation& observation, Draft& draft);
  void add_stdin(const model::Observation& observation, Draft& draft);

  States::World world_;
  States& states_;
  std::string root_;
  std::vector<std::string> temporary_folders_;
  bool native_;
  digest::ClockWords clock_;
};

}  // namespace hallmark::engine
