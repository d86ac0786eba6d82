// Clock words: the macros of C by which a source asks for the date or the time, found while a file is hashed.
//
// Comments count: a word in a comment costs a rerun, a word that was missed would cost the truth.
#pragma once

#include <string>
#include <string_view>

namespace hallmark::digest {

struct ClockWords {
  bool date = false;       ///< __DATE__
  bool time = false;       ///< __TIME__
  bool timestamp = false;  ///< __TIMESTAMP__

  bool any() const { return date || time || timestamp; }
  bool operator==(const ClockWords&) const = default;
};

ClockWords clock_words(std::string_view text);

/// Finds them in a file that comes in pieces. What a compiler would not take for source (a zero byte among
/// the first 4096, an archive) has none. The first piece holds these 4096 bytes, or the whole file.
class ClockScanner {
 public:
  void update(std::string_view piece);
  ClockWords finish();

 private:
  void scan(std::string_view text, bool begins, bool ends);

  bool began_ = false;
  bool is_source_ = true;
  std::string rest_;         ///< the last bytes: a word may go on in the next piece
  bool rest_begins_ = true;  ///< rest_ is the whole file so far
  ClockWords found_;
};

}  // namespace hallmark::digest
