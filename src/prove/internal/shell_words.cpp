#include "prove/internal/shell_words.h"

#include <utility>

namespace hallmark::prove {
namespace {

class Splitter {
 public:
  explicit Splitter(std::string_view line) : line_(line) {}

  std::vector<std::vector<std::string>> split() {
    while (at_ < line_.size()) {
      const char c = line_[at_];
      if (c == ' ' || c == '\t') {
        end_word();
        ++at_;
      } else if (c == '&' || c == '|' || c == ';' || c == '\n') {
        end_command();
        ++at_;
      } else if (c == '\'') {
        in_word_ = true;
        take_until_quote();
      } else if (c == '"') {
        in_word_ = true;
        take_double_quoted();
      } else {
        in_word_ = true;
        if (c == '\\') ++at_;
        take();
      }
    }
    end_command();
    return std::move(commands_);
  }

 private:
  void take() {
    if (at_ < line_.size()) word_.push_back(line_[at_++]);
  }

  void take_until_quote() {
    ++at_;
    while (at_ < line_.size() && line_[at_] != '\'') take();
    ++at_;
  }

  /// A backslash protects only `"`, `\`, `$` and a backquote.
  void take_double_quoted() {
    constexpr std::string_view kProtected = "\"\\$`";
    ++at_;
    while (at_ < line_.size() && line_[at_] != '"') {
      if (line_[at_] == '\\' && at_ + 1 < line_.size() &&
          kProtected.find(line_[at_ + 1]) != std::string_view::npos)
        ++at_;
      take();
    }
    ++at_;
  }

  void end_word() {
    if (in_word_) words_.push_back(std::exchange(word_, {}));
    in_word_ = false;
  }

  void end_command() {
    end_word();
    if (!words_.empty()) commands_.push_back(std::exchange(words_, {}));
  }

  std::string_view line_;
  std::size_t at_ = 0;
  bool in_word_ = false;
  std::string word_;
  std::vector<std::string> words_;
  std::vector<std::vector<std::string>> commands_;
};

}  // namespace

std::vector<std::vector<std::string>> shell_commands(std::string_view line) {
  return Splitter(line).split();
}

}  // namespace hallmark::prove
