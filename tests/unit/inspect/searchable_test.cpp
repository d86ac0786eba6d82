#include "inspect/searchable.h"

#include <gtest/gtest.h>
#include <zstd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "inspect/fat_binary.h"

namespace hallmark::inspect {
namespace {

struct Found {
  Visibility visibility;
  bool text;
};

Found search(std::string_view bytes, std::string_view text) {
  Found found{Visibility::opaque, false};
  found.visibility = visit_searchable(
      bytes, [&](std::string_view run) { found.text |= run.find(text) != std::string_view::npos; });
  return found;
}

/// One container with one entry, as the header of fat_binary.h describes it.
std::string container(PartKind kind, std::string_view payload, bool zstd) {
  std::string packed(payload);
  if (zstd) {
    packed.resize(ZSTD_compressBound(payload.size()));
    packed.resize(ZSTD_compress(packed.data(), packed.size(), payload.data(), payload.size(), 3));
  }
  std::string entry(64, '\0');
  const auto put = [](std::string& into, std::size_t at, auto value) {
    std::memcpy(&into[at], &value, sizeof value);
  };
  put(entry, 0, static_cast<std::uint16_t>(kind));
  put(entry, 4, std::uint32_t{64});
  put(entry, 8, std::uint64_t{packed.size()});
  put(entry, 16, zstd ? static_cast<std::uint32_t>(packed.size()) : 0u);
  put(entry, 28, std::uint32_t{90});
  put(entry, 40, std::uint64_t{zstd ? 0x8000u : 0u});
  put(entry, 56, std::uint64_t{payload.size()});
  entry += packed;
  std::string all(16, '\0');
  put(all, 0, std::uint32_t{0xBA55ED50});
  put(all, 4, std::uint16_t{1});
  put(all, 6, std::uint16_t{16});
  put(all, 8, std::uint64_t{entry.size()});
  return all + entry;
}

/// Text of few letters without repeats, so that zstd stores it as Huffman codes and the secret is not
/// readable in them.
std::string ptx(std::string_view secret) {
  std::string text = ".version 9.0\n// ";
  std::uint32_t state = 1;
  for (int i = 0; i < 4000; ++i) {
    if (i == 2000) text += secret;
    state = state * 1664525 + 1013904223;
    text.push_back("abcdehmorsu/"[(state >> 16) % 12]);
  }
  return text + "\n";
}

class Scratch : public testing::Test {
 protected:
  void SetUp() override {
    std::string form = (std::filesystem::temp_directory_path() / "searchable.XXXXXX").string();
    ASSERT_NE(mkdtemp(form.data()), nullptr);
    folder_ = form;
    std::ofstream(folder_ / "a.c") << "int f(int x) { return x + 1; }\n";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string compile(const std::string& flags) {
    const std::string command =
        "cd " + folder_.string() + " && gcc " + flags + " -c " + (folder_ / "a.c").string() + " -o a.o";
    EXPECT_EQ(std::system(command.c_str()), 0);
    return read("a.o");
  }
  std::string read(const std::string& name) {
    std::ostringstream text;
    text << std::ifstream(folder_ / name).rdbuf();
    return text.str();
  }

  std::filesystem::path folder_;
};

TEST(Searchable, TextIsClear) {
  EXPECT_EQ(search("hello\n\tworld", "wor").visibility, Visibility::clear);
  EXPECT_TRUE(search("hello\n\tworld", "wor").text);
}

TEST(Searchable, UnknownBytesAreOpaque) {
  EXPECT_EQ(search(std::string_view("\x1f\x8b\x08\0\1", 5), "x").visibility, Visibility::opaque);
}

TEST(Searchable, FindsTextInsideACompressedPart) {
  const auto bytes = container(PartKind::ptx, ptx("/home/a/src"), true);
  ASSERT_EQ(bytes.find("/home/a/src"), std::string::npos) << "the test must need the unpacking";
  const auto found = search(bytes, "/home/a/src");
  EXPECT_EQ(found.visibility, Visibility::clear);
  EXPECT_TRUE(found.text);
  EXPECT_FALSE(search(bytes, "/home/b/src").text);
}

TEST(Searchable, DamagedFatBinaryIsOpaqueNeverACrash) {
  const auto bytes = container(PartKind::ptx, ptx("/home/a/src"), true);
  for (std::size_t size = 5;  // shorter ones are text
       size < bytes.size(); ++size) {
    EXPECT_EQ(search(std::string_view(bytes).substr(0, size), "x").visibility, Visibility::opaque) << size;
  }
  for (std::size_t at = 0; at < bytes.size(); at += at < 100 ? 1 : 37) {
    auto damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    (void)search(damaged, "x");
  }
}

TEST(FatBinary, TellsKindAndArch) {
  int parts = 0;
  const auto bytes = container(PartKind::ptx, ptx(""), true) + container(PartKind::ptx, ptx(""), false);
  ASSERT_TRUE(for_each_part(bytes, [&](const FatBinaryPart& part) {
    ++parts;
    EXPECT_EQ(part.kind, PartKind::ptx);
    EXPECT_EQ(part.arch, 90u);
    EXPECT_TRUE(part.bytes.starts_with(".version"));
  }));
  EXPECT_EQ(parts, 2);
}

TEST_F(Scratch, PlainObjectIsClearAndHoldsNoFolder) {
  const auto found = search(compile("-O2"), folder_.string());
  EXPECT_EQ(found.visibility, Visibility::clear);
  EXPECT_FALSE(found.text);
}

TEST_F(Scratch, DebugObjectNamesItsFolderPackedOrNot) {
  const auto plain = search(compile("-g -gz=none"), folder_.string());
  EXPECT_EQ(plain.visibility, Visibility::clear);
  EXPECT_TRUE(plain.text);
  const auto packed_bytes = compile("-g -gz");
  const auto packed = search(packed_bytes, folder_.string());
  EXPECT_EQ(packed.visibility, Visibility::clear);
  EXPECT_TRUE(packed.text);
}

TEST_F(Scratch, LinkTimeCodeIsOpaque) {
  EXPECT_EQ(search(compile("-flto"), "x").visibility, Visibility::opaque);
}

TEST_F(Scratch, ArchiveIsAsClearAsItsMembers) {
  compile("-O2");
  ASSERT_EQ(std::system(("cd " + folder_.string() + " && ar rc a.a a.o").c_str()), 0);
  EXPECT_EQ(search(read("a.a"), folder_.string()).visibility, Visibility::clear);
  compile("-flto");
  ASSERT_EQ(std::system(("cd " + folder_.string() + " && rm a.a && ar rc a.a a.o 2>/dev/null").c_str()), 0);
  EXPECT_EQ(search(read("a.a"), folder_.string()).visibility, Visibility::opaque);
}

}  // namespace
}  // namespace hallmark::inspect
