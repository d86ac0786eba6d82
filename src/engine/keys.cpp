#include "engine/keys.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "base/path.h"
#include "digest/encoding.h"
#include "engine/kinds.h"
#include "engine/outputs.h"

namespace hallmark::engine {
namespace {

std::string_view word_of(model::StreamKind kind) {
  switch (kind) {
    case model::StreamKind::closed:
      return "closed";
    case model::StreamKind::null_device:
      return "null device";
    case model::StreamKind::file:
      return "file";
    case model::StreamKind::pipe:
      return "pipe";
    case model::StreamKind::tty:
      return "terminal";
    case model::StreamKind::other:
      return "other";
  }
  return "other";
}

/// A tool can tell a terminal, and a stream that is closed; files, pipes and devices are all the same to it.
std::string_view output_word(model::StreamKind kind) {
  return kind == model::StreamKind::tty || kind == model::StreamKind::closed ? word_of(kind) : "no terminal";
}

/// Words of MAKEFLAGS as they stand; a backslash protects a blank.
std::vector<std::string_view> words_of_makeflags(std::string_view value) {
  std::vector<std::string_view> words;
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  for (std::size_t at = 0; at < value.size();) {
    if (is_blank(value[at])) {
      ++at;
      continue;
    }
    const auto start = at;
    while (at < value.size() && !is_blank(value[at])) at += value[at] == '\\' ? 2 : 1;
    words.push_back(value.substr(start, at - start));
  }
  return words;
}

bool is_number(std::string_view word) {
  return !word.empty() &&
         std::all_of(word.begin(), word.end(), [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
}

/// "--jobs=8" and others that change no result. Abbreviations count: a needless run at most.
bool is_idle_long_option(std::string_view word) {
  constexpr std::string_view kIdle[] = {
      "--jobs",     "--jobserver-auth", "--jobserver-fds",   "--jobserver-style",   "--load-average",
      "--max-load", "--output-sync",    "--print-directory", "--no-print-directory"};
  return std::find(std::begin(kIdle), std::end(kIdle), word.substr(0, word.find('='))) != std::end(kIdle);
}

/// What counts of single letters, "kwj8" or "-kw", with a dash in front; empty: nothing. `number_follows`:
/// the next word, if it is a number, belongs to the last letter.
std::string counted_letters(std::string_view word, bool& number_follows) {
  if (word.starts_with('-')) word.remove_prefix(1);
  std::string counted = "-";
  for (std::size_t i = 0; i < word.size(); ++i) {
    const char letter = word[i];
    if (letter == 'w') continue;
    if (letter == 'j' || letter == 'l' || letter == 'O') {
      // What stands behind it is its value.
      number_follows = letter != 'O' && i + 1 == word.size();
      break;
    }
    if (std::string_view("CEIWfo").find(letter) != std::string_view::npos) {
      counted += word.substr(i);
      break;
    }
    counted += letter;
  }
  return counted.size() > 1 ? counted : std::string();
}

/// What counts of PWD besides its text, which Bindings treat by its effect. nullopt: that it is not set.
std::optional<std::string> pwd_note(PwdKind pwd, const model::Command& command) {
  if (pwd == PwdKind::other_name) {
    const auto& value = command.environment.at("PWD");
    // "/r/." and "/r" fold alike; a tool shows it as it is spelled.
    const bool odd = absolute_path("/", value) != value;
    return "another name of the working folder" + (odd ? ": " + value : std::string());
  }
  // To a compiler all else means the folder itself.
  if (!may_read_any_variable(command.argv.front())) return "no other name of the working folder";
  if (pwd == PwdKind::unset) return std::nullopt;
  return pwd == PwdKind::folder_itself ? "the working folder" : "another folder";
}

}  // namespace

// As GNU make lays it out ("Communicating Options to a Sub-make"): the first word is the letters of options
// without an argument and has no dash, unless there are none of these; long options and those with an
// argument follow; behind "--" stand the definitions of variables. From a user it may also be definitions
// alone.
std::string counted_makeflags(std::string_view value, bool flags) {
  std::string counted;
  const auto keep = [&](std::string_view word) {
    if (!counted.empty()) counted += ' ';
    counted += word;
  };
  const auto words = words_of_makeflags(value);
  bool definitions = false;
  bool number_follows = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto word = words[i];
    const bool skip_number = std::exchange(number_follows, false) && is_number(word);
    if (definitions) {
      keep(word);
    } else if (word == "--") {
      definitions = true;
      // The mark stays: a definition is never taken for an option.
      if (i + 1 < words.size()) keep(word);
    } else if (skip_number) {
      continue;
    } else if (word.starts_with("--")) {
      number_follows = word == "--jobs" || word == "--load-average" || word == "--max-load";
      if (flags && !is_idle_long_option(word)) keep(word);
    } else if (word.starts_with('-') || (i == 0 && word.find('=') == std::string_view::npos)) {
      const auto letters = counted_letters(word, number_follows);
      if (flags && !letters.empty()) keep(letters);
    } else if (flags || word.find('=') != std::string_view::npos) {
      keep(word);
    }
  }
  return counted;
}

CommandKey key_of(const model::Command& command, const Bindings& bindings, PwdKind pwd,
                  std::span<const std::string> ignored, std::string_view machine, std::string_view finisher) {
  CommandKey key;
  auto& text = key.text;
  const bool any_variable = may_read_any_variable(command.argv.front());
  for (const auto& argument : command.argv) text.argv.push_back(bindings.fold_or_mark(argument));
  text.cwd = bindings.fold_or_mark(command.cwd);
  for (const auto& [name, value] : command.environment) {
    if (is_bound_variable(name)) {
      // The value is treated by its effect; that there is one can matter by itself.
      if (name == "PATH" && bindings.path_is_text())
        text.environment.emplace_back(name, bindings.fold_or_mark(value));
      else if (name == "PATH" || name == "HOME" || name == "TMPDIR" || name == "VIRTUAL_ENV")
        text.environment.emplace_back(name, value.empty() ? "" : "(any)");
      continue;
    }
    if (name == "MAKEFLAGS") {
      if (auto counted = counted_makeflags(value, any_variable); !counted.empty())
        text.environment.emplace_back(name, bindings.fold_or_mark(counted));
      continue;
    }
    if (!is_ignored_variable(name, ignored))
      text.environment.emplace_back(name, bindings.fold_or_mark(value));
  }
  const auto note = [&](std::string_view name, std::string_view value) {
    text.others.push_back(std::string(name) + "=" + std::string(value));
  };
  note("stdin", word_of(command.in));
  note("stdout", output_word(command.out));
  note("stderr", output_word(command.err));
  note("merged", command.merged ? "yes" : "no");
  if (const auto told = pwd_note(pwd, command)) note("PWD", *told);
  note("uid", std::to_string(command.uid));
  note("umask", std::to_string(command.umask));
  note("machine", machine);
  if (!finisher.empty()) text.others.emplace_back(finisher);
  for (const auto& relation : bindings.relations()) note("place", relation);

  digest::Encoder out;
  out.text("hallmark weak key").number(kKeyFormat).number(text.argv.size());
  for (const auto& argument : text.argv) out.text(argument);
  out.text(text.cwd).number(text.environment.size());
  for (const auto& [name, value] : text.environment) out.text(name).text(value);
  out.number(text.others.size());
  for (const auto& other : text.others) out.text(other);
  key.weak = out.key();
  return key;
}

digest::Key site_of(const model::Command& command, const std::string& root, const std::string& output) {
  digest::Encoder out;
  out.text("hallmark site").text(root).text(command.cwd);
  if (!output.empty()) {
    out.text("output").text(output);
  } else {
    out.text("program").text(path::base_name(command.argv.front())).text(command.argv.back());
  }
  return out.key();
}

}  // namespace hallmark::engine
