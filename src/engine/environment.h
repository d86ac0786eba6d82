// Environment: which variables count, and the Bindings of a run: values that stand as tokens, or count only
// when the result shows them (rule 3 of docs/soundness.md).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/command.h"
#include "model/record.h"
#include "model/tokens.h"
#include "os/file_system.h"

namespace hallmark::engine {

struct IgnoredVariable {
  std::string_view pattern;  ///< a name; a trailing `*` stands for any rest
  std::string_view why;
};

/// Variables of the terminal, the session, the jobserver, colours and hallmark itself: no tool's result
/// depends on them. docs/soundness.md shows the list.
std::span<const IgnoredVariable> ignored_variables();

/// Whether `name` is in the list above or matches one of `more`.
bool is_ignored_variable(std::string_view name, std::span<const std::string> more);

/// Folders in which everybody keeps what is soon gone: /tmp and the like, and TMPDIR. The folders themselves;
/// what lies in a folder below them is a file like any other.
std::vector<std::string> temporary_folders(const model::Environment& environment);

/// What the variable PWD says of the working folder. A tool takes its word only for a name of that folder,
/// and then shows this name instead of the folder's own (gcc -g, sh).
enum class PwdKind : std::uint8_t { unset, folder_itself, other_name, another_folder };
PwdKind pwd_kind(os::FileSystem& files, const model::Command& command);

/// Values of one run that differ between checkouts, users and sessions.
///
/// Path tokens fold texts: R root, B build folder, HOME, TMPDIR, PWD, VIRTUAL_ENV, ISOLATED (the folder of
/// pip's isolated build), OUT (a temporary folder that is named for the output). Loose values fold nothing:
/// PATH and, for programs to which any variable may mean something (shows_any_variable), USER, LOGNAME,
/// OLDPWD and R_NAME, the last name of the root. Either kind counts if an output or a stream mentions the
/// value (Aspect::bound). A value that tools write in several ways, with blanks or quotes in it, counts as
/// mentioned by whatever is searched.
class Bindings {
 public:
  Bindings(const model::Command& command, const std::string& root, const std::string& build_folder,
           const std::string& output);

  /// For a command that ran once and whose places are known. `environment` gives the loose values.
  static Bindings of_places(const model::Places& places, const model::Environment& environment);

  const model::Tokens& tokens() const { return tokens_; }
  /// What the tokens stand for, in order of declaration, and PATH.
  model::Places places() const;
  /// How the tokens lie to each other ("HOME=R/home"): where they overlap, a folded path could mean either.
  const std::vector<std::string>& relations() const { return relations_; }

  /// Names of all tokens and loose values that `bytes` mention.
  std::vector<std::string> mentioned_in(std::string_view bytes) const;
  /// Names of everything that bytes that cannot be searched may mention.
  std::vector<std::string> all_names() const;
  const std::string* value_of(std::string_view name) const;

  /// `text` folded, or itself marked as not foldable. Two texts fold equal only if they mean the same.
  std::string fold_or_mark(std::string_view text) const;

  /// The folders of PATH in order, absolute; empty and relative ones are left out.
  const std::vector<std::string>& search_folders() const { return search_folders_; }
  /// PATH has parts that depend on the working folder of whoever reads it, or is unset: its text counts.
  bool path_is_text() const { return path_is_text_; }

 private:
  /// How a loose value is looked for.
  enum class Sight : std::uint8_t {
    anywhere,
    word,   ///< not inside of a longer word
    place,  ///< not as the beginning of a token's value
    always,
  };
  struct Loose {
    std::string name;
    std::string value;
    Sight sight;
  };

  Bindings() = default;
  void add_path(std::string name, const std::string& value);
  void add_search_path(const std::string* search_path);
  void add_loose(std::string name, std::string_view value, Sight sight);
  bool mentions(std::string_view bytes, const Loose& loose) const;
  bool mentions_place(std::string_view bytes, std::string_view value) const;

  model::Tokens tokens_;
  std::vector<std::pair<std::string, std::string>> paths_;  // in order of declaration
  std::vector<Loose> loose_;
  std::vector<std::string> relations_;
  std::vector<std::string> search_folders_;
  bool path_is_text_ = false;
};

/// Variables that Bindings treat by their effect: their text is not in the weak key.
bool is_bound_variable(std::string_view name);

}  // namespace hallmark::engine
