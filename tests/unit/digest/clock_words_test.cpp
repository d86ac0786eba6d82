#include "digest/clock_words.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace hallmark::digest {
namespace {

std::string letters(const ClockWords& found) {
  return std::string(found.date ? "d" : "") + (found.time ? "t" : "") + (found.timestamp ? "s" : "");
}

std::string words(std::string_view text) {
  return letters(clock_words(text));
}

/// In pieces of `size`, after a first one of 4096.
std::string in_pieces(std::string_view text, std::size_t size) {
  ClockScanner scanner;
  for (std::size_t room = 4096; !text.empty(); room = size) {
    scanner.update(text.substr(0, room));
    text.remove_prefix(std::min(room, text.size()));
  }
  return letters(scanner.finish());
}

TEST(ClockWords, AreWholeWords) {
  EXPECT_EQ(words("x = __DATE__;"), "d");
  EXPECT_EQ(words("__TIME__"), "t");
  EXPECT_EQ(words("(__TIMESTAMP__)"), "s");
  EXPECT_EQ(words("__DATE__ __TIME__ __TIMESTAMP__"), "dts");
  EXPECT_EQ(words("__DATE__X X__TIME__ __TIME __DATE_"), "");
  EXPECT_EQ(words("x__DATE__ then __DATE__"), "d") << "the second one counts";
  EXPECT_EQ(words(""), "");
}

TEST(ClockScanner, FindsAWordWhereverThePiecesEnd) {
  for (const std::string_view word : {"__DATE__", "__TIME__", "__TIMESTAMP__", "X__DATE__", "__TIME__X"}) {
    for (std::size_t before = 4070; before <= 4100; ++before) {
      const std::string text = std::string(before, ' ').append(word);
      for (const std::string& whole : {text, text + " ", text + std::string(40, '-')}) {
        for (const std::size_t size : {1u, 2u, 14u, 15u, 16u, 17u, 100u})
          EXPECT_EQ(in_pieces(whole, size), words(whole)) << word << " at " << before << " in " << size;
      }
    }
  }
}

TEST(ClockScanner, NoSourceNoWords) {
  EXPECT_EQ(in_pieces(std::string("\x7f"
                                  "ELF\0 __TIME__",
                                  14),
                      64),
            "");
  EXPECT_EQ(in_pieces("!<arch>\n__TIME__", 64), "");
  EXPECT_EQ(in_pieces(std::string(4096, ' ') + std::string(1, '\0') + " __TIME__", 64), "t")
      << "zeros far behind say nothing";
  EXPECT_EQ(in_pieces("", 1), "");
}

RC_GTEST_PROP(ClockScanner, PiecesMakeNoDifference, ()) {
  const auto parts = *rc::gen::container<std::vector<std::string>>(rc::gen::element<std::string>(
      "__DATE__", "__TIME__", "__TIMESTAMP__", "__TIME", "STAMP__", "_", "__", "x", " ", "\n"));
  std::string text(4090, ' ');
  for (const auto& part : parts) text += part;
  RC_ASSERT(in_pieces(text, *rc::gen::inRange<std::size_t>(1, 40)) == words(text));
}

}  // namespace
}  // namespace hallmark::digest
