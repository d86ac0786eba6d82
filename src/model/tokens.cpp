#include "model/tokens.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace hallmark::model {
namespace {

constexpr char kOpen = '\x01';
constexpr char kClose = '\x02';

/// Characters that end a file name in the texts that get folded: arguments, variables, dependency files,
/// messages.
constexpr std::array<bool, 256> make_separators() {
  std::array<bool, 256> separators{};
  for (int c = 0; c <= ' '; ++c) separators[static_cast<std::size_t>(c)] = true;
  for (const char c : {':', ';', ',', '=', '"', '\'', '`', '(', ')', '[', ']',
                       '{', '}', '<', '>', '|', '&',  '*', '?', '@', '$', '\\'}) {
    separators[static_cast<unsigned char>(c)] = true;
  }
  return separators;
}
constexpr auto kSeparators = make_separators();

bool is_separator(char c) {
  return kSeparators[static_cast<unsigned char>(c)];
}

/// Options whose value is written right behind them. Other words before a value ("x" in "x/home/u") make it
/// the end of a relative path, which must not be folded.
bool is_attaching_option(std::string_view word) {
  if (word.size() < 2 || word.front() != '-') return false;
  word.remove_prefix(1);
  if (word.size() == 1) return (word[0] >= 'a' && word[0] <= 'z') || (word[0] >= 'A' && word[0] <= 'Z');
  constexpr std::string_view kWords[] = {
      "MF",      "MT",      "MQ",      "MJ",          "isystem",  "iquote",    "idirafter",
      "include", "imacros", "iprefix", "iwithprefix", "isysroot", "imultilib", "iwithprefixbefore"};
  return std::find(std::begin(kWords), std::end(kWords), word) != std::end(kWords);
}

/// Whether a path that begins at `at` (where a slash stands) can be an absolute one.
bool begins_path(std::string_view text, std::size_t at) {
  std::size_t start = at;
  bool only_slashes = true;
  while (start > 0 && !is_separator(text[start - 1]) && text[start - 1] != kClose) {
    --start;
    only_slashes = only_slashes && text[start] == '/';
  }
  if (start > 0 && text[start - 1] == kClose) return false;  // goes on behind a token
  return only_slashes || is_attaching_option(text.substr(start, at - start));
}

bool ends_component(std::string_view text, std::size_t at) {
  return at == text.size() || text[at] == '/' || is_separator(text[at]);
}

bool has_marker(std::string_view text) {
  return text.find(kOpen) != std::string_view::npos || text.find(kClose) != std::string_view::npos;
}

}  // namespace

void Tokens::add(std::string name, std::string value) {
  if (value.size() < 2 || value.front() != '/' || value.back() == '/' || has_marker(value)) return;
  if (value_of(name) != nullptr) return;
  const auto place = std::find_if(tokens_.begin(), tokens_.end(),
                                  [&](const Token& other) { return other.value.size() < value.size(); });
  tokens_.insert(place, Token{std::move(name), std::move(value)});
}

std::optional<std::string> Tokens::fold(std::string_view text) const {
  if (has_marker(text)) return std::nullopt;
  std::string folded;
  folded.reserve(text.size() + 16);
  std::size_t copied = 0;
  for (std::size_t at = text.find('/'); at != std::string_view::npos; at = text.find('/', at)) {
    const std::string_view rest = text.substr(at);
    const auto token = std::find_if(tokens_.begin(), tokens_.end(), [&](const Token& candidate) {
      return rest.starts_with(candidate.value) && ends_component(rest, candidate.value.size());
    });
    if (token == tokens_.end() || !begins_path(text, at)) {
      ++at;
      continue;
    }
    folded.append(text.substr(copied, at - copied));
    folded.push_back(kOpen);
    folded.append(token->name);
    folded.push_back(kClose);
    at += token->value.size();
    copied = at;
    // What follows the value up to the next separator belongs to the same path.
    while (at < text.size() && !is_separator(text[at])) ++at;
  }
  folded.append(text.substr(copied));
  return folded;
}

std::optional<std::string> Tokens::unfold(std::string_view text) const {
  std::string unfolded;
  unfolded.reserve(text.size() + 64);
  for (;;) {
    const std::size_t open = text.find(kOpen);
    const std::string_view plain = text.substr(0, open);
    if (plain.find(kClose) != std::string_view::npos) return std::nullopt;
    unfolded.append(plain);
    if (open == std::string_view::npos) return unfolded;
    const std::size_t close = text.find(kClose, open);
    if (close == std::string_view::npos) return std::nullopt;
    const std::string* value = value_of(text.substr(open + 1, close - open - 1));
    if (value == nullptr) return std::nullopt;
    unfolded.append(*value);
    text.remove_prefix(close + 1);
  }
}

std::vector<std::string> Tokens::mentioned_in(std::string_view bytes) const {
  // One pass for all: every value begins with a slash, which is rare in object code.
  std::vector<bool> found(tokens_.size(), false);
  std::size_t missing = tokens_.size();
  const char* const end = bytes.data() + bytes.size();
  for (const char* at = bytes.data(); missing > 0 && at != end; ++at) {
    at = static_cast<const char*>(std::memchr(at, '/', static_cast<std::size_t>(end - at)));
    if (at == nullptr) break;
    const std::string_view rest(at, static_cast<std::size_t>(end - at));
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (found[i] || !rest.starts_with(tokens_[i].value)) continue;
      found[i] = true;
      --missing;
    }
  }
  std::vector<std::string> names;
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    if (found[i]) names.push_back(tokens_[i].name);
  }
  return names;
}

const std::string* Tokens::value_of(std::string_view name) const {
  const auto token = std::find_if(tokens_.begin(), tokens_.end(),
                                  [&](const Token& candidate) { return candidate.name == name; });
  return token == tokens_.end() ? nullptr : &token->value;
}

}  // namespace hallmark::model
