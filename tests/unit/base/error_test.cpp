#include "base/error.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>

#include "base/bytes.h"
#include "base/result.h"

namespace hallmark {
namespace {

TEST(Error, SaysActionSubjectAndWhy) {
  const Error error = Error::from_errno("open", "/x", ENOENT);
  EXPECT_EQ(error.what, "open /x: No such file or directory");
  EXPECT_EQ(error.kind, ErrorKind::not_found);
  EXPECT_EQ(error.message(), error.what);
}

TEST(Error, MessageAddsTheHint) {
  const Error error{ErrorKind::invalid, "bad", "do better"};
  EXPECT_EQ(error.message(), "bad; do better");
}

TEST(Error, KindsThatACallerTellsApart) {
  EXPECT_EQ(kind_of_errno(EROFS), ErrorKind::permission);
  EXPECT_EQ(kind_of_errno(EACCES), ErrorKind::permission);
  EXPECT_EQ(kind_of_errno(ENOSPC), ErrorKind::no_space);
  EXPECT_EQ(kind_of_errno(EDQUOT), ErrorKind::no_space);
  EXPECT_EQ(kind_of_errno(ENOTDIR), ErrorKind::not_found);
  EXPECT_EQ(kind_of_errno(EIO), ErrorKind::io);
}

Result<int> half(int value) {
  if (value % 2 != 0) return fail({ErrorKind::invalid, "odd", {}});
  return value / 2;
}

Result<int> quarter(int value) {
  HALLMARK_TRY(const int once, half(value));
  HALLMARK_TRY(const int twice, half(once));
  return twice;
}

Status check_even(int value) {
  HALLMARK_CHECK(half(value));
  return {};
}

TEST(Result, TryHandsValuesAndErrorsOn) {
  EXPECT_EQ(quarter(8).value(), 2);
  ASSERT_FALSE(quarter(6).has_value());
  EXPECT_EQ(quarter(6).error().what, "odd");
  EXPECT_TRUE(check_even(2).has_value());
  EXPECT_FALSE(check_even(3).has_value());
}

TEST(Bytes, Hex) {
  EXPECT_EQ(to_hex(as_bytes(std::string_view("\x00\x7f\xff", 3))), "007fff");
  EXPECT_EQ(to_hex({}), "");
}

}  // namespace
}  // namespace hallmark
