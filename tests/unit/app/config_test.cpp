#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <fstream>
#include <sstream>

#include "app/config_cache.h"
#include "app/config_file.h"
#include "support/fake_clock.h"
#include "support/fake_file_system.h"

namespace hallmark::app {
namespace {

Result<FileSettings> parse(std::string_view text) {
  return parse_config(text, "/p/config.toml", "/p", "/h");
}

std::string error_of(std::string_view text) {
  const auto parsed = parse(text);
  return parsed.has_value() ? "no error" : parsed.error().message();
}

TEST(ConfigFile, ReadsEveryKey) {
  const auto parsed = parse(
      "store = \"cache\"\nobserve = \"notify\"\ndisable = true\nignore_environment = [\"A\", \"B_*\"]\n");
  ASSERT_TRUE(parsed.has_value()) << parsed.error().message();
  EXPECT_EQ(parsed->store, "/p/cache");
  EXPECT_EQ(parsed->observe, model::Tier::notify);
  EXPECT_EQ(parsed->disable, true);
  EXPECT_EQ(parsed->ignore_environment, (std::vector<std::string>{"A", "B_*"}));
}

TEST(ConfigFile, WhatIsLeftOutIsUnset) {
  EXPECT_EQ(parse("# nothing\n").value(), FileSettings());
}

TEST(ConfigFile, StoresAreAbsoluteBelowHomeOrBelowTheBase) {
  EXPECT_EQ(parse("store = \"/a\"")->store, "/a");
  EXPECT_EQ(parse("store = \"~/a\"")->store, "/h/a");
  EXPECT_EQ(parse("store = \"a/b\"")->store, "/p/a/b");
  EXPECT_NE(parse_config("store = \"~/a\"", "/f", "/p", "").error().message().find("HOME"),
            std::string::npos);
}

TEST(ConfigFile, ErrorsNameFileLineAndWhatIsAllowed) {
  EXPECT_NE(error_of("\nstroe = \"x\"").find("/p/config.toml:2: unknown key \"stroe\"; known are store"),
            std::string::npos);
  EXPECT_NE(error_of("observe = \"magic\"").find(":1: observe must be hybrid, notify"), std::string::npos);
  EXPECT_NE(error_of("store = 1").find("store must be"), std::string::npos);
  EXPECT_NE(error_of("store = \"\"").find("store must be"), std::string::npos);
  EXPECT_NE(error_of("disable = \"no\"").find("true or false"), std::string::npos);
  EXPECT_NE(error_of("ignore_environment = \"A\"").find("must be a list"), std::string::npos);
  EXPECT_NE(error_of("ignore_environment = [\"*\"]").find("must be a list"), std::string::npos);
  EXPECT_NE(error_of("store = ").find("/p/config.toml:1: "), std::string::npos);
}

/// One of each, so that the golden holds every field.
CompiledConfig full_config() {
  CompiledConfig config;
  config.files = {"/h/.config/hallmark/config.toml", "/p/.hallmark/config.toml", {}, {}};
  config.files.user = {"/store", model::Tier::ptrace, true, {"A", "B*"}};
  config.files.root.disable = false;
  config.signature.user = FileStat{1, 2, 3, -4, 5, 0, NodeKind::other};
  return config;
}

TEST(ConfigCache, DecodesWhatItEncoded) {
  EXPECT_EQ(decode_config(encode(full_config())), full_config());
  EXPECT_EQ(decode_config(encode(CompiledConfig())), CompiledConfig());
}

TEST(ConfigCache, TheGoldenIsUnchanged) {
  std::ifstream file(std::string(HALLMARK_SOURCE_DIR) + "/tests/golden/config-v1.bin", std::ios::binary);
  std::ostringstream golden;
  golden << file.rdbuf();
  EXPECT_EQ(to_hex(as_bytes(encode(full_config()))), to_hex(as_bytes(golden.str())));
}

RC_GTEST_PROP(ConfigCache, AnyDamageIsSeen, ()) {
  std::string bytes = encode(full_config());
  const auto at = *rc::gen::inRange<std::size_t>(0, bytes.size());
  const auto flip = *rc::gen::inRange(1, 256);
  if (*rc::gen::arbitrary<bool>()) {
    bytes[at] = static_cast<char>(bytes[at] ^ flip);
  } else {
    bytes.resize(at);
  }
  RC_ASSERT(!decode_config(bytes).has_value());
}

class LoadConfig : public testing::Test {
 protected:
  LoadConfig() { files_.put("/src/a", ""); }

  Result<ConfigFiles> load() {
    return load_config(files_, environment_, "/src", [&] {
      ++compiled_;
      return compile_config(files_, clock_, environment_, "/src");
    });
  }

  test::FakeClock clock_;
  test::FakeFileSystem files_{clock_};
  model::Environment environment_{{"HOME", "/h"}};
  int compiled_ = 0;
};

TEST_F(LoadConfig, WithoutFilesNothingIsCompiled) {
  EXPECT_EQ(load().value(), config_paths(environment_, "/src"));
  EXPECT_EQ(compiled_, 0);
}

TEST_F(LoadConfig, IsCompiledOncePerEdit) {
  files_.put("/src/.hallmark/config.toml", "store = \"s\"");
  clock_.advance_ms(1000);
  EXPECT_EQ(load()->root.store, "/src/s");
  EXPECT_EQ(load()->root.store, "/src/s");
  EXPECT_EQ(compiled_, 1);

  files_.put("/src/.hallmark/config.toml", "store = \"t\"");
  clock_.advance_ms(1000);
  EXPECT_EQ(load()->root.store, "/src/t");
  EXPECT_EQ(compiled_, 2);

  files_.put("/h/.config/hallmark/config.toml", "disable = true");
  clock_.advance_ms(1000);
  EXPECT_EQ(load()->user.disable, true);
  EXPECT_EQ(load()->root.store, "/src/t");
  EXPECT_EQ(compiled_, 3);
}

TEST_F(LoadConfig, AFileOfThisVeryMomentIsNotTrusted) {
  files_.put("/src/.hallmark/config.toml", "store = \"s\"");
  EXPECT_EQ(load()->root.store, "/src/s");
  EXPECT_EQ(load()->root.store, "/src/s");
  EXPECT_EQ(compiled_, 2);
}

TEST_F(LoadConfig, ADamagedCacheIsCompiledAnew) {
  files_.put("/src/.hallmark/config.toml", "store = \"s\"");
  clock_.advance_ms(1000);
  ASSERT_TRUE(load().has_value());
  const std::string cache = config_cache_path(environment_, config_paths(environment_, "/src"));
  files_.damage(cache, "garbage");
  EXPECT_EQ(load()->root.store, "/src/s");
  EXPECT_EQ(compiled_, 2);
}

TEST_F(LoadConfig, WorksWithoutAPlaceForTheCache) {
  environment_.clear();
  files_.put("/src/.hallmark/config.toml", "store = \"s\"");
  clock_.advance_ms(1000);
  EXPECT_EQ(load()->root.store, "/src/s");
  files_.set_read_only(true);
  environment_["HOME"] = "/h";
  EXPECT_EQ(load()->root.store, "/src/s");
}

TEST_F(LoadConfig, AnErrorIsPassedOn) {
  files_.put("/src/.hallmark/config.toml", "x = 1");
  EXPECT_NE(load().error().message().find("/src/.hallmark/config.toml:1"), std::string::npos);
}

}  // namespace
}  // namespace hallmark::app
