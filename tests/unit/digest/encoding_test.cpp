#include "digest/encoding.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <string>

namespace hallmark::digest {
namespace {

std::string number_bytes(std::uint64_t value) {
  return Encoder().number(value).take();
}

TEST(Encoding, NumbersAreShortest) {
  EXPECT_EQ(number_bytes(0), std::string("\0", 1));
  EXPECT_EQ(number_bytes(127), "\x7f");
  EXPECT_EQ(number_bytes(128), "\x80\x01");
  EXPECT_EQ(number_bytes(300), "\xac\x02");
  EXPECT_EQ(number_bytes(std::numeric_limits<std::uint64_t>::max()).size(), 10u);
}

TEST(Encoding, LongerSpellingsAreRefused) {
  for (const std::string_view bytes :
       {std::string_view("\x80\x00", 2), std::string_view("\xff\x80\x00", 3)}) {
    Decoder in(bytes);
    in.number();
    EXPECT_FALSE(in.ok());
  }
}

TEST(Encoding, NumbersAbove64BitsAreRefused) {
  Decoder ten("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02");
  ten.number();
  EXPECT_FALSE(ten.ok());
  Decoder eleven("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
  eleven.number();
  EXPECT_FALSE(eleven.ok());
}

TEST(Encoding, AFailedDecoderStaysFailedAndGivesNothing) {
  Decoder in(
      "\x05"
      "abc");
  EXPECT_EQ(in.text(), "");
  EXPECT_FALSE(in.ok());
  EXPECT_EQ(in.number(), 0u);
  EXPECT_EQ(in.hash(), Sha256{});
  EXPECT_FALSE(in.finished());
}

TEST(Encoding, CountsThatCannotFollowAreRefused) {
  const std::string bytes = Encoder().number(1000).take() + std::string(999, 'x');
  Decoder one(bytes);
  EXPECT_EQ(one.count(), 0u);
  EXPECT_FALSE(one.ok());
  const std::string enough = Encoder().number(10).take() + std::string(39, 'x');
  Decoder four(enough);
  four.count(4);
  EXPECT_FALSE(four.ok()) << "10 items of 4 bytes do not fit in 39";
}

TEST(Encoding, FlagsAreZeroOrOne) {
  Decoder in("\x02");
  in.flag();
  EXPECT_FALSE(in.ok());
}

TEST(Encoding, LeftoverBytesAreNotFinished) {
  Decoder in("\x01\x01");
  in.number();
  EXPECT_TRUE(in.ok());
  EXPECT_FALSE(in.finished());
}

RC_GTEST_PROP(EncodingProperty, EveryValueComesBack,
              (std::uint64_t a, std::int64_t b, const std::string& c, bool d)) {
  const Digest digest = digest_of(c);
  const std::string bytes = Encoder().number(a).signed_number(b).text(c).flag(d).digest(digest).take();
  Decoder in(bytes);
  RC_ASSERT(in.number() == a);
  RC_ASSERT(in.signed_number() == b);
  RC_ASSERT(in.text() == c);
  RC_ASSERT(in.flag() == d);
  RC_ASSERT(in.digest() == digest);
  RC_ASSERT(in.finished());
}

RC_GTEST_PROP(EncodingProperty, ANumberThatDecodesEncodesToTheSameBytes, (const std::string& bytes)) {
  Decoder in(bytes);
  const std::uint64_t value = in.number();
  RC_PRE(in.ok());
  RC_ASSERT(bytes.starts_with(number_bytes(value)));
}

}  // namespace
}  // namespace hallmark::digest
