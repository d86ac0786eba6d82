#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include "manifest/internal/node.h"

#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/format.h"
#include "base/limits.h"

namespace hallmark::manifest {
namespace {

Place place_of(const toml::source_region& region) {
  return {static_cast<std::uint32_t>(region.begin.line), static_cast<std::uint32_t>(region.begin.column)};
}

bool is_before(const Place& one, const Place& other) {
  return one.line != other.line ? one.line < other.line : one.column < other.column;
}

Node node_of(const toml::node& from);

void add_members(Node& node, const toml::table& table) {
  for (const auto& [key, value] : table)
    node.members.push_back({std::string(key.str()), place_of(key.source()), node_of(value)});
  // The library keeps them sorted by name.
  std::ranges::stable_sort(node.members, is_before, &Member::place);
}

Node node_of(const toml::node& from) {
  Node node;
  node.place = place_of(from.source());
  if (const auto* table = from.as_table()) {
    node.kind = Node::Kind::table;
    add_members(node, *table);
  } else if (const auto* array = from.as_array()) {
    node.kind = Node::Kind::array;
    for (const auto& item : *array) node.items.push_back(node_of(item));
  } else if (const auto* text = from.as_string()) {
    node.kind = Node::Kind::text;
    node.text = text->get();
  } else if (const auto* integer = from.as_integer()) {
    node.kind = Node::Kind::integer;
    node.text = formatted("{}", integer->get());
  } else if (const auto* boolean = from.as_boolean()) {
    node.kind = Node::Kind::boolean;
    node.text = boolean->get() ? "true" : "false";
  } else if (const auto* real = from.as_floating_point()) {
    node.kind = Node::Kind::real;
    node.text = std::isfinite(real->get()) ? formatted("{}", real->get()) : "null";
  } else {
    node.kind = Node::Kind::date;
  }
  return node;
}

void append_json_text(std::string& json, std::string_view text) {
  json += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') json += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      json += formatted("\\u{:04x}", static_cast<int>(c));
    } else {
      json += c;
    }
  }
  json += '"';
}

void append_json(std::string& json, const Node& node) {
  switch (node.kind) {
    case Node::Kind::text:
      return append_json_text(json, node.text);
    case Node::Kind::integer:
    case Node::Kind::real:
    case Node::Kind::boolean:
      json += node.text;
      return;
    case Node::Kind::date:
      json += "null";
      return;
    case Node::Kind::array:
      json += '[';
      for (const auto& item : node.items) {
        if (&item != &node.items.front()) json += ',';
        append_json(json, item);
      }
      json += ']';
      return;
    case Node::Kind::table:
      json += '{';
      for (const auto& member : node.members) {
        if (&member != &node.members.front()) json += ',';
        append_json_text(json, member.key);
        json += ':';
        append_json(json, member.value);
      }
      json += '}';
      return;
  }
}

/// The library reads a.b.c... by recursion, without a limit: a place where too many dots stand outside of
/// quotes.
std::optional<Place> too_deep(std::string_view text) {
  Place place{1, 0};
  std::size_t dots = 0;
  char quote = 0;
  for (const char c : text) {
    ++place.column;
    if (c == '\n') {
      ++place.line;
      place.column = 0;
      dots = 0;
      quote = 0;
    } else if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '.' && ++dots > limits::kManifestKeyParts) {
      return place;
    }
  }
  return std::nullopt;
}

}  // namespace

std::string_view name_of(Node::Kind kind) {
  switch (kind) {
    case Node::Kind::text:
      return "a text";
    case Node::Kind::integer:
      return "a whole number";
    case Node::Kind::real:
      return "a number";
    case Node::Kind::boolean:
      return "true or false";
    case Node::Kind::date:
      return "a date";
    case Node::Kind::array:
      return "a list";
    case Node::Kind::table:
      break;
  }
  return "a table";
}

Node read_toml(std::string_view text, std::vector<Problem>& problems) {
  if (const auto place = too_deep(text)) {
    problems.push_back(
        {*place, formatted("more than {} dots in one line (kManifestKeyParts)", limits::kManifestKeyParts),
         "no key nests so deep"});
    return {};
  }
  const auto parsed = toml::parse(text);
  if (!parsed) {
    problems.push_back({place_of(parsed.error().source()), std::string(parsed.error().description()), {}});
    return {};
  }
  Node node;
  node.kind = Node::Kind::table;
  add_members(node, parsed.table());
  return node;
}

std::string json_of(const Node& node) {
  std::string json;
  append_json(json, node);
  return json;
}

}  // namespace hallmark::manifest
