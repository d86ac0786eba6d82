#include "engine/make_text.h"

#include <algorithm>
#include <array>
#include <climits>

namespace hallmark::engine {
namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

/// The characters at which a word may end or say something else than itself.
constexpr auto kMarks = [] {
  std::array<bool, UCHAR_MAX + 1> marks{};
  for (const unsigned char mark : std::string_view(" \t\r\n\\$:")) marks[mark] = true;
  return marks;
}();

/// Where the line break of a continued line ends, if one begins at `at` (behind a backslash); 0 if none does.
std::size_t line_break_at(std::string_view text, std::size_t at) {
  if (at < text.size() && text[at] == '\n') return 1;
  if (at + 1 < text.size() && text[at] == '\r' && text[at + 1] == '\n') return 2;
  return 0;
}

/// Whether a backslash in front of `at` stands at the end of its line.
bool ends_line(std::string_view text, std::size_t at) {
  return at == text.size() || line_break_at(text, at) != 0;
}

/// Reads words of one rule. Backslashes before blanks protect them, doubled ones as GNU Make counts them; one
/// before `#` and `:` is taken away, as gcc writes and Ninja reads it; `$$` is one dollar.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  bool at_end() const { return at_ >= text_.size(); }
  std::size_t at() const { return at_; }

  /// Skips blanks and continued line breaks. True if a line ended.
  bool skip_to_word() {
    bool ended = false;
    while (!at_end()) {
      const char c = text_[at_];
      if (is_blank(c) || c == '\r') {
        ++at_;
      } else if (c == '\\' && ends_line(text_, at_ + 1)) {
        at_ += 1 + line_break_at(text_, at_ + 1);
      } else if (c == '\n') {
        ++at_;
        ended = true;
        break;
      } else if (c == '#' && only_blanks_before()) {
        while (!at_end() && text_[at_] != '\n') ++at_;
      } else {
        break;
      }
    }
    return ended || at_end();
  }

  /// The next word. `colon` becomes true if the word ends a list of targets.
  std::string word(bool& colon) {
    std::string word;
    colon = false;
    while (!at_end()) {
      const char c = text_[at_];
      if (c == '\n' || is_blank(c) || c == '\r') break;
      if (c == '\\') {
        std::size_t end = at_;
        while (end < text_.size() && text_[end] == '\\') ++end;
        const std::size_t count = end - at_;
        if (end < text_.size() && is_blank(text_[end])) {
          word.append(count / 2, '\\');
          at_ = end;
          if (count % 2 == 1) word.push_back(text_[at_++]);
          continue;
        }
        if (end < text_.size() && text_[end] == '#') {
          word.append(count - 1, '\\').push_back('#');
          at_ = end + 1;
          continue;
        }
        if (ends_line(text_, end)) {
          word.append(count - 1, '\\');
          at_ = end - 1;
          break;
        }
        if (end < text_.size() && text_[end] == ':' && count == 1) {
          word.push_back(':');
          at_ = end + 1;
          continue;
        }
        word.append(count, '\\');
        at_ = end;
        continue;
      }
      if (c == '$' && at_ + 1 < text_.size() && text_[at_ + 1] == '$') {
        word.push_back('$');
        at_ += 2;
        continue;
      }
      if (c == ':' && is_separated_at(at_ + 1)) {
        ++at_;
        colon = true;
        return word;
      }
      auto end = at_ + 1;
      while (end < text_.size() && !kMarks[static_cast<unsigned char>(text_[end])]) ++end;
      word.append(text_.substr(at_, end - at_));
      at_ = end;
    }
    return word;
  }

 private:
  bool only_blanks_before() const {
    std::size_t at = at_;
    while (at > 0 && is_blank(text_[at - 1])) --at;
    return at == 0 || text_[at - 1] == '\n';
  }

  bool is_separated_at(std::size_t at) const {
    if (at == text_.size() || is_blank(text_[at]) || text_[at] == '\n' || text_[at] == '\r') return true;
    return text_[at] == '\\' && ends_line(text_, at + 1);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

/// Whether a carriage return stands elsewhere than at the end of a line: tools disagree on what that means.
bool has_stray_return(std::string_view text) {
  for (auto at = text.find('\r'); at != std::string_view::npos; at = text.find('\r', at + 1)) {
    if (at + 1 == text.size() || text[at + 1] != '\n') return true;
  }
  return false;
}

}  // namespace

bool MakeText::has_phony_targets() const {
  return rules.size() > 1 && std::any_of(rules.begin() + 1, rules.end(),
                                         [](const MakeRule& rule) { return rule.prerequisites.empty(); });
}

std::optional<MakeText> parse_make_text(std::string_view text) {
  if (text.find('\0') != std::string_view::npos || has_stray_return(text)) return std::nullopt;
  MakeText parsed;
  Reader reader(text);
  while (!reader.at_end()) {
    if (reader.skip_to_word()) continue;
    MakeRule rule;
    bool behind_colon = false;
    const bool first = parsed.rules.empty();
    do {
      bool colon = false;
      auto word = reader.word(colon);
      if (first) parsed.last_word_end = reader.at();
      if (colon && behind_colon) return std::nullopt;
      // Variables, recipes and the like: not what a compiler writes.
      if (!behind_colon && word.find('=') != std::string::npos) return std::nullopt;
      if (!word.empty()) (behind_colon ? rule.prerequisites : rule.targets).push_back(std::move(word));
      behind_colon = behind_colon || colon;
    } while (!reader.skip_to_word());
    if (!behind_colon || rule.targets.empty()) return std::nullopt;
    if (first) parsed.rule_end = reader.at();
    parsed.rules.push_back(std::move(rule));
  }
  if (parsed.rules.empty()) return std::nullopt;
  return parsed;
}

std::optional<std::string> escape_for_make(std::string_view path) {
  if (path.empty() || path.ends_with(':') || path.ends_with('\\')) return std::nullopt;
  std::string escaped;
  std::size_t backslashes = 0;
  for (const char c : path) {
    if (c == '\n' || c == '\r' || (c == ':' && backslashes > 0)) return std::nullopt;
    if (is_blank(c)) {
      // Those that stand before count double now.
      escaped.append(backslashes + 1, '\\');
    } else if (c == '#') {
      escaped.push_back('\\');
    } else if (c == '$') {
      escaped.push_back('$');
    }
    escaped.push_back(c);
    backslashes = c == '\\' ? backslashes + 1 : 0;
  }
  return escaped;
}

std::string make_rule(const std::string& target, const std::vector<std::string>& prerequisites) {
  std::string text = escape_for_make(target).value_or(target) + ":";
  for (const auto& path : prerequisites) {
    if (const auto escaped = escape_for_make(path)) text.append(" \\\n  ").append(*escaped);
  }
  return text + "\n";
}

std::string with_prerequisites(std::string_view text, const MakeText& parsed,
                               const std::vector<std::string>& more) {
  std::string added;
  for (const auto& path : more) {
    if (const auto escaped = escape_for_make(path)) added.append(" \\\n  ").append(*escaped);
  }
  if (added.empty()) return std::string(text);
  // A word that ends in a backslash before a line that goes on must not find a blank behind it.
  if (text.substr(parsed.last_word_end).starts_with('\\')) added.erase(0, 1);
  // Between the two ends stands at most a line that goes on into nothing (nvcc writes one).
  return std::string(text.substr(0, parsed.last_word_end))
      .append(added)
      .append("\n")
      .append(text.substr(parsed.rule_end));
}

std::string phony_targets(const std::vector<std::string>& paths) {
  std::string text;
  for (const auto& path : paths) {
    if (const auto escaped = escape_for_make(path)) text.append(*escaped).append(":\n");
  }
  return text;
}

}  // namespace hallmark::engine
