#include "digest/clock_words.h"

#include <utility>

namespace hallmark::digest {
namespace {

constexpr std::string_view kDate = "__DATE__";
constexpr std::string_view kTime = "__TIME__";
constexpr std::string_view kTimestamp = "__TIMESTAMP__";
constexpr std::string_view kArchive = "!<arch>\n";
constexpr std::size_t kLookedAtForZeros_bytes = 4096;
/// The longest word, the character before it and the one behind it.
constexpr std::size_t kOverlap_bytes = kTimestamp.size() + 2;

bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// `begins`, `ends`: the text's ends are those of the file. Elsewhere a word at an end cannot be told yet, or
/// was told before.
bool has_word(std::string_view text, std::string_view word, bool begins, bool ends) {
  for (auto at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const auto behind = at + word.size();
    if ((at == 0 && !begins) || (behind == text.size() && !ends)) continue;
    const bool starts_here = at == 0 || !is_word_character(text[at - 1]);
    const bool ends_here = behind == text.size() || !is_word_character(text[behind]);
    if (starts_here && ends_here) return true;
  }
  return false;
}

ClockWords words_in(std::string_view text, bool begins, bool ends) {
  // Nearly every text holds none of them: one search for what they share.
  if (text.find("__DATE__") == std::string_view::npos && text.find("__TIME") == std::string_view::npos)
    return {};
  return {has_word(text, kDate, begins, ends), has_word(text, kTime, begins, ends),
          has_word(text, kTimestamp, begins, ends)};
}

}  // namespace

ClockWords clock_words(std::string_view text) {
  return words_in(text, true, true);
}

void ClockScanner::scan(std::string_view text, bool begins, bool ends) {
  const auto words = words_in(text, begins, ends);
  found_.date |= words.date;
  found_.time |= words.time;
  found_.timestamp |= words.timestamp;
}

void ClockScanner::update(std::string_view piece) {
  const bool first = !std::exchange(began_, true);
  if (first) {
    is_source_ = piece.substr(0, kLookedAtForZeros_bytes).find('\0') == std::string_view::npos &&
                 !piece.starts_with(kArchive);
  }
  if (!is_source_) return;
  std::string seam = rest_;
  seam.append(piece.substr(0, kOverlap_bytes));
  scan(seam, rest_begins_, false);
  if (piece.size() > kOverlap_bytes) {
    scan(piece, first, false);
    rest_ = piece.substr(piece.size() - kOverlap_bytes);
    rest_begins_ = false;
  } else if (seam.size() > kOverlap_bytes) {
    rest_ = seam.substr(seam.size() - kOverlap_bytes);
    rest_begins_ = false;
  } else {
    rest_ = std::move(seam);
  }
}

ClockWords ClockScanner::finish() {
  if (is_source_) scan(rest_, rest_begins_, true);
  return found_;
}

}  // namespace hallmark::digest
