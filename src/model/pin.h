// Pin: a source of somebody else, and exactly which state of it. A pure value: `manifest` reads it, `source`
// checks it out.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace hallmark::model {

enum class Submodules : std::uint8_t { none, some, all };  ///< all: recursive

/// A commit of a git repository.
struct GitPin {
  std::string url;     ///< what `git fetch` takes, or the absolute path of a repository
  std::string commit;  ///< in full: 40 or 64 lower-case hexadecimal digits
  std::string ref;  ///< a branch or tag that holds it: fetched where the server gives no commit by its name;
                    ///< may be empty
  Submodules submodules = Submodules::none;
  std::vector<std::string>
      some_submodules;               ///< paths, each with its own submodules; only with Submodules::some
  std::vector<std::string> patches;  ///< absolute paths, applied in this order

  bool operator==(const GitPin&) const = default;
};

/// The bytes of an archive.
struct ArchivePin {
  std::string url;          ///< https://, http:// or file://, or an absolute path
  std::string sha256;       ///< 64 lower-case hexadecimal digits
  std::uint32_t strip = 1;  ///< leading components dropped from each name in it
  std::vector<std::string> patches;

  bool operator==(const ArchivePin&) const = default;
};

/// What to do about a folder of another owner, which git refuses as "dubious ownership".
enum class SafeDirectory : std::uint8_t {
  never,   ///< nothing: git's refusal is the answer
  process  ///< the commands that hallmark starts are told that it is safe; nobody's configuration is edited
};

/// A structure of the source whose fields a wrapper of ours fills: both must name the same fields.
struct FieldGuard {
  std::string header;    ///< relative to the checkout
  std::string type;      ///< the structure's name, with or without its namespace
  std::string wrapper;   ///< absolute path of the file that fills it
  std::string variable;  ///< what the wrapper calls the structure that it fills; empty: any of that type
  std::vector<std::string> ignore;  ///< fields that the wrapper need not set
  std::string place;                ///< where this is written: "hallmark.toml:12"

  bool operator==(const FieldGuard&) const = default;
};

/// A declaration that a header of the source must hold, compared token by token.
struct DeclarationGuard {
  std::string header;  ///< relative to the checkout
  std::string text;
  std::string place;

  bool operator==(const DeclarationGuard&) const = default;
};

struct Source {
  std::string name;
  std::variant<GitPin, ArchivePin> pin;
  std::string folder;  ///< absolute: where it is checked out
  SafeDirectory safe_directory = SafeDirectory::never;
  std::vector<FieldGuard> fields;
  std::vector<DeclarationGuard> declarations;
  std::string place;  ///< where it is written: "hallmark.toml:7"

  bool operator==(const Source&) const = default;
};

}  // namespace hallmark::model
