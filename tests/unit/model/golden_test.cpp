// The bytes that docs/formats/record.md describes.
#include "support/golden.h"

#include <gtest/gtest.h>

#include "model/record.h"

namespace hallmark::model {
namespace {

WeakEntry sample_entry() {
  WeakEntry entry;
  entry.command.argv = {"g++", "-c", "\x01root\x02/k.cpp"};
  entry.command.cwd =
      "\x01"
      "build\x02";
  entry.command.environment = {{"CPATH", ""}, {"LANG", "C"}};
  entry.command.others = {"umask=022"};
  const Question header{Aspect::content, "\x01root\x02/include/a.h"};
  const Question source{Aspect::content, "\x01root\x02/k.cpp"};
  const Question absent{Aspect::kind, "\x01root\x02/first/a.h"};
  entry.sets.push_back({{{header, source, absent}}, {"H2", "S", ""}});
  entry.sets.push_back({{{source, absent}}, {"S", ""}});
  entry.sets.push_back({{{header, source}}, {"H1", "S"}});
  return entry;
}

Record sample_record() {
  Record record;
  record.weak_key.hash = digest::digest_of("weak").hash;
  record.outputs.push_back(
      {"\x01"
       "build\x02/k.o",
       NodeKind::file, 0644, OutputRole::plain, digest::digest_of("object"), ""});
  record.outputs.push_back(
      {"\x01"
       "build\x02/k.d",
       NodeKind::file, 0600, OutputRole::depfile, digest::digest_of("k.o: k.cpp"), ""});
  record.outputs.push_back(
      {"\x01"
       "build\x02/l",
       NodeKind::symlink,
       0777,
       OutputRole::plain,
       {},
       "k.o"});
  record.err = digest::digest_of("warning");
  record.tier = Tier::notify;
  record.created_ns = 1'800'000'000'000'000'000;
  record.wall_ns = 12'345'678;
  record.peak_rss_bytes = 1 << 20;
  record.programs = {"/usr/bin/g++"};
  record.notes = {{ReasonCode::nondeterministic,
                   "\x01"
                   "build\x02/k.o",
                   "", ""}};
  return record;
}

TEST(Golden, Derivation) {
  const auto entry = sample_entry();
  const Derivation derivation{
      {digest::digest_of("weak").hash}, entry.command, entry.sets[0].paths, entry.sets[0].answers};
  const std::string bytes = encode(derivation);
  test::expect_golden(HALLMARK_SOURCE_DIR, "derivation", bytes);
  EXPECT_EQ(*decode_derivation(bytes), derivation);
}

TEST(Golden, Places) {
  const Places places = {{"root", "/home/u/kernels"}, {"PATH", "/usr/bin:/bin"}};
  test::expect_golden(HALLMARK_SOURCE_DIR, "places", encode(places));
}

TEST(Golden, WeakEntry) {
  test::expect_golden(HALLMARK_SOURCE_DIR, "weak_entry", encode(sample_entry()));
  EXPECT_EQ(decode_weak_entry(test::golden_bytes(HALLMARK_SOURCE_DIR, "weak_entry")).value(), sample_entry());
}

TEST(Golden, Record) {
  test::expect_golden(HALLMARK_SOURCE_DIR, "record", encode(sample_record()));
  EXPECT_EQ(decode_record(test::golden_bytes(HALLMARK_SOURCE_DIR, "record")).value(), sample_record());
}

TEST(Golden, StrongKey) {
  const SeenSet set = sample_entry().sets[0];
  const digest::Key weak{digest::digest_of("weak").hash};
  test::expect_golden(HALLMARK_SOURCE_DIR, "strong_key",
                      as_text(strong_key(weak, set.paths, set.answers).hash));
}

TEST(Golden, Reason) {
  digest::Encoder out;
  encode(out, Reason{ReasonCode::variable_changed, "NVCC_APPEND_FLAGS", std::string(kUnset), "-DVAL=2"});
  test::expect_golden(HALLMARK_SOURCE_DIR, "reason", out.bytes());
}

}  // namespace
}  // namespace hallmark::model
