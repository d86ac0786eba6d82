#include "kernels/ninja_file.h"

namespace hallmark::kernels {
namespace {

/// Ninja's paths: blanks and colons part them, `$` begins a reference.
void append_path(std::string& text, std::string_view path) {
  for (const char c : path) {
    if (c == ' ' || c == ':' || c == '$') text += '$';
    text += c;
  }
}

void append_paths(std::string& text, std::string_view before, const std::vector<std::string>& paths) {
  if (paths.empty()) return;
  text += before;
  for (const auto& path : paths) {
    text += ' ';
    append_path(text, path);
  }
}

void append_variables(std::string& text, std::string_view indent, const NinjaVariables& variables) {
  for (const auto& [name, value] : variables)
    text.append(indent).append(name).append(" = ").append(value).append("\n");
}

void append_edge(std::string& text, const NinjaEdge& edge) {
  append_paths(text, "build", edge.outputs);
  text.append(": ").append(edge.rule);
  append_paths(text, "", edge.inputs);
  append_paths(text, " |", edge.implicit);
  append_paths(text, " ||", edge.order_only);
  text += '\n';
  append_variables(text, "  ", edge.variables);
}

}  // namespace

std::string ninja_value(std::string_view text) {
  std::string value;
  value.reserve(text.size());
  for (const char c : text) {
    if (c == '$') value += '$';
    value += c;
  }
  return value;
}

std::string text_of(const NinjaFile& file) {
  std::string text =
      "# Made by `hallmark build` from hallmark.toml, and made again when that changes: edits here are "
      "lost.\n"
      "ninja_required_version = 1.8\n";
  append_variables(text, "", file.variables);
  for (const auto& pool : file.pools)
    text.append("\npool ").append(pool.name).append("\n  depth = ").append(std::to_string(pool.depth)) +=
        '\n';
  for (const auto& rule : file.rules) {
    text.append("\nrule ").append(rule.name) += '\n';
    append_variables(text, "  ", rule.variables);
  }
  text += '\n';
  for (const auto& edge : file.edges) append_edge(text, edge);
  if (!file.defaults.empty()) {
    append_paths(text, "\ndefault", file.defaults);
    text += '\n';
  }
  return text;
}

}  // namespace hallmark::kernels
