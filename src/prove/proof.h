// Proof: what is known of an artifact: which command made it, of what, and whether the same would be made of
// today's files.
//
// A **step** is one recorded command. Its inputs are leaves (files that no recorded command made) or outputs
// of other steps. An artifact is **fresh** if each input of each step in its chain is what it was; **stale**
// if one surely differs; **unknown** if it cannot be told. Doubt is never fresh.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "digest/digest.h"
#include "model/reason.h"

namespace hallmark::prove {

enum class Verdict : std::uint8_t { fresh, stale, unknown };

/// "FRESH", "STALE", "UNKNOWN".
std::string_view name_of(Verdict verdict);

/// A file that a step read.
struct Input {
  std::string path;                 ///< absolute, where it is today
  std::optional<std::size_t> step;  ///< that made it
};

struct Step {
  digest::Key strong;
  std::string output;  ///< absolute: the file through which the chain leads here
  /// False: nobody recorded it; it is judged by the build tool's own graph and logs, and by times.
  bool is_recorded = true;
  std::vector<std::string> argv;  ///< for people: with today's folders
  std::string cwd;
  std::string root;                        ///< of the tree that was compared; empty: none
  std::int64_t made_ns = 0;                ///< since the epoch; 0: not known
  std::vector<Input> inputs;               ///< in the order of the record
  std::vector<model::Reason> differences;  ///< what this very command would find changed
  std::vector<std::string> doubts;         ///< why something cannot be told
  /// Those of the doubts that no look at another disk or on another day settles: where an input came from.
  std::vector<std::string> origin_doubts;
  digest::Key places;                  ///< names the folders that the run had; of a recorded step
  Verdict verdict = Verdict::unknown;  ///< of this step and all before it
};

/// By what an artifact was judged.
enum class Basis : std::uint8_t {
  record,      ///< the store knows these very bytes
  stamp,       ///< it bears a stamp, and the store knows the run that the stamp names
  attestation  ///< the statement beside it
};

/// "record", stable.
std::string_view name_of(Basis basis);

struct Proof {
  std::string artifact;  ///< absolute
  Verdict verdict = Verdict::unknown;
  std::optional<std::size_t> step;  ///< that made it
  std::string doubt;                ///< why nothing is known, or why it is stale, if there is no step
  Basis basis = Basis::record;
};

/// The steps of some proofs.
using Steps = std::vector<Step>;

/// From the artifact's step to the first one that has a difference of its own (a doubt, if the verdict is
/// unknown); empty if there is none.
std::vector<std::size_t> chain_to_cause(const Steps& steps, const Proof& proof);

/// The first doubt of a step that is unknown by itself, or that nobody recorded it; empty: it has none.
std::string_view doubt_of(const Step& step);

/// Whether a stale step's command must run again. What nobody recorded need not when only a shared library
/// changes: the names in it were linked, and the library is loaded as it is.
bool would_run_again(const Steps& steps, std::size_t index);

/// Whether a file is an input of any step in the artifact's chain.
bool derives_from(const Steps& steps, const Proof& proof, const std::string& file);

/// "libattn.so", "libattn.so.2".
bool is_shared_library(std::string_view path);

/// Adds the steps of other proofs: what they call step n is then step n + all.size().
void append(Steps& all, Steps steps);

/// All steps in the artifact's chain, each once, the artifact's own first.
std::vector<std::size_t> steps_of(const Steps& steps, const Proof& proof);

}  // namespace hallmark::prove
