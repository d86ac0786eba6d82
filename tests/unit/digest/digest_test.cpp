#include "digest/digest.h"

#include <gtest/gtest.h>

#include <string>

namespace hallmark::digest {
namespace {

// FIPS 180-4 examples.
TEST(Digest, KnownAnswers) {
  EXPECT_EQ(digest_of("").hex(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(digest_of("abc").hex(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(digest_of(std::string(1'000'000, 'a')).hex(),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Digest, KnowsTheSize) {
  EXPECT_EQ(digest_of("abc").size_bytes, 3u);
}

TEST(Digest, PiecesHashLikeTheWhole) {
  const std::string text(200, 'x');
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    Hasher hasher;
    hasher.update(std::string_view(text).substr(0, cut));
    hasher.update(std::string_view(text).substr(cut));
    ASSERT_EQ(hasher.finish(), digest_of(text)) << cut;
  }
}

TEST(Digest, HexGoesBothWays) {
  const Digest digest = digest_of("abc");
  EXPECT_EQ(parse_hex(digest.hex()), digest.hash);
  EXPECT_EQ(parse_hex("ab"), std::nullopt);
  EXPECT_EQ(parse_hex(std::string(64, 'g')), std::nullopt);
  EXPECT_EQ(parse_hex(std::string(64, 'A')), std::nullopt) << "one hash has one spelling";
}

}  // namespace
}  // namespace hallmark::digest
