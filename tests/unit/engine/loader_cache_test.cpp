#include "engine/internal/loader_cache.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cstring>

#include "support/fake_clock.h"
#include "support/fake_file_system.h"

namespace hallmark::engine {
namespace {

struct Entry {
  std::string soname;
  std::string path;
  std::uint32_t flags = 0x303;
  std::uint64_t capabilities = 0;
};

template <class T>
void append_number(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

/// A cache file as glibc's ldconfig writes it: header, entries, then the strings they point to.
std::string cache_file(const std::vector<Entry>& entries) {
  std::string strings;
  std::string table;
  const auto strings_at = static_cast<std::uint32_t>(48 + 24 * entries.size());
  const auto place = [&](const std::string& text) {
    const auto at = strings_at + static_cast<std::uint32_t>(strings.size());
    strings += text + '\0';
    return at;
  };
  for (const auto& entry : entries) {
    append_number(table, entry.flags);
    append_number(table, place(entry.soname));
    append_number(table, place(entry.path));
    append_number(table, std::uint32_t{0});
    append_number(table, entry.capabilities);
  }
  std::string file = "glibc-ld.so.cache1.1";
  append_number(file, static_cast<std::uint32_t>(entries.size()));
  append_number(file, static_cast<std::uint32_t>(strings.size()));
  file.resize(48, '\0');
  return file + table + strings;
}

const std::vector<Entry> kSample{{"libc.so.6", "/lib/libc.so.6"},
                                 {"libcudart.so.12", "/opt/cuda/libcudart.so.12"},
                                 {"libm.so.6", "/lib/hwcaps/libm.so.6", 0x303, 4},
                                 {"libm.so.6", "/lib/libm.so.6"}};

TEST(LoaderCache, AnswersWithEveryEntryOfASoname) {
  const LoaderCache cache(cache_file(kSample));
  EXPECT_EQ(cache.answer("libc.so.6"), "/lib/libc.so.6 771 0\n");
  EXPECT_EQ(cache.answer("libm.so.6"), "/lib/hwcaps/libm.so.6 771 4\n/lib/libm.so.6 771 0\n");
  EXPECT_EQ(cache.answer("libnone.so.1"), "");
  EXPECT_EQ(cache.answer("libc.so"), "") << "no prefix of a name";
}

TEST(LoaderCache, OtherLibrariesDoNotChangeAnAnswer) {
  auto more = kSample;
  more.insert(more.begin() + 1, {"libc6.so.1", "/lib/libc6.so.1"});
  EXPECT_EQ(LoaderCache(cache_file(more)).answer("libm.so.6"),
            LoaderCache(cache_file(kSample)).answer("libm.so.6"));
}

TEST(LoaderCache, WhatIsNotUnderstoodCountsAsAWhole) {
  const LoaderCache absent("");
  const LoaderCache old("ld.so-1.7.0 and more than the forty-eight bytes of a header");
  EXPECT_TRUE(absent.answer("libc.so.6").starts_with("whole "));
  EXPECT_NE(old.answer("libc.so.6"), absent.answer("libc.so.6"));
  auto newer = cache_file(kSample);
  newer[19] = '2';
  EXPECT_TRUE(LoaderCache(newer).answer("libc.so.6").starts_with("whole "));
}

TEST(LoaderCache, ACountBeyondTheEndIsNotUnderstood) {
  auto file = cache_file(kSample);
  const std::uint32_t count = 0xffffffff;
  std::memcpy(file.data() + 20, &count, sizeof count);
  EXPECT_TRUE(LoaderCache(file).answer("libc.so.6").starts_with("whole "));
}

TEST(LoaderCache, IsReadFromItsPlace) {
  test::FakeClock clock;
  test::FakeFileSystem disk(clock);
  EXPECT_EQ(LoaderCache::read(disk).answer("libc.so.6"), LoaderCache("").answer("libc.so.6"));
  disk.put("/etc/ld.so.cache", cache_file(kSample));
  EXPECT_EQ(LoaderCache::read(disk).answer("libc.so.6"), "/lib/libc.so.6 771 0\n");
}

RC_GTEST_PROP(LoaderCacheProperty, DamagedBytesAreReadWithoutHarm, ()) {
  auto file = cache_file(kSample);
  for (int i = *rc::gen::inRange(0, 8); i > 0; --i)
    file[*rc::gen::inRange<std::size_t>(0, file.size())] = *rc::gen::arbitrary<char>();
  file.resize(*rc::gen::inRange<std::size_t>(0, file.size() + 1));
  // A copy of just that size, so that a sanitizer sees a byte too many.
  const LoaderCache cache{std::string(file.data(), file.size())};
  for (const char* name : {"libc.so.6", "libm.so.6", ""}) (void)cache.answer(name);
}

TEST(LoaderCache, LibraryNames) {
  for (const char* name : {"libc.so.6", "libcudart.so", "x.so.1.2.3", "ld-linux-x86-64.so.2"})
    EXPECT_TRUE(is_library_name(name)) << name;
  for (const char* name : {"libc.a", ".so", "libc.sox", "so", "ld.so-cache", ""})
    EXPECT_FALSE(is_library_name(name)) << name;
}

}  // namespace
}  // namespace hallmark::engine
