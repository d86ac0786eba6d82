#include "base/shell.h"

#include <gtest/gtest.h>

namespace hallmark {
namespace {

TEST(Shell, QuotesAnyWord) {
  EXPECT_EQ(shell_quoted("a b"), "'a b'");
  EXPECT_EQ(shell_quoted("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_quoted(""), "''");
}

TEST(Shell, PlainWordsStayReadable) {
  EXPECT_EQ(shell_word("-Iinclude/a.b,c=+%"), "-Iinclude/a.b,c=+%");
  EXPECT_EQ(shell_word(""), "''");
  for (const char* word : {"$ORIGIN", "a b", "~/x", "a*", "x;y", "#", "a\"b", "`x`", "a\nb"})
    EXPECT_EQ(shell_word(word), shell_quoted(word)) << word;
}

}  // namespace
}  // namespace hallmark
