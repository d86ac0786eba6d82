#include "inspect/includes.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace hallmark::inspect {
namespace {

constexpr std::string_view kBlanks = " \t\r\f\v";

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

void skip_blanks(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
}

std::string_view take_word(std::string_view& text) {
  skip_blanks(text);
  std::size_t end = 0;
  while (end < text.size() && is_word(text[end])) ++end;
  const auto word = text.substr(0, end);
  text.remove_prefix(end);
  return word;
}

/// Hands out the logical lines that begin with `#`, without comments.
class Directives {
 public:
  explicit Directives(std::string_view text) : text_(text) {}

  /// The next one, behind its `#`; nullopt at the end.
  std::optional<std::string_view> next() {
    while (at_ < text_.size()) {
      line_of_directive_ = line_;
      bool is_directive = false;
      directive_.clear();
      take_line(is_directive);
      if (is_directive) return directive_;
    }
    return std::nullopt;
  }
  std::size_t line() const { return line_of_directive_; }

 private:
  /// Moves behind one logical line; keeps it without comments if its first character is `#`.
  void take_line(bool& is_directive) {
    bool is_first = true;  // nothing but blanks so far
    while (at_ < text_.size()) {
      const char c = text_[at_];
      const auto rest = text_.substr(at_);
      if (c == '\n') {
        advance(1);
        return;
      }
      if (c == '\\' && (rest.starts_with("\\\n") || rest.starts_with("\\\r\n"))) {
        advance(rest[1] == '\n' ? 2 : 3);
      } else if (rest.starts_with("/*")) {
        const auto end = text_.find("*/", at_ + 2);
        advance(end == std::string_view::npos ? rest.size() : end + 2 - at_);
        if (is_directive) directive_.push_back(' ');
      } else if (rest.starts_with("//")) {
        skip_line_comment();
      } else if (c == '"' && is_directive) {
        take_quoted();
      } else if (c == '"' && at_ > 0 && text_[at_ - 1] == 'R') {
        skip_raw_string();
        is_first = false;
      } else if ((c == '"' || c == '\'') && !is_directive) {
        skip_literal(c);
        is_first = false;
      } else if (c == '#' && is_first) {
        is_directive = true;
        is_first = false;
        advance(1);
      } else {
        is_first = is_first && kBlanks.find(c) != std::string_view::npos;
        const auto plain =
            is_first ? 1 : std::max<std::size_t>(1, std::min(rest.find_first_of("\n\\/\"'"), rest.size()));
        if (is_directive) directive_.append(rest.substr(0, plain));
        advance(plain);
      }
    }
  }

  /// In a directive no comment begins within quotes.
  void take_quoted() {
    const auto line_end = std::min(text_.find('\n', at_), text_.size());
    auto end = at_ + 1;
    while (end < line_end && text_[end] != '"') end += text_[end] == '\\' ? 2 : 1;
    end = std::min(end + 1, line_end);
    directive_.append(text_.substr(at_, end - at_));
    advance(end - at_);
  }

  void skip_line_comment() {
    while (at_ < text_.size() && text_[at_] != '\n') {
      const bool continues = text_[at_] == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n';
      advance(continues ? 2 : 1);
    }
  }

  /// Up to its end or that of the line. An apostrophe between digits only parts them.
  void skip_literal(char quote) {
    if (quote == '\'' && is_in_number()) {
      advance(1);
      return;
    }
    advance(1);
    while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n')
      advance(text_[at_] == '\\' && at_ + 1 < text_.size() ? 2 : 1);
    if (at_ < text_.size() && text_[at_] == quote) advance(1);
  }

  /// Whether the word that ends here begins with a digit; L'x' and u8'x' do not.
  bool is_in_number() const {
    auto begin = at_;
    while (begin > 0 && (is_word(text_[begin - 1]) || text_[begin - 1] == '\'')) --begin;
    return begin < at_ && text_[begin] >= '0' && text_[begin] <= '9';
  }

  void skip_raw_string() {
    const auto open = text_.find('(', at_);
    constexpr std::size_t kDelimiter = 16;
    if (open == std::string_view::npos || open - at_ - 1 > kDelimiter) {
      advance(1);
      return;
    }
    const auto end = ")" + std::string(text_.substr(at_ + 1, open - at_ - 1)) + "\"";
    const auto close = text_.find(end, open);
    advance(close == std::string_view::npos ? text_.size() - at_ : close + end.size() - at_);
  }

  void advance(std::size_t count) {
    count = std::min(count, text_.size() - at_);
    line_ +=
        static_cast<std::size_t>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                            text_.begin() + static_cast<std::ptrdiff_t>(at_ + count), '\n'));
    at_ += count;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  std::size_t line_of_directive_ = 1;
  std::string directive_;
};

/// One #if with all that it rules until its #endif.
struct Branch {
  std::vector<MacroCondition> conditions;  ///< of the part that is being read
  bool undecided = false;
  bool never = false;
  bool always = false;
  bool taken = false;  ///< an earlier part is always read
};

/// `defined(X)`, `defined X`, `!defined(X)`, and these joined by &&; nullopt: anything else.
std::optional<std::vector<MacroCondition>> conditions_in(std::string_view text) {
  std::vector<MacroCondition> found;
  for (;;) {
    skip_blanks(text);
    MacroCondition condition;
    while (text.starts_with('!')) {
      condition.defined = !condition.defined;
      text.remove_prefix(1);
      skip_blanks(text);
    }
    if (take_word(text) != "defined") return std::nullopt;
    skip_blanks(text);
    const bool open = text.starts_with('(');
    if (open) text.remove_prefix(1);
    condition.macro = take_word(text);
    skip_blanks(text);
    if (condition.macro.empty() || (open && !text.starts_with(')'))) return std::nullopt;
    if (open) text.remove_prefix(1);
    found.push_back(std::move(condition));
    skip_blanks(text);
    if (text.empty()) return found;
    if (!text.starts_with("&&")) return std::nullopt;
    text.remove_prefix(2);
  }
}

Branch branch_of_if(std::string_view text) {
  Branch branch;
  skip_blanks(text);
  while (!text.empty() && kBlanks.find(text.back()) != std::string_view::npos) text.remove_suffix(1);
  if (text == "0" || text == "1") {
    branch.never = text == "0";
    branch.always = text == "1";
  } else if (auto conditions = conditions_in(text)) {
    branch.conditions = *std::move(conditions);
  } else {
    branch.undecided = true;
  }
  return branch;
}

/// The part behind #else: all that came before is not read.
Branch negated(const Branch& branch) {
  Branch other;
  other.never = branch.always || branch.taken;
  other.always = branch.never && !branch.taken;
  other.undecided = branch.undecided || branch.conditions.size() > 1;
  if (branch.conditions.size() == 1 && !branch.undecided)
    other.conditions = {{branch.conditions[0].macro, !branch.conditions[0].defined}};
  return other;
}

std::optional<Include> include_in(std::string_view text, bool next, std::size_t line) {
  skip_blanks(text);
  if (text.empty()) return std::nullopt;
  Include include;
  include.next = next;
  include.line = line;
  if (text.front() == '"' || text.front() == '<') {
    include.form = text.front() == '"' ? Include::Form::quoted : Include::Form::angled;
    const auto end = text.find(text.front() == '"' ? '"' : '>', 1);
    if (end == std::string_view::npos || end == 1) return std::nullopt;
    include.spelled = text.substr(1, end - 1);
  } else {
    include.form = Include::Form::computed;
    include.spelled = take_word(text);
    if (include.spelled.empty()) return std::nullopt;
  }
  return include;
}

/// Follows the directives of one file.
class Reader {
 public:
  /// `guard`: the first #ifndef is taken for that around the whole file.
  explicit Reader(bool guard) : may_guard_(guard) {}

  /// nullopt: the guard was none.
  std::optional<Includes> read(std::string_view text) {
    Directives directives(text);
    while (const auto directive = directives.next()) {
      auto rest = *directive;
      const auto name = take_word(rest);
      if (name == "pragma" || name.empty()) continue;
      if (is_guarded_ && branches_.empty()) return std::nullopt;  // something follows its #endif
      const auto guard = std::exchange(guard_, std::string());
      if (name == "define" || name == "undef") found_.macros.emplace_back(first_word(rest));
      if (name == "define" && !guard.empty() && first_word(rest) == guard && may_guard_) {
        branches_.back() = Branch();
        branches_.back().always = true;
        is_guarded_ = true;
      } else if (name == "if" || name == "ifdef" || name == "ifndef") {
        open(name, rest);
      } else if (!branches_.empty() && (name == "elif" || name == "elifdef" || name == "elifndef")) {
        change(name, rest);
      } else if (!branches_.empty() && name == "else") {
        branches_.back() = negated(branches_.back());
      } else if (!branches_.empty() && name == "endif") {
        branches_.pop_back();
      } else if (name == "include" || name == "include_next" || name == "import") {
        take(include_in(rest, name == "include_next", directives.line()));
      }
      is_first_ = false;
    }
    std::sort(found_.macros.begin(), found_.macros.end());
    return std::move(found_);
  }

 private:
  static std::string_view first_word(std::string_view rest) { return take_word(rest); }

  static Branch branch_of(std::string_view name, std::string_view rest) {
    if (name == "if" || name == "elif") return branch_of_if(rest);
    Branch branch;
    branch.conditions = {{std::string(take_word(rest)), name == "ifdef" || name == "elifdef"}};
    return branch;
  }

  void open(std::string_view name, std::string_view rest) {
    branches_.push_back(branch_of(name, rest));
    const auto& conditions = branches_.back().conditions;
    if (is_first_ && conditions.size() == 1 && !conditions[0].defined) guard_ = conditions[0].macro;
  }

  void change(std::string_view name, std::string_view rest) {
    const auto before = negated(branches_.back());
    auto branch = branch_of(name, rest);
    branch.never = branch.never || before.never;
    branch.taken = before.never || branch.always;
    branch.always = branch.always && before.always;
    branch.undecided = branch.undecided || before.undecided;
    branch.conditions.insert(branch.conditions.end(), before.conditions.begin(), before.conditions.end());
    branches_.back() = std::move(branch);
  }

  void take(std::optional<Include> include) {
    if (!include) return;
    for (const auto& branch : branches_) {
      if (branch.never) return;
      include->undecided = include->undecided || branch.undecided;
      if (include->conditions.size() + branch.conditions.size() > kIncludeConditions) {
        include->undecided = true;
      } else {
        include->conditions.insert(include->conditions.end(), branch.conditions.begin(),
                                   branch.conditions.end());
      }
    }
    found_.lines.push_back(*std::move(include));
  }

  std::vector<Branch> branches_;
  Includes found_;
  bool may_guard_;
  bool is_first_ = true;     ///< directive of the file
  bool is_guarded_ = false;  ///< the outermost branch is the guard
  std::string guard_;        ///< the macro of an #ifndef in the line before
};

}  // namespace

Includes includes_in(std::string_view text) {
  if (auto found = Reader(true).read(text)) return *std::move(found);
  return Reader(false).read(text).value_or(Includes());
}

}  // namespace hallmark::inspect
