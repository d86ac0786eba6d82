#include <algorithm>
#include <string>
#include <vector>

#include "base/format.h"
#include "cli/help.h"

namespace hallmark::cli {
namespace {

std::string_view first_word(const Verb& verb) {
  return verb.name.substr(0, verb.name.find(' '));
}

std::string_view second_word(const Verb& verb) {
  const auto space = verb.name.find(' ');
  return space == std::string_view::npos ? std::string_view() : verb.name.substr(space + 1);
}

/// First words of verbs in the table's order, each with the verbs that begin with it.
std::vector<std::pair<std::string_view, std::vector<const Verb*>>> verbs_by_first_word() {
  std::vector<std::pair<std::string_view, std::vector<const Verb*>>> groups;
  for (const Verb& verb : verbs()) {
    if (verb.hidden) continue;
    if (groups.empty() || groups.back().first != first_word(verb)) groups.push_back({first_word(verb), {}});
    groups.back().second.push_back(&verb);
  }
  return groups;
}

std::string joined(const std::vector<std::string_view>& words, char between = ' ') {
  std::string text;
  for (const std::string_view word : words) {
    if (!text.empty()) text += between;
    text += word;
  }
  return text;
}

std::vector<std::string_view> flag_names(const std::vector<const Verb*>& group) {
  std::vector<std::string_view> names;
  const auto add = [&](std::string_view name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  for (const Verb* verb : group)
    for (const Flag& flag : verb->flags) add(flag.name);
  for (const Flag& flag : common_flags()) add(flag.name);
  return names;
}

/// Words that may follow the verb's first word.
std::vector<std::string_view> operand_words(const std::vector<const Verb*>& group) {
  std::vector<std::string_view> words;
  for (const Verb* verb : group) {
    if (!second_word(*verb).empty()) words.push_back(second_word(*verb));
    words.insert(words.end(), verb->choices.begin(), verb->choices.end());
    if (verb->operands != Operands::verb) continue;
    for (const auto& [first, named] : verbs_by_first_word()) words.push_back(first);
  }
  return words;
}

bool takes_command(const std::vector<const Verb*>& group) {
  return group.size() == 1 && group.front()->operands == Operands::command;
}

/// Flags with a value, so that the word behind one is not taken for the command.
std::vector<std::string_view> valued_flags(const std::vector<const Verb*>& group) {
  std::vector<std::string_view> names;
  for (const Verb* verb : group)
    for (const Flag& flag : verb->flags)
      if (!flag.value.empty()) names.push_back(flag.name);
  return names;
}

std::string bash() {
  std::vector<std::string_view> firsts;
  std::string cases;
  for (const auto& [first, group] : verbs_by_first_word()) {
    firsts.push_back(first);
    if (takes_command(group)) {
      cases += formatted(R"(    {})
      local i=2
      while (( i < COMP_CWORD )); do
        case ${{COMP_WORDS[i]}} in
          --) i=$(( i + 1 )); break ;;
          {}) i=$(( i + 2 )) ;;
          -*) i=$(( i + 1 )) ;;
          *) break ;;
        esac
      done
      if (( i <= COMP_CWORD )) && [[ $cur != -* || ${{COMP_WORDS[i-1]}} == -- ]]; then
        if declare -F _command_offset >/dev/null; then _command_offset $i; else COMPREPLY=($(compgen -c -f -- "$cur")); fi
        return
      fi
      if (( i > COMP_CWORD )); then COMPREPLY=($(compgen -f -- "$cur")); return; fi
      words="{}" ;;
)",
                         first, joined(valued_flags(group), '|'), joined(flag_names(group)));
    } else {
      cases += formatted("    {}) words=\"{} {}\" ;;\n", first, joined(operand_words(group)),
                         joined(flag_names(group)));
    }
  }
  return formatted(R"(# bash completions of hallmark
_hallmark() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} words="{}"
  if (( COMP_CWORD > 1 )); then
    case ${{COMP_WORDS[1]}} in
{}    *) words="" ;;
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}}
complete -o default -F _hallmark hallmark
)",
                   joined(firsts), cases);
}

/// Within single quotes, where a quote ends them; zsh also reads brackets and colons in a flag's description.
std::string quoted(std::string_view text, std::string_view escaped = {}) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
      continue;
    }
    if (escaped.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string zsh() {
  std::string firsts;
  std::string cases;
  for (const auto& [first, group] : verbs_by_first_word()) {
    const std::string_view summary =
        group.size() == 1 ? group.front()->summary : std::string_view("Care for the store");
    firsts += formatted("    '{}:{}'\n", first, quoted(summary, ":"));
    std::string arguments;
    const auto add = [&](const Flag& flag) {
      const std::string one =
          formatted(" '{}{}[{}]{}'", flag.repeatable ? "*" : "", flag.name, quoted(flag.help, "[]:"),
                    flag.value.empty() ? std::string() : formatted(":{}:_files", flag.value));
      if (arguments.find(one) == std::string::npos) arguments += one;
    };
    for (const Verb* verb : group)
      for (const Flag& flag : verb->flags) add(flag);
    for (const Flag& flag : common_flags()) add(flag);
    if (takes_command(group)) {
      arguments += " '*::command:_normal'";
    } else if (const auto words = operand_words(group); !words.empty()) {
      arguments += formatted(" '1:word:({})'", joined(words));
    }
    cases += formatted("    {}) _arguments{} ;;\n", first, arguments);
  }
  return formatted(R"(#compdef hallmark
# zsh completions of hallmark
_hallmark() {{
  local -a verbs=(
{}  )
  if (( CURRENT == 2 )); then
    _describe verb verbs
    return
  fi
  shift words
  (( CURRENT-- ))
  case $words[1] in
{}  esac
}}
_hallmark "$@"
)",
                   firsts, cases);
}

std::string fish() {
  std::string out = "# fish completions of hallmark\ncomplete -c hallmark -f\n";
  for (const auto& [first, group] : verbs_by_first_word()) {
    const std::string_view summary =
        group.size() == 1 ? group.front()->summary : std::string_view("Care for the store");
    out += formatted("complete -c hallmark -n __fish_use_subcommand -a {} -d '{}'\n", first,
                     quoted(summary, "\\"));
    const std::string seen = formatted("complete -c hallmark -n '__fish_seen_subcommand_from {}'", first);
    for (const std::string_view word : operand_words(group)) out += formatted("{} -a {}\n", seen, word);
    std::vector<std::string_view> done;
    const auto add = [&](const Flag& flag) {
      if (std::find(done.begin(), done.end(), flag.name) != done.end()) return;
      done.push_back(flag.name);
      out += formatted("{} -l {}{} -d '{}'\n", seen, flag.name.substr(2), flag.value.empty() ? "" : " -r -F",
                       quoted(flag.help, "\\"));
    };
    for (const Verb* verb : group)
      for (const Flag& flag : verb->flags) add(flag);
    for (const Flag& flag : common_flags()) add(flag);
    if (takes_command(group)) out += formatted("{} -a '(__fish_complete_subcommand)'\n", seen);
  }
  return out;
}

}  // namespace

std::string completions(std::string_view shell) {
  if (shell == "bash") return bash();
  if (shell == "zsh") return zsh();
  return fish();
}

}  // namespace hallmark::cli
