#include "inspect/cmake_lists.h"

#include <algorithm>
#include <cctype>

namespace hallmark::inspect {
namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// Reads one file (cmake-language(7)).
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  std::vector<CMakeCommand> read() {
    while (skip_space()) {
      CMakeCommand command;
      command.line = line_;
      while (at_ < text_.size() && is_word(text_[at_]))
        command.name.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(take()))));
      if (command.name.empty() || !skip_space() || text_[at_] != '(') break;
      take();
      if (!read_arguments(command.arguments)) break;
      commands_.push_back(std::move(command));
    }
    return std::move(commands_);
  }

 private:
  char take() {
    const char c = text_[at_++];
    if (c == '\n') ++line_;
    return c;
  }

  /// Blanks, line breaks and comments. False at the end.
  bool skip_space() {
    while (at_ < text_.size()) {
      if (text_[at_] == '#') {
        take();
        if (const auto bracket = bracket_length(); bracket > 0) {
          static_cast<void>(bracketed(bracket));
        } else {
          while (at_ < text_.size() && text_[at_] != '\n') take();
        }
      } else if (std::isspace(static_cast<unsigned char>(text_[at_])) != 0) {
        take();
      } else {
        return true;
      }
    }
    return false;
  }

  /// Of "[==[" at this place; 0: there is none.
  std::size_t bracket_length() const {
    if (at_ >= text_.size() || text_[at_] != '[') return 0;
    auto end = at_ + 1;
    while (end < text_.size() && text_[end] == '=') ++end;
    return end < text_.size() && text_[end] == '[' ? end + 1 - at_ : 0;
  }

  std::string bracketed(std::size_t length) {
    const auto close = "]" + std::string(length - 2, '=') + "]";
    const auto start = at_ + length;
    const auto end = std::min(text_.find(close, start), text_.size());
    std::string inner(text_.substr(start, end - start));
    while (at_ < std::min(end + close.size(), text_.size())) take();
    return inner;
  }

  /// Up to the parenthesis that closes; false at the end of the text.
  bool read_arguments(std::vector<std::string>& arguments) {
    std::size_t depth = 1;
    while (skip_space()) {
      const char c = text_[at_];
      if (c == '(' || c == ')') {
        take();
        depth = c == '(' ? depth + 1 : depth - 1;
        if (depth == 0) return true;
      } else if (const auto bracket = bracket_length(); bracket > 0) {
        arguments.push_back(bracketed(bracket));
      } else {
        arguments.push_back(c == '"' ? quoted() : unquoted());
      }
    }
    return false;
  }

  std::string quoted() {
    std::string word;
    take();
    while (at_ < text_.size() && text_[at_] != '"') {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) take();
      word.push_back(take());
    }
    if (at_ < text_.size()) take();
    return word;
  }

  std::string unquoted() {
    std::string word;
    while (at_ < text_.size() &&
           std::string_view(" \t\r\n()#\"").find(text_[at_]) == std::string_view::npos) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) take();
      word.push_back(take());
    }
    return word;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  std::vector<CMakeCommand> commands_;
};

}  // namespace

std::vector<CMakeCommand> cmake_commands_in(std::string_view text) {
  return Reader(text).read();
}

bool is_frozen_glob(const CMakeCommand& command) {
  const auto& words = command.arguments;
  return command.name == "file" && !words.empty() && (words[0] == "GLOB" || words[0] == "GLOB_RECURSE") &&
         std::find(words.begin(), words.end(), "CONFIGURE_DEPENDS") == words.end();
}

}  // namespace hallmark::inspect
