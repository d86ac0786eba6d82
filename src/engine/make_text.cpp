#include "engine/make_text.h"

#include <algorithm>

namespace hallmark::engine {
namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

/// Where the line break of a continued line ends, if one begins at `at` (behind a backslash); 0 if none does.
std::size_t line_break_at(std::string_view text, std::size_t at) {
  if (at < text.size() && text[at] == '\n') return 1;
  if (at + 1 < text.size() && text[at] == '\r' && text[at + 1] == '\n') return 2;
  return 0;
}

/// Reads words of one rule. Backslashes before blanks and `#` protect them, doubled ones as GNU Make counts
/// them; `$$` is one dollar.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  bool at_end() const { return at_ >= text_.size(); }

  /// Skips blanks and continued line breaks. True if a line ended.
  bool skip_to_word() {
    bool ended = false;
    while (!at_end()) {
      const char c = text_[at_];
      if (is_blank(c) || c == '\r') {
        ++at_;
      } else if (c == '\\' && line_break_at(text_, at_ + 1) != 0) {
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
        if (end < text_.size() && (is_blank(text_[end]) || text_[end] == '#')) {
          word.append(count / 2, '\\');
          at_ = end;
          if (count % 2 == 1) word.push_back(text_[at_++]);
          continue;
        }
        if (line_break_at(text_, end) != 0) {
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
      if (c == ':' && (at_ + 1 == text_.size() || is_blank(text_[at_ + 1]) || text_[at_ + 1] == '\n' ||
                       text_[at_ + 1] == '\r' || text_[at_ + 1] == '\\')) {
        ++at_;
        colon = true;
        return word;
      }
      word.push_back(c);
      ++at_;
    }
    return word;
  }

 private:
  bool only_blanks_before() const {
    std::size_t at = at_;
    while (at > 0 && is_blank(text_[at - 1])) --at;
    return at == 0 || text_[at - 1] == '\n';
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

bool MakeText::has_phony_targets() const {
  return rules.size() > 1 && std::any_of(rules.begin() + 1, rules.end(),
                                         [](const MakeRule& rule) { return rule.prerequisites.empty(); });
}

std::optional<MakeText> parse_make_text(std::string_view text) {
  if (text.find('\0') != std::string_view::npos) return std::nullopt;
  MakeText parsed;
  Reader reader(text);
  while (!reader.at_end()) {
    if (reader.skip_to_word()) continue;
    MakeRule rule;
    bool behind_colon = false;
    do {
      bool colon = false;
      auto word = reader.word(colon);
      if (colon && behind_colon) return std::nullopt;
      // Variables, recipes and the like: not what a compiler writes.
      if (!behind_colon && (word == "=" || word == ":=" || word.find('=') != std::string::npos))
        return std::nullopt;
      if (!word.empty()) (behind_colon ? rule.prerequisites : rule.targets).push_back(std::move(word));
      behind_colon = behind_colon || colon;
    } while (!reader.skip_to_word());
    if (!behind_colon || rule.targets.empty()) return std::nullopt;
    parsed.rules.push_back(std::move(rule));
  }
  if (parsed.rules.empty()) return std::nullopt;
  return parsed;
}

std::optional<std::string> escape_for_make(std::string_view path) {
  std::string escaped;
  std::size_t backslashes = 0;
  for (const char c : path) {
    if (c == '\n' || c == '\r') return std::nullopt;
    if (is_blank(c) || c == '#') {
      // Those that stand before count double now.
      escaped.append(backslashes + 1, '\\');
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

std::string with_prerequisites(std::string_view text, const std::vector<std::string>& more) {
  std::string added;
  for (const auto& path : more) {
    if (const auto escaped = escape_for_make(path)) added.append(" \\\n  ").append(*escaped);
  }
  if (added.empty()) return std::string(text);
  // The end of the first rule: the first line break that no backslash continues, behind a line that is not
  // blank.
  std::size_t end = 0;
  bool blank = true;
  for (; end < text.size(); ++end) {
    if (text[end] == '\n') {
      const bool crlf = end > 0 && text[end - 1] == '\r';
      const std::size_t before = end - (crlf ? 1 : 0);
      const bool continued = before > 0 && text[before - 1] == '\\';
      if (!continued && !blank) break;
    } else if (!is_blank(text[end]) && text[end] != '\r') {
      blank = false;
    }
  }
  std::string_view head = text.substr(0, end);
  // A last line that is continued into nothing (nvcc writes one).
  while (!head.empty() && (is_blank(head.back()) || head.back() == '\n' || head.back() == '\r' ||
                           (head.back() == '\\' && head.size() >= 2 && is_blank(head[head.size() - 2]))))
    head.remove_suffix(1);
  std::string result(head);
  result.append(added);
  result.append(end < text.size() ? text.substr(end) : std::string_view("\n"));
  return result;
}

std::string phony_targets(const std::vector<std::string>& paths) {
  std::string text;
  for (const auto& path : paths) {
    if (const auto escaped = escape_for_make(path)) text.append(*escaped).append(":\n");
  }
  return text;
}

}  // namespace hallmark::engine
