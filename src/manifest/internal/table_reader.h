// TableReader: takes the known keys out of a table, one by one, and then says which keys nobody asked for.
// Everything that is wrong becomes a problem, and reading goes on with a default, so that a person sees all
// problems at once.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "manifest/internal/node.h"
#include "manifest/manifest.h"
#include "manifest/parse.h"

namespace hallmark::manifest {

/// The problems of one file. Not thread-safe.
class Problems {
 public:
  void add(Place place, std::string what, std::string hint = {}) {
    list_.push_back({place, std::move(what), std::move(hint)});
  }
  /// Sorted by place, each once, cut at limits::kManifestProblems.
  std::vector<Problem> take();
  std::vector<Problem>& list() { return list_; }
  /// The names that `{source.NAME}` may have.
  std::vector<std::string>& sources() { return sources_; }
  /// A problem if `text` has a placeholder that is neither `{root}`, `{source.NAME}` nor one of `more`.
  void check_placeholders(const Text& text, const std::vector<std::string>& more);
  /// The same of a path or pattern, which may not be empty or lead out of the manifest's folder.
  void check_path(const Text& text);

 private:
  std::vector<Problem> list_;
  std::vector<std::string> sources_;
};

/// The known word that is nearest to a misspelled one; nullopt if none is near.
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& known);
/// "did you mean \"x\"?", or "known are a, b".
std::string suggestion(std::string_view word, const std::vector<std::string>& known);

/// [A-Za-z][A-Za-z0-9_]*, with `-` inside if `dashes`.
bool is_name(std::string_view text, bool dashes);
/// What C calls an identifier.
bool is_identifier(std::string_view text);
/// nullopt: neither text, whole number nor truth value.
std::optional<Value> value_of(const Node& node);

class TableReader {
 public:
  /// `title` stands in messages: "[source.cutlass]".
  TableReader(const Node& table, std::string title, Problems& problems)
      : table_(table), title_(std::move(title)), problems_(problems) {}

  /// nullptr if it is not there.
  const Member* member(std::string_view key);
  bool has(std::string_view key) { return member(key) != nullptr; }

  std::optional<Text> text(std::string_view key);
  /// A text, or a whole number in its place.
  std::optional<Text> word(std::string_view key);
  /// A problem if it is not there; then an empty text at the table's place.
  Text required_text(std::string_view key);
  std::string text_or(std::string_view key, std::string_view otherwise);
  bool flag(std::string_view key, bool otherwise);
  std::uint64_t count(std::string_view key, std::uint64_t otherwise);
  Texts texts(std::string_view key);
  std::vector<std::string> words(std::string_view key);
  /// Paths or patterns.
  Texts paths(std::string_view key);
  /// One path; `otherwise` if it is not there.
  std::string path_or(std::string_view key, std::string_view otherwise);
  /// Words of a command line, with these placeholders beside those that every text has.
  Texts command(std::string_view key, const std::vector<std::string>& more);
  std::vector<std::string> flags(std::string_view key);
  /// NAME or NAME=VALUE.
  std::vector<std::string> defines(std::string_view key);
  /// A scalar or a list of scalars.
  std::optional<std::vector<Value>> values(std::string_view key);
  std::map<std::string, Value> scalars(std::string_view key);
  std::map<std::string, std::string> text_table(std::string_view key);
  std::optional<std::vector<ToolchainKind>> toolchains(std::string_view key);
  /// A table below this one; nullptr if it is not there.
  const Node* table(std::string_view key);
  /// A list of tables; one table counts as a list of one if `or_one`.
  std::vector<const Node*> tables(std::string_view key, bool or_one = false);
  /// One of these words.
  std::string one_of(std::string_view key, const std::vector<std::string>& known, std::string_view otherwise);

  /// A problem for each key that was not asked for.
  void finish();

  Place place() const { return table_.place; }
  const std::string& title() const { return title_; }
  Problems& problems() { return problems_; }

 private:
  void wrong(const Member& member, std::string_view wanted);
  std::vector<Value> values_of(const Member& member);

  const Node& table_;
  std::string title_;
  Problems& problems_;
  std::vector<std::string> asked_;
};

}  // namespace hallmark::manifest
