#include "app/settings.h"

#include <gtest/gtest.h>

namespace hallmark::app {
namespace {

Sourced<std::string> root() {
  return {"/src", Origin::standard, {}};
}

TEST(Settings, WithoutAnythingTheStoreLiesInTheCacheFolder) {
  const Settings settings = merge({}, {{"HOME", "/home/a"}}, root(), "/src");
  EXPECT_EQ(settings.store.value, "/home/a/.cache/hallmark");
  EXPECT_EQ(settings.store.origin, Origin::standard);
  EXPECT_EQ(settings.observe.value, model::Tier::hybrid);
  EXPECT_FALSE(settings.disable.value);
  EXPECT_EQ(settings.ignore_environment.size(), shipped_ignored_variables().size());
}

TEST(Settings, XdgFoldersWinOverHomeUnlessRelative) {
  EXPECT_EQ(standard_store({{"HOME", "/h"}, {"XDG_CACHE_HOME", "/c"}}), "/c/hallmark");
  EXPECT_EQ(standard_store({{"HOME", "/h"}, {"XDG_CACHE_HOME", "c"}}), "/h/.cache/hallmark");
  EXPECT_EQ(user_config_path({{"HOME", "/h"}, {"XDG_CONFIG_HOME", "/c"}}), "/c/hallmark/config.toml");
  EXPECT_EQ(user_config_path({{"HOME", "/h"}}), "/h/.config/hallmark/config.toml");
  EXPECT_EQ(standard_store({}), "");
  EXPECT_EQ(user_config_path({}), "");
}

TEST(Settings, EachLayerWinsOverTheOnesBelow) {
  ConfigFiles files{"/u.toml", "/src/.hallmark/config.toml", {}, {}};
  files.user.store = "/user";
  files.user.observe = model::Tier::ptrace;
  files.user.disable = true;
  files.user.ignore_environment = {"A"};
  files.root.store = "/root-file";
  files.root.disable = false;
  files.root.ignore_environment = {"B*"};

  Settings settings = merge(files, {{"HOME", "/h"}}, root(), "/src");
  EXPECT_EQ(settings.store.value, "/root-file");
  EXPECT_EQ(settings.store.where, "/src/.hallmark/config.toml");
  EXPECT_EQ(settings.observe.value, model::Tier::ptrace);
  EXPECT_EQ(settings.observe.where, "/u.toml");
  EXPECT_FALSE(settings.disable.value);
  ASSERT_GE(settings.ignore_environment.size(), 2u);
  EXPECT_EQ(settings.ignore_environment[settings.ignore_environment.size() - 2].value, "A");
  EXPECT_EQ(settings.ignore_environment.back().value, "B*");

  settings =
      merge(files, {{"HALLMARK_STORE", "s"}, {"HALLMARK_OBSERVE", "notify"}, {"HALLMARK_DISABLE", "1"}},
            root(), "/cwd");
  EXPECT_EQ(settings.store.value, "/cwd/s");
  EXPECT_EQ(settings.store.origin, Origin::environment);
  EXPECT_EQ(settings.observe.value, model::Tier::notify);
  EXPECT_TRUE(settings.disable.value);
}

TEST(Settings, AWordThatIsNotUnderstoodIsSaidAndPassedOver) {
  const Settings settings = merge({}, {{"HALLMARK_OBSERVE", "magic"}}, root(), "/src");
  EXPECT_EQ(settings.observe.value, model::Tier::hybrid);
  ASSERT_EQ(settings.warnings.size(), 1u);
  EXPECT_NE(settings.warnings[0].find("HALLMARK_OBSERVE=magic"), std::string::npos);
  EXPECT_NE(settings.warnings[0].find("hybrid, notify, ptrace"), std::string::npos);
}

TEST(Settings, DisableIsAnythingButEmptyAndZero) {
  EXPECT_FALSE(is_disabled({}));
  EXPECT_FALSE(is_disabled({{"HALLMARK_DISABLE", ""}}));
  EXPECT_FALSE(is_disabled({{"HALLMARK_DISABLE", "0"}}));
  EXPECT_TRUE(is_disabled({{"HALLMARK_DISABLE", "1"}}));
  EXPECT_TRUE(is_disabled({{"HALLMARK_DISABLE", "yes"}}));
}

}  // namespace
}  // namespace hallmark::app
