// NinjaManifest: the graph of a Ninja build, as build.ninja and the files that it includes describe it.
//
// An **edge** is one build statement: a command that makes outputs of inputs. Ninja starts it again if an
// explicit or implicit input is newer; an order-only input is merely made first. The language is that of
// Ninja's manual ("Ninja file reference"); what Ninja would refuse is passed over.
//
// Contract: text of any origin; reads only the manifest and what it includes. Not thread-safe. An edge's
// values are worked out when they are asked for.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "os/file_system.h"

namespace hallmark::inspect {

inline constexpr std::size_t kNinjaManifestBytes = std::size_t{1} << 30;
inline constexpr int kNinjaIncludeDepth = 16;
inline constexpr std::size_t kNinjaManifests = 100'000;     ///< files of one build
inline constexpr std::size_t kNinjaValueBytes = 16u << 20;  ///< of one expanded text; longer ones are cut
inline constexpr int kNinjaExpansions = 4096;               ///< bindings that one value refers to

struct NinjaEdge {
  std::string rule;                  ///< "phony": no command
  std::vector<std::string> outputs;  ///< explicit ones first
  std::size_t explicit_outputs = 0;
  std::vector<std::string> inputs;  ///< explicit: those in $in
  std::vector<std::string> implicit_inputs;
  std::vector<std::string> order_only;

  bool is_phony() const { return rule == "phony"; }

 private:
  friend class NinjaManifest;
  friend class NinjaParser;
  std::map<std::string, std::string, std::less<>> bindings;
  std::size_t scope = 0;
};

/// A path as Ninja calls it in its logs: without ".", "..", and doubled slashes; resolved by text.
std::string ninja_path(std::string_view path);

class NinjaManifest {
 public:
  /// Of `folder`, where Ninja runs. Errors: not_found (there is none), io, limit.
  static Result<NinjaManifest> read(os::FileSystem& files, const std::string& folder,
                                    const std::string& name = "build.ninja");

  const std::vector<NinjaEdge>& edges() const { return edges_; }
  /// All files that were read, absolute, in order; those that could not be as well.
  const std::vector<std::string>& files() const { return files_; }

  /// Where Ninja keeps its logs, as spelled; empty: where it runs.
  std::string log_folder() const { return variable(0, "builddir"); }

  /// What a variable means for an edge: "command", "depfile", "deps", "rspfile", "rspfile_content",
  /// "generator", "restat"; empty if it is not set. Paths in $in and $out are quoted for a shell, as Ninja
  /// does it. Bindings that refer to each other in a circle are empty.
  std::string value(const NinjaEdge& edge, std::string_view variable) const;

 private:
  friend class NinjaParser;
  struct Scope {
    std::optional<std::size_t> outer;
    std::map<std::string, std::string, std::less<>> variables;
    /// rule -> variable -> text that is expanded for each edge
    std::map<std::string, std::map<std::string, std::string, std::less<>>, std::less<>> rules;
  };
  NinjaManifest() = default;
  std::string expanded(const NinjaEdge& edge, std::string_view variable, int depth, int& expansions) const;
  std::string variable(std::size_t scope, std::string_view name) const;

  std::deque<Scope> scopes_;
  std::vector<NinjaEdge> edges_;
  std::vector<std::string> files_;
};

}  // namespace hallmark::inspect
