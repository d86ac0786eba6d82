// Node: what a TOML file says, as values that know where they stand. The rest of the room knows no TOML
// library.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "manifest/manifest.h"
#include "manifest/parse.h"

namespace hallmark::manifest {

struct Member;

struct Node {
  enum class Kind : std::uint8_t { text, integer, real, boolean, date, array, table };
  Kind kind = Kind::table;
  Place place;
  std::string text;  ///< of a scalar, as Value has it
  std::vector<Node> items;
  std::vector<Member> members;  ///< in the order written
};

struct Member {
  std::string key;
  Place place;
  Node value;
};

/// "a text", "a list", ...
std::string_view name_of(Node::Kind kind);

/// A syntax error is a problem, and then there is no node to speak of.
Node read_toml(std::string_view text, std::vector<Problem>& problems);

/// As JSON, on one line.
std::string json_of(const Node& node);

}  // namespace hallmark::manifest
