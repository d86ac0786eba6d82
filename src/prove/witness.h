// Witness: what a step of a build really read and wrote, by whatever can tell.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "digest/digest.h"
#include "model/record.h"
#include "os/file_system.h"
#include "prove/build_graph.h"
#include "store/local_store.h"

namespace hallmark::prove {

class IncludeReach;

enum class Testimony : std::uint8_t {
  record,    ///< its last run was recorded
  observed,  ///< it was run into a scratch folder, observed
  includes,  ///< weaker: its #include lines
};

/// "recorded", "observed", "#include lines".
std::string_view name_of(Testimony testimony);

/// All paths absolute.
struct StepReads {
  Testimony how{};
  std::vector<std::string> read;     ///< files whose bytes were read or executed
  std::vector<std::string> written;  ///< files; empty if it is not known
};

/// By records. Reads the store, and the files that it is asked about; executes nothing. Not thread-safe.
class RecordWitness {
 public:
  explicit RecordWitness(store::LocalStore& store) : store_(store) {}

  /// Of the run that made the bytes which a file holds now; nullopt: none is known.
  std::optional<StepReads> of(const std::string& output);

 private:
  const model::Places* places(const digest::Key& key);

  store::LocalStore& store_;
  std::map<digest::Key, std::optional<model::Places>> places_;
};

/// By #include lines: only of compiles of C, C++, CUDA and HIP, and weaker. Not thread-safe.
class IncludeWitness {
 public:
  explicit IncludeWitness(os::FileSystem& files);
  IncludeWitness(const IncludeWitness&) = delete;
  IncludeWitness& operator=(const IncludeWitness&) = delete;
  ~IncludeWitness();

  /// nullopt: the edge compiles nothing. What a compile may skip is left out.
  std::optional<StepReads> of(const BuildEdge& edge);

 private:
  os::FileSystem& files_;
  std::unique_ptr<IncludeReach> reach_;
};

/// Whether an edge compiles C, C++, CUDA or HIP.
bool is_compile(os::FileSystem& files, const BuildEdge& edge);

/// A command that can be started by itself.
struct ScratchCommand {
  std::vector<std::string> argv;
  std::string cwd;  ///< absolute
};

/// The one compile of an edge alone, without launchers, so that all that it writes lies in `folder`
/// (absolute). nullopt, and why in `why_not`: it is not one compile, or where it writes cannot be told from
/// its words.
std::optional<ScratchCommand> command_into(os::FileSystem& files, const BuildEdge& edge,
                                           const std::string& folder, std::string& why_not);

}  // namespace hallmark::prove
