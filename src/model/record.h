// What the store keeps: path sets, states and records, and the two keys that find them.
//
//   weak key   = hash(format, argv, cwd, environment that counts, streams, uid, umask)     -> WeakEntry
//   strong key = hash(weak key, path set, states, bound values)                            -> Record,
//   Derivation
//
// The scheme is BuildXL's two-phase fingerprint. All texts are folded: a declared root, HOME, TMPDIR and so
// on stand as tokens (model/tokens.h), so that a result can serve another checkout. docs/formats/record.md
// has the bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/file_stat.h"
#include "base/limits.h"
#include "digest/digest.h"
#include "digest/encoding.h"
#include "model/observation.h"
#include "model/reason.h"

namespace hallmark::model {

/// Kinds of question whose answer is part of the strong key. The numbers are stored.
enum class Aspect : std::uint8_t {
  content = 1,      ///< subject: path; answer: digest of the bytes
  kind = 2,         ///< subject: path; answer: absent, file, executable file, folder, link, other
  listing = 3,      ///< subject: folder; answer: digest of its names
  link = 4,         ///< subject: link; answer: target
  size = 5,         ///< subject: path; answer: size
  mtime = 6,        ///< subject: path; answer: mtime
  program = 7,      ///< subject: a name looked up in PATH; answer: the folded path found, or absent
  soname = 8,       ///< subject: a soname; answer: what ld.so.cache says
  stdin_bytes = 9,  ///< subject empty; answer: digest of stdin
  machine = 10,     ///< subject: "cpu", "gpu", "date" or "host"; answer: its identity
  bound = 11,       ///< subject: a token's name; answer: its value (the result contains it)
};

struct Question {
  Aspect aspect{};
  std::string subject;
  auto operator<=>(const Question&) const = default;
};

/// The answer to a question as canonical bytes; equal answers are equal bytes. Made by engine, see
/// engine/states.h.
using Answer = std::string;

/// What a run of a command asked of the world. Sorted, no question twice.
struct PathSet {
  std::vector<Question> questions;
  bool operator==(const PathSet&) const = default;
};

/// One path set of a weak key with the answers of the record published or replayed last.
struct SeenSet {
  PathSet paths;
  std::vector<Answer> answers;  ///< parallel to paths.questions
  bool operator==(const SeenSet&) const = default;
};

/// The command in folded form, kept to explain a later miss.
struct CommandText {
  std::vector<std::string> argv;
  std::string cwd;
  std::vector<std::pair<std::string, std::string>> environment;  ///< what counts, sorted
  std::vector<std::string> others;  ///< stream kinds, uid, umask, as "name=value"
  bool operator==(const CommandText&) const = default;
};

/// All that is known under one weak key, most recent path set first, at most limits::kPathSetsPerWeakKey.
struct WeakEntry {
  CommandText command;
  std::vector<SeenSet> sets;
  bool operator==(const WeakEntry&) const = default;
};

enum class OutputRole : std::uint8_t {
  plain = 0,
  depfile = 1,  ///< a make-style dependency file: bytes are folded text and regenerated for the current tree
  searched_folder =
      2,  ///< ObservedOutput::searched: on replay it holds nothing but outputs, or the command runs
};

struct RecordedOutput {
  std::string path;  ///< folded
  NodeKind kind = NodeKind::file;
  std::uint32_t mode = 0644;
  OutputRole role = OutputRole::plain;
  digest::Digest content;  ///< of a file
  std::string target;      ///< of a link
  bool operator==(const RecordedOutput&) const = default;
};

struct Record {
  digest::Key weak_key;
  std::vector<RecordedOutput> outputs;  ///< sorted by path; folders before what is in them
  std::optional<digest::Digest> out;    ///< stdout, or both streams if merged; nullopt: nothing was written
  std::optional<digest::Digest> err;
  Tier tier = Tier::none;
  std::int64_t created_ns = 0;
  std::int64_t wall_ns = 0;
  std::uint64_t peak_rss_bytes = 0;
  std::vector<std::string> programs;  ///< executed, folded paths
  std::vector<Reason> notes;          ///< nondeterminism and the like
  bool operator==(const Record&) const = default;
};

/// What the tokens stood for when a command ran or was replayed, in order of declaration, and PATH: name and
/// value.
using Places = std::vector<std::pair<std::string, std::string>>;

/// Where the outputs of a record come from: all that went into its strong key, in full. A weak entry forgets
/// old answers, this does not. To prove, never to replay.
struct Derivation {
  digest::Key weak_key;
  CommandText command;
  PathSet paths;
  std::vector<Answer> answers;  ///< parallel to paths.questions
  bool operator==(const Derivation&) const = default;
};

digest::Key strong_key(const digest::Key& weak_key, const PathSet& paths, const std::vector<Answer>& answers);

/// Whether each set is as PathSet says and has as many answers as questions. Only such an entry or derivation
/// may be encoded.
bool is_well_formed(const WeakEntry& entry);
bool is_well_formed(const Derivation& derivation);

/// Payload encodings, without header and checksum (room store adds those).
std::string encode(const WeakEntry& entry);
std::string encode(const Record& record);
std::string encode(const Derivation& derivation);
std::string encode(const Places& places);
Result<WeakEntry> decode_weak_entry(std::string_view bytes);
Result<Record> decode_record(std::string_view bytes);
Result<Derivation> decode_derivation(std::string_view bytes);
Result<Places> decode_places(std::string_view bytes);

}  // namespace hallmark::model
