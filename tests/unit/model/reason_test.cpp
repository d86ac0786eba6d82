#include "model/reason.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>
#include <vector>

namespace hallmark::model {
namespace {

std::vector<ReasonCode> all_codes() {
  std::vector<ReasonCode> codes;
  for (unsigned number = 0; number < 1000; ++number) {
    const auto code = static_cast<ReasonCode>(number);
    if (name_of(code) != "unknown") codes.push_back(code);
  }
  return codes;
}

TEST(Reason, ReadsLikeAPersonWouldSayIt) {
  const auto says = [](const Reason& reason, std::string_view text) { EXPECT_EQ(sentence(reason), text); };
  says({ReasonCode::content_changed, "include/k.h", "", ""}, "include/k.h changed");
  says({ReasonCode::appeared, "first/cfg.h", "", ""}, "first/cfg.h appeared (it was absent)");
  says({ReasonCode::vanished, "second/cfg.h", "", ""}, "second/cfg.h is gone (it was there)");
  says({ReasonCode::variable_changed, "NVCC_APPEND_FLAGS", std::string(kUnset), "-DVAL=2"},
       "NVCC_APPEND_FLAGS changed from unset to \"-DVAL=2\"");
  says({ReasonCode::variable_changed, "CPATH", "/a", std::string(kUnset)},
       "CPATH changed from \"/a\" to unset");
  says({ReasonCode::variable_changed, "CPATH", "", "/a"}, "CPATH changed from \"\" to \"/a\"");
  says({ReasonCode::argument_changed, "3", "-O2", "-O3"}, "argument 3 changed from \"-O2\" to \"-O3\"");
  says({ReasonCode::argument_changed, "4", std::string(kUnset), "-g"}, "argument 4 is new: \"-g\"");
  says({ReasonCode::listing_changed, "kernels", "", ""}, "the names in kernels changed");
  says({ReasonCode::stream_changed, "stdout", "terminal", "no terminal"},
       "what stdout is connected to changed from \"terminal\" to \"no terminal\"");
  says({ReasonCode::stream_changed, "merged", "yes", "no"},
       "stdout and stderr were one stream and are two now");
  says({ReasonCode::stream_changed, "merged", "no", "yes"},
       "stdout and stderr were two streams and are one now");
  says({ReasonCode::bound_value_changed, "R_NAME", "a", "b"},
       "the root's name, which the result contains, changed from \"a\" to \"b\"");
  says({ReasonCode::command_failed, "", "2", ""}, "the command failed with status 2");
  says({ReasonCode::command_failed, "signal 9 (SIGKILL)", "137", ""},
       "the command was killed by signal 9 (SIGKILL)");
  says({ReasonCode::outputs_in_the_way, "/r/a.o", "it is a link now", ""},
       "cannot replay /r/a.o: it is a link now");
  says({ReasonCode::store_unusable, "", "open /s: Permission denied", ""},
       "the store cannot be used: open /s: Permission denied");
}

TEST(Reason, ValuesCannotBreakTheLine) {
  const std::string text = sentence({ReasonCode::variable_changed, "X", "a\nb\x01", std::string(1000, 'y')});
  EXPECT_EQ(text.find('\n'), std::string::npos);
  EXPECT_NE(text.find("\\n"), std::string::npos);
  EXPECT_NE(text.find("\\x01"), std::string::npos);
  EXPECT_LT(text.size(), 300u);
}

TEST(Reason, EveryCodeHasANameAndASentenceOfItsOwn) {
  const auto codes = all_codes();
  EXPECT_EQ(codes.size(), 56u) << "a new code needs a name, a sentence and this number";
  std::set<std::string_view> names;
  std::set<std::string> sentences;
  for (const ReasonCode code : codes) {
    EXPECT_TRUE(names.insert(name_of(code)).second) << name_of(code);
    const std::string text = sentence({code, "SUBJECT", "BEFORE", "AFTER"});
    EXPECT_TRUE(sentences.insert(text).second) << text;
    EXPECT_FALSE(text.empty() || text.ends_with('.')) << text;
    EXPECT_FALSE(text.starts_with("reason ")) << text;
    EXPECT_FALSE(sentence({code, "", "", ""}).empty());
  }
}

TEST(Reason, TheDocumentationExplainsEachCode) {
  std::ifstream file(std::string(HALLMARK_SOURCE_DIR) + "/docs/reasons.md");
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  ASSERT_FALSE(text.empty());
  for (const ReasonCode code : all_codes()) {
    const std::string row =
        "| `" + std::string(name_of(code)) + "` | " + std::to_string(static_cast<unsigned>(code)) + " |";
    EXPECT_NE(text.find(row), std::string::npos) << row;
  }
}

TEST(Reason, ComesBackFromItsEncoding) {
  for (const ReasonCode code : all_codes()) {
    const Reason reason{code, "s", "b", std::string(kUnset)};
    digest::Encoder out;
    encode(out, reason);
    digest::Decoder in(out.bytes());
    EXPECT_EQ(decode_reason(in), reason);
    EXPECT_TRUE(in.finished());
  }
}

TEST(Reason, AnUnknownNumberIsKept) {
  digest::Encoder out;
  out.number(999).text("s").text("").text("");
  digest::Decoder in(out.bytes());
  const Reason reason = decode_reason(in);
  EXPECT_TRUE(in.finished());
  EXPECT_EQ(static_cast<unsigned>(reason.code), 999u);
  EXPECT_EQ(name_of(reason.code), "unknown");
  EXPECT_EQ(sentence(reason), "reason 999: s");
}

TEST(Reason, ANumberThatIsNoCodeIsRefused) {
  digest::Encoder out;
  out.number(70'000).text("").text("").text("");
  digest::Decoder in(out.bytes());
  decode_reason(in);
  EXPECT_FALSE(in.ok());
}

}  // namespace
}  // namespace hallmark::model
