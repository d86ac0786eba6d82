// Publish: makes a record of a finished, observed run: blobs and derivation first, then the record, then the
// weak entry that leads to it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "digest/content_hasher.h"
#include "engine/environment.h"
#include "engine/keys.h"
#include "engine/ports.h"
#include "engine/questions.h"
#include "model/observation.h"
#include "model/reason.h"
#include "model/record.h"
#include "os/clock.h"
#include "os/file_system.h"
#include "store/local_store.h"

namespace hallmark::engine {

struct Published {
  std::optional<digest::Key> strong;
  std::vector<model::Reason> reasons;  ///< published, nondeterministic; or why it could not be
  std::optional<Error> trouble;        ///< the store failed; worth a warning
};

class Publisher {
 public:
  struct Tools {
    os::FileSystem& files;
    os::Clock& clock;
    store::LocalStore& store;
    const Bindings& bindings;
    Finisher* finisher = nullptr;
  };

  explicit Publisher(Tools tools) : tools_(tools) {}

  /// `depfiles`: outputs that are dependency files of the command, with the bytes that the command wrote. The
  /// caller holds the action's lock. `asked` must be without doubts.
  Published publish(const CommandKey& key, const model::Observation& observation, Asked asked,
                    const std::map<std::string, std::string>& depfiles);

 private:
  struct Work;
  Status add_outputs(const model::Observation& observation,
                     const std::map<std::string, std::string>& depfiles, Work& work);
  Status add_file(const model::ObservedOutput& output, Work& work, model::RecordedOutput& recorded);
  Status finish_outputs(const digest::Key& strong, const model::Derivation& derivation, Work& work);
  Status finish_file(const digest::Key& strong, const model::Derivation& derivation,
                     model::RecordedOutput& recorded);
  Status add_streams(const model::Observation& observation, Work& work);
  void add_bound(Work& work);
  Status compare(const model::Record& kept, Work& work);
  Result<std::string> comparable_bytes(const digest::Digest& digest);
  Status update_entry(const CommandKey& key, Work& work);

  Tools tools_;
};

/// The files that verify may be asked about, where they are today. (Of a dependency file only the text that
/// it is made from is stored.)
std::vector<store::DerivationStore::Made> made_by(const model::Record& record, const Bindings& bindings);

/// The bytes of an object of nvcc with the process number in the names of its temporaries blanked out
/// ("tmpxft_0000a5d3_..."). Only for comparing two runs: what is stored and restored is what the compiler
/// wrote.
std::string without_process_numbers(std::string bytes);

}  // namespace hallmark::engine
