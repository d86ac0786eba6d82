#include "cli/help.h"

#include <algorithm>
#include <vector>

#include "base/format.h"

namespace hallmark::cli {
namespace {

constexpr std::size_t kWidth = 100;

/// Breaks `text` at blanks; keeps its own newlines. Each line but the first is indented.
std::string wrap(std::string_view text, std::size_t indent) {
  std::string out;
  std::size_t column = indent;
  bool at_start = true;
  std::size_t at = 0;
  while (at < text.size()) {
    if (text[at] == '\n') {
      out += '\n';
      if (at + 1 < text.size() && text[at + 1] != '\n') out.append(indent, ' ');
      column = indent;
      at_start = true;
      ++at;
      continue;
    }
    if (text[at] == ' ') {
      ++at;
      continue;
    }
    const auto end = std::min(text.find_first_of(" \n", at), text.size());
    const std::string_view word = text.substr(at, end - at);
    if (!at_start && column + 1 + word.size() > kWidth) {
      out += '\n';
      out.append(indent, ' ');
      column = indent;
      at_start = true;
    }
    if (!at_start) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
    at_start = false;
    at = end;
  }
  return out;
}

std::string spelled(const Flag& flag) {
  return flag.value.empty() ? std::string(flag.name) : formatted("{} {}", flag.name, flag.value);
}

/// Two columns: names as wide as the widest, texts wrapped beside them.
template <class Rows>
std::string two_columns(const Rows& rows) {
  std::size_t width = 0;
  for (const auto& [name, text] : rows) width = std::max(width, name.size());
  std::string out;
  for (const auto& [name, text] : rows)
    out += formatted("  {:<{}}  {}\n", name, width, wrap(text, width + 4));
  return out;
}

using Rows = std::vector<std::pair<std::string, std::string_view>>;

Rows flag_rows(const Verb& verb) {
  Rows rows;
  for (const std::span<const Flag> flags : {verb.flags, common_flags()})
    for (const Flag& flag : flags)
      rows.emplace_back(spelled(flag) + (flag.repeatable ? " ..." : ""), flag.help);
  return rows;
}

Rows described_rows(std::span<const Described> described) {
  Rows rows;
  for (const Described& each : described) rows.emplace_back(each.name, each.meaning);
  return rows;
}

}  // namespace

std::string synopsis(const Verb& verb) {
  std::string text = formatted("{} {}", kProgram, verb.name);
  for (const Flag& flag : verb.flags)
    text += formatted(" [{}]{}", spelled(flag), flag.repeatable ? "..." : "");
  if (!verb.operand.empty()) text += formatted(" {}", verb.operand);
  return text;
}

std::string overview() {
  Rows rows;
  for (const Verb& verb : verbs())
    if (!verb.hidden) rows.emplace_back(verb.name, verb.summary);
  return formatted("{}\n\nUsage: {} VERB [FLAGS]; `{} VERB --help` says more\n\n{}\nEnvironment:\n{}",
                   wrap(formatted("{} {}", kProgram, kPurpose), 0), kProgram, kProgram, two_columns(rows),
                   two_columns(described_rows(described_variables())));
}

std::string help_of(const Verb& verb) {
  std::string text = formatted("Usage: {}\n\n{}.\n", wrap(synopsis(verb), 9), verb.summary);
  if (!verb.detail.empty()) text += formatted("\n{}\n", wrap(verb.detail, 0));
  return text + formatted("\n{}", two_columns(flag_rows(verb)));
}

namespace {

/// In roff a backslash, a hyphen that must stay one, and a line that begins with a dot or quote are special.
std::string roff(std::string_view text) {
  std::string out;
  bool line_start = true;
  for (const char c : text) {
    if (line_start && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (c == '\n') {
      // An empty line begins a paragraph.
      out += out.ends_with('\n') ? ".PP\n" : "\n";
    } else {
      out += c;
    }
    line_start = c == '\n';
  }
  return out;
}

std::string roff_list(const Rows& rows) {
  std::string out;
  for (const auto& [name, text] : rows) out += formatted(".TP\n.B {}\n{}.\n", roff(name), roff(text));
  return out;
}

}  // namespace

std::string manual(std::string_view version) {
  std::string out = formatted(".TH HALLMARK 1 \"\" \"hallmark {}\" \"User Commands\"\n", version);
  out += formatted(".SH NAME\n{} \\- {}\n.SH SYNOPSIS\n", kProgram, roff(kPurpose));
  for (const Verb& verb : verbs())
    if (!verb.hidden) out += formatted(".B {}\n.br\n", roff(synopsis(verb)));
  out += ".SH VERBS\n";
  for (const Verb& verb : verbs()) {
    if (verb.hidden) continue;
    out += formatted(".SS {}\n{}.\n", roff(synopsis(verb)), roff(verb.summary));
    if (!verb.detail.empty()) out += formatted(".PP\n{}\n", roff(verb.detail));
    out += roff_list(flag_rows(verb));
  }
  out += ".SH ENVIRONMENT\n" + roff_list(described_rows(described_variables()));
  out += ".SH FILES\n" +
         roff_list({{"~/.config/hallmark/config.toml", "The user's settings"},
                    {"ROOT/.hallmark/config.toml", "The project's settings; they win over the user's"}});
  return out + ".SH EXIT CODES\n" + roff_list(described_rows(described_exit_codes()));
}

}  // namespace hallmark::cli
