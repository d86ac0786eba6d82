#include "prove/internal/shell_words.h"

#include <utility>

namespace hallmark::prove {
namespace {

class Splitter {
 public:
  explicit Splitter(std::string_view text) : text_(text) {}

  std::vector<ShellCommand> split() {
    while (at_ < text_.size() && !has_groups_) {
      const char c = text_[at_];
      if (c == ' ' || c == '\t') {
        end_word();
        ++at_;
      } else if (c == '\\') {
        take_escaped();
      } else if (c == '\'') {
        in_word_ = true;
        take_single_quoted();
      } else if (c == '"') {
        in_word_ = true;
        take_double_quoted();
      } else if (std::string_view("&|;\n").find(c) != std::string_view::npos) {
        take_operator(c);
      } else {
        take_plain(c);
      }
    }
    end_command();
    if (has_groups_) commands_.clear();
    return std::move(commands_);
  }

 private:
  void take() {
    if (at_ < text_.size()) word_.push_back(text_[at_++]);
  }

  /// A line break behind a backslash is nothing.
  void take_escaped() {
    ++at_;
    if (at_ < text_.size() && text_[at_] == '\n') {
      ++at_;
      return;
    }
    in_word_ = true;
    take();
  }

  void take_plain(char c) {
    if (c == '(' || c == ')' || c == '`' || ((c == '{' || c == '}') && !in_word_)) has_groups_ = true;
    take_dollar(c);
    if (std::string_view("<>*?[~").find(c) != std::string_view::npos) command_.is_plain = false;
    in_word_ = true;
    take();
  }

  void take_dollar(char c) {
    if (c != '$') return;
    command_.is_plain = false;
    if (text_.substr(at_).starts_with("$(")) has_groups_ = true;
  }

  void take_single_quoted() {
    ++at_;
    while (at_ < text_.size() && text_[at_] != '\'') take();
    ++at_;
  }

  /// A backslash protects only `"`, `\`, `$` and a backquote.
  void take_double_quoted() {
    constexpr std::string_view kProtected = "\"\\$`";
    ++at_;
    while (at_ < text_.size() && text_[at_] != '"') {
      if (text_[at_] == '\\' && at_ + 1 < text_.size() &&
          kProtected.find(text_[at_ + 1]) != std::string_view::npos) {
        ++at_;
      } else {
        if (text_[at_] == '`') has_groups_ = true;
        take_dollar(text_[at_]);
      }
      take();
    }
    ++at_;
  }

  void take_operator(char c) {
    const bool is_and = text_.substr(at_).starts_with("&&");
    const bool is_plain = is_and || c == '\n';
    if (!is_plain) command_.is_plain = false;
    end_command();
    if (!is_plain) command_.is_plain = false;  // the next one may not run, or reads what this one says
    if (c == '\n') ++line_;
    at_ += is_and ? 2 : 1;
  }

  void end_word() {
    if (in_word_) command_.words.push_back(std::exchange(word_, {}));
    in_word_ = false;
  }

  void end_command() {
    end_word();
    auto command = std::exchange(command_, {});
    command.line = line_;
    if (!command.words.empty()) commands_.push_back(std::move(command));
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_ = 0;
  bool has_groups_ = false;
  bool in_word_ = false;
  std::string word_;
  ShellCommand command_;
  std::vector<ShellCommand> commands_;
};

}  // namespace

std::vector<ShellCommand> shell_commands(std::string_view text) {
  return Splitter(text).split();
}

}  // namespace hallmark::prove
