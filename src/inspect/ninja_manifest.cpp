#include "inspect/ninja_manifest.h"

#include <algorithm>
#include <functional>

#include "base/path.h"

namespace hallmark::inspect {
namespace {

/// Rules' bindings refer to others; deeper is a circle.
constexpr int kBindingDepth = 16;

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

using Lookup = std::function<std::string(std::string_view)>;

/// Appends the meaning of the `$` at text[at] and moves `at` behind it.
void expand_dollar(std::string_view text, std::size_t& at, const Lookup& lookup, std::string& out) {
  if (++at >= text.size()) return;
  const char c = text[at];
  if (c == '{') {
    const auto end = text.find('}', at);
    out.append(lookup(text.substr(at + 1, end == std::string_view::npos ? end : end - at - 1)));
    at = end == std::string_view::npos ? text.size() : end + 1;
  } else if (is_name_character(c)) {
    auto end = at;
    while (end < text.size() && is_name_character(text[end])) ++end;
    out.append(lookup(text.substr(at, end - at)));
    at = end;
  } else {
    if (c != '\n') out.push_back(c);
    ++at;
    if (c == '\n') {
      while (at < text.size() && text[at] == ' ') ++at;
    }
  }
}

std::string expand(std::string_view text, const Lookup& lookup) {
  std::string out;
  std::size_t at = 0;
  while (at < text.size() && out.size() <= kNinjaValueBytes) {
    const auto dollar = std::min(text.find('$', at), text.size());
    out.append(text.substr(at, dollar - at));
    at = dollar;
    if (at < text.size()) expand_dollar(text, at, lookup, out);
  }
  out.resize(std::min(out.size(), kNinjaValueBytes));
  return out;
}

/// The logical line that begins at `at`: `$` before a line break continues it. Moves `at` behind it.
std::string_view take_line(std::string_view text, std::size_t& at) {
  const auto start = at;
  for (;;) {
    const auto end = text.find('\n', at);
    if (end == std::string_view::npos) {
      at = text.size();
      return text.substr(start);
    }
    at = end + 1;
    if (text[start] == '#') return text.substr(start, end - start);
    std::size_t dollars = 0;
    while (end > start + dollars && text[end - 1 - dollars] == '$') ++dollars;
    if (dollars % 2 == 0) return text.substr(start, end - start);
  }
}

std::string_view trimmed(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  while (text.ends_with(' ') || text.ends_with('\r')) text.remove_suffix(1);
  return text;
}

struct Binding {
  std::string_view name;
  std::string_view value;
};

std::optional<Binding> binding_in(std::string_view line) {
  const auto equals = line.find('=');
  if (equals == std::string_view::npos) return std::nullopt;
  auto value = line.substr(equals + 1);
  value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
  if (value.ends_with('\r')) value.remove_suffix(1);
  return Binding{trimmed(line.substr(0, equals)), value};
}

/// A path in a command, as Ninja writes it for the shell.
std::string shell_word(const std::string& path) {
  // Of GetShellEscapedString in Ninja's util.cc.
  const auto is_safe = [](char c) { return is_name_character(c) || c == '+' || c == '.' || c == '/'; };
  if (std::all_of(path.begin(), path.end(), is_safe)) return path;
  std::string word = "'";
  for (const char c : path) c == '\'' ? word.append("'\\''") : word.append(1, c);
  return word + "'";
}

std::string joined(const std::vector<std::string>& paths, std::size_t count, char between) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) text.push_back(between);
    text.append(shell_word(paths[i]));
  }
  return text;
}

}  // namespace

std::string ninja_path(std::string_view path) {
  std::vector<std::string_view> parts;
  const bool absolute = path.starts_with('/');
  std::size_t at = 0;
  while (at <= path.size()) {
    const auto end = std::min(path.find('/', at), path.size());
    const auto part = path.substr(at, end - at);
    at = end + 1;
    if (part.empty() || part == ".") continue;
    if (part == ".." && !parts.empty() && parts.back() != "..") {
      parts.pop_back();
    } else if (part != ".." || !absolute) {
      parts.push_back(part);
    }
  }
  std::string text = absolute ? "/" : "";
  for (const auto part : parts) {
    if (!text.empty() && !text.ends_with('/')) text.push_back('/');
    text.append(part);
  }
  return text.empty() ? "." : text;
}

class NinjaParser {
 public:
  NinjaParser(os::FileSystem& files, std::string folder, NinjaManifest& manifest)
      : files_(files), folder_(std::move(folder)), manifest_(manifest) {}

  Status file(const std::string& path, std::size_t scope, int depth) {
    manifest_.files_.push_back(path);
    HALLMARK_TRY(auto text, os::read_file(files_, path, kNinjaManifestBytes));
    // Line breaks of Windows are line breaks.
    std::size_t kept = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
      if (text[at] != '\r' || at + 1 == text.size() || text[at + 1] != '\n') text[kept++] = text[at];
    }
    text.resize(kept);
    open_.push_back(path);
    parse(text, scope, depth);
    open_.pop_back();
    return {};
  }

 private:
  enum class Block { none, rule, edge };

  void parse(std::string_view text, std::size_t scope, int depth) {
    std::size_t at = 0;
    Block block = Block::none;
    std::string rule;
    std::string_view statement;
    NinjaEdge edge;
    const auto lookup = [&](std::string_view name) { return manifest_.variable(scope, name); };
    const auto finish = [&] {
      if (block == Block::edge) finish_edge(std::move(edge), statement);
      edge = NinjaEdge();
      block = Block::none;
    };
    while (at < text.size()) {
      const auto line = take_line(text, at);
      const auto words = trimmed(line);
      if (words.empty() || words.front() == '#') continue;
      if (line.front() == ' ') {  // a binding of a rule or an edge
        const auto binding = binding_in(line);
        if (binding && block == Block::rule) {
          manifest_.scopes_[scope].rules[rule].insert_or_assign(std::string(binding->name), binding->value);
        } else if (binding && block == Block::edge) {
          const auto own = [&](std::string_view name) {
            const auto found = edge.bindings.find(name);
            return found != edge.bindings.end() ? found->second : lookup(name);
          };
          edge.bindings.insert_or_assign(std::string(binding->name), expand(binding->value, own));
        }
        continue;
      }
      finish();
      if (line.starts_with("rule ")) {
        block = Block::rule;
        rule = trimmed(line.substr(5));
        manifest_.scopes_[scope].rules[rule];
      } else if (line.starts_with("build ")) {
        block = Block::edge;
        statement = line.substr(6);
        edge.scope = scope;
      } else if (line.starts_with("include ") || line.starts_with("subninja ")) {
        if (depth < kNinjaIncludeDepth) include(line, scope, depth);
      } else if (line.starts_with("pool ")) {
        block = Block::rule;  // its bindings are nobody's
        rule = "pool";
      } else if (const auto binding = binding_in(line); binding && !line.starts_with("default ")) {
        manifest_.scopes_[scope].variables.insert_or_assign(std::string(binding->name),
                                                            expand(binding->value, lookup));
      }
    }
    finish();
  }

  void include(std::string_view line, std::size_t scope, int depth) {
    const bool is_own_scope = line.starts_with("subninja ");
    const auto name = expand(trimmed(line.substr(line.find(' ') + 1)),
                             [&](std::string_view variable) { return manifest_.variable(scope, variable); });
    if (is_own_scope) {
      manifest_.scopes_.push_back({scope, {}, {}});
      scope = manifest_.scopes_.size() - 1;
    }
    const auto path = path::join(folder_, name);
    // A circle ends in Ninja as well, with an error.
    if (std::find(open_.begin(), open_.end(), path) != open_.end() ||
        manifest_.files_.size() >= kNinjaManifests)
      return;
    // One that is missing is an error to Ninja, too: then nothing is built by this manifest.
    static_cast<void>(file(path, scope, depth + 1));
  }

  void finish_edge(NinjaEdge edge, std::string_view line) {
    const auto lookup = [&](std::string_view name) {
      const auto found = edge.bindings.find(name);
      return found != edge.bindings.end() ? found->second : manifest_.variable(edge.scope, name);
    };
    enum class Part { outputs, implicit_outputs, rule, inputs, implicit, order_only, validations };
    Part part = Part::outputs;
    std::string word;
    const auto take = [&] {
      if (word.empty()) return;
      switch (part) {
        case Part::outputs:
        case Part::implicit_outputs:
          edge.outputs.push_back(ninja_path(word));
          if (part == Part::outputs) edge.explicit_outputs = edge.outputs.size();
          break;
        case Part::rule:
          edge.rule = word;
          part = Part::inputs;
          break;
        case Part::inputs:
          edge.inputs.push_back(ninja_path(word));
          break;
        case Part::implicit:
          edge.implicit_inputs.push_back(ninja_path(word));
          break;
        case Part::order_only:
          edge.order_only.push_back(ninja_path(word));
          break;
        case Part::validations:
          break;
      }
      word.clear();
    };
    for (std::size_t at = 0; at < line.size();) {
      const char c = line[at];
      if (c == '$') {
        expand_dollar(line, at, lookup, word);
      } else if (c == ' ' || c == '\r') {
        take();
        ++at;
      } else if (c == ':' && (part == Part::outputs || part == Part::implicit_outputs)) {
        take();
        part = Part::rule;
        ++at;
      } else if (c == '|') {
        take();
        const auto next = at + 1 < line.size() ? line[at + 1] : ' ';
        if (part == Part::outputs || part == Part::implicit_outputs) {
          part = Part::implicit_outputs;
        } else {
          part = next == '|' ? Part::order_only : next == '@' ? Part::validations : Part::implicit;
        }
        at += next == '|' || next == '@' ? 2 : 1;
      } else {
        word.push_back(c);
        ++at;
      }
    }
    take();
    if (!edge.outputs.empty() && !edge.rule.empty()) manifest_.edges_.push_back(std::move(edge));
  }

  os::FileSystem& files_;
  std::string folder_;
  NinjaManifest& manifest_;
  std::vector<std::string> open_;  ///< files that are being read
};

Result<NinjaManifest> NinjaManifest::read(os::FileSystem& files, const std::string& folder,
                                          const std::string& name) {
  NinjaManifest manifest;
  manifest.scopes_.emplace_back();
  HALLMARK_CHECK(NinjaParser(files, folder, manifest).file(path::join(folder, name), 0, 0));
  return manifest;
}

std::string NinjaManifest::variable(std::size_t scope, std::string_view name) const {
  for (std::optional<std::size_t> at = scope; at; at = scopes_[*at].outer) {
    const auto found = scopes_[*at].variables.find(name);
    if (found != scopes_[*at].variables.end()) return found->second;
  }
  return {};
}

std::string NinjaManifest::value(const NinjaEdge& edge, std::string_view variable) const {
  int expansions = 0;
  return expanded(edge, variable, 0, expansions);
}

std::string NinjaManifest::expanded(const NinjaEdge& edge, std::string_view name, int depth,
                                    int& expansions) const {
  if (depth > kBindingDepth || ++expansions > kNinjaExpansions) return {};
  if (name == "in") return joined(edge.inputs, edge.inputs.size(), ' ');
  if (name == "in_newline") return joined(edge.inputs, edge.inputs.size(), '\n');
  if (name == "out") return joined(edge.outputs, edge.explicit_outputs, ' ');
  if (const auto own = edge.bindings.find(name); own != edge.bindings.end()) return own->second;
  for (std::optional<std::size_t> at = edge.scope; at; at = scopes_[*at].outer) {
    const auto rule = scopes_[*at].rules.find(edge.rule);
    if (rule == scopes_[*at].rules.end()) continue;
    const auto found = rule->second.find(name);
    if (found == rule->second.end()) break;
    return expand(found->second,
                  [&](std::string_view inner) { return expanded(edge, inner, depth + 1, expansions); });
  }
  return variable(edge.scope, name);
}

}  // namespace hallmark::inspect
