// The JSON schema of docs/formats and the parser know the same keys.
#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "manifest/parse.h"

namespace hallmark::manifest {
namespace {

using Names = std::set<std::string>;

constexpr std::string_view kUnknown = "qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq";

/// The keys that parse() knows in the table at whose end `text` stops: it lists them for a key that is like
/// none.
Names known_keys(const std::string& text) {
  const auto parsed = parse("schema = 1\n" + text + std::string(kUnknown) + " = 1\n", "F");
  for (const auto& problem : parsed.problems) {
    if (problem.what.find(kUnknown) == std::string::npos) continue;
    constexpr std::string_view kListed = "known are ";
    EXPECT_TRUE(problem.hint.starts_with(kListed)) << problem.hint;
    Names names;
    for (auto rest = std::string_view(problem.hint).substr(kListed.size()); !rest.empty();) {
      const auto end = std::min(rest.find(", "), rest.size());
      names.emplace(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 2, rest.size()));
    }
    return names;
  }
  ADD_FAILURE() << "an unknown key was passed over in\n" << text;
  return {};
}

class Schema : public ::testing::Test {
 protected:
  Schema() {
    std::ifstream file(HALLMARK_SOURCE_DIR "/docs/formats/manifest.schema.json");
    schema_ = nlohmann::json::parse(file);
  }
  Names keys(const std::string& definition) {
    const auto& table = definition.empty() ? schema_ : schema_.at("$defs").at(definition);
    EXPECT_EQ(table.at("additionalProperties"), false) << definition;
    Names names;
    for (const auto& [name, value] : table.at("properties").items()) names.insert(name);
    compared_.insert(definition);
    return names;
  }
  nlohmann::json schema_;
  Names compared_;
};

TEST_F(Schema, HasTheKeysOfTheParser) {
  EXPECT_EQ(known_keys(""), keys(""));
  EXPECT_EQ(known_keys("[project]\n"), keys("project"));
  auto source = known_keys("[source.a]\ngit = \"x\"\n");
  source.merge(known_keys("[source.a]\narchive = \"x\"\n"));
  EXPECT_EQ(source, keys("source"));
  EXPECT_EQ(known_keys("[source.a]\ngit = \"x\"\n[source.a.expects]\n"), keys("expects"));
  EXPECT_EQ(known_keys("[[source.a.expects.struct]]\n"), keys("expected_struct"));
  EXPECT_EQ(known_keys("[[source.a.expects.declaration]]\n"), keys("expected_declaration"));
  EXPECT_EQ(known_keys("[toolchain.cpu]\n"), keys("toolchain"));
  EXPECT_EQ(known_keys("[toolchain.hip]\n"), keys("toolchain"));
  EXPECT_EQ(known_keys("[toolchain.cuda]\n"), keys("cuda_toolchain"));
  EXPECT_EQ(known_keys("[build]\n"), keys("build"));
  EXPECT_EQ(known_keys("[option.a]\n"), keys("option"));
  EXPECT_EQ(known_keys("[profile.a]\n"), keys("profile"));
  EXPECT_EQ(known_keys("[[codegen]]\n"), keys("codegen"));
  EXPECT_EQ(known_keys("[library.a]\n"), keys("library"));
  EXPECT_EQ(known_keys("[library.a.flags]\n"), keys("library_flags"));
  EXPECT_EQ(known_keys("[[library.a.embed]]\n"), keys("embed"));
  EXPECT_EQ(known_keys("[[library.a.kernel]]\n"), keys("kernel"));
  EXPECT_EQ(known_keys("[[library.a.kernel]]\n[[library.a.kernel.alias]]\n"), keys("alias"));
  for (const auto& [name, definition] : schema_.at("$defs").items())
    EXPECT_EQ(definition.contains("properties"), compared_.contains(name)) << name;
}

TEST_F(Schema, ThePageHasEveryKey) {
  std::ifstream file(HALLMARK_SOURCE_DIR "/docs/formats/manifest.md");
  const std::string page((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  for (const auto& [name, definition] : schema_.at("$defs").items()) {
    if (!definition.contains("properties")) continue;
    for (const auto& [key, value] : definition.at("properties").items()) {
      const bool is_there = page.find("`" + key + "`") != std::string::npos ||
                            page.find(" " + key + " =") != std::string::npos ||
                            page.find("." + key + "]") != std::string::npos;
      EXPECT_TRUE(is_there) << name << ": " << key;
    }
  }
}

}  // namespace
}  // namespace hallmark::manifest
