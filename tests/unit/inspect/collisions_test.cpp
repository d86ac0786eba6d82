#include "inspect/collisions.h"

#include <gtest/gtest.h>

namespace hallmark::inspect {
namespace {

Export symbol(std::string name, Binding binding = Binding::global, std::string_view content = {}) {
  Export made;
  made.name = std::move(name);
  made.binding = binding;
  made.is_used = true;
  if (!content.empty()) made.content = digest::digest_of(content).hash;
  return made;
}

ElfFacts library(std::vector<Export> exports) {
  ElfFacts facts;
  facts.type = ElfType::shared;
  facts.exports = std::move(exports);
  return facts;
}

std::vector<Collision> collide(const std::vector<ElfFacts>& files,
                               const std::set<std::string>& kernels = {}) {
  std::vector<Together> together;
  for (const auto& file : files) together.push_back({&file, kernels});
  return find_collisions(together);
}

TEST(Collisions, StrongOnesMatterAndTheFirstWins) {
  const auto found = collide({library({symbol("f"), symbol("only")}), library({symbol("f", Binding::weak)})});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].symbol, "f");
  EXPECT_EQ(found[0].kind, CollisionKind::strong);
  EXPECT_EQ(found[0].harmless, Harmless::no);
  EXPECT_EQ(found[0].definitions[0].file, 0u);
  EXPECT_EQ(found[0].definitions[1].binding, Binding::weak);
}

TEST(Collisions, AProgramIsLoadedFirst) {
  auto program = library({symbol("f")});
  program.type = ElfType::executable;
  const auto found = collide({library({symbol("f")}), program});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].definitions[0].file, 1u);
}

TEST(Collisions, WhoBindsToItsOwnLosesNothing) {
  auto symbolic = library({symbol("f")});
  symbolic.is_symbolic = true;
  EXPECT_EQ(collide({library({symbol("f")}), symbolic})[0].harmless, Harmless::own);
  EXPECT_EQ(collide({symbolic, library({symbol("f")})})[0].harmless, Harmless::no);
  auto unused = library({symbol("f")});
  unused.exports[0].is_used = false;
  EXPECT_EQ(collide({library({symbol("f")}), unused})[0].harmless, Harmless::own);
  auto importer = library({});
  importer.imports = {"f"};
  EXPECT_EQ(collide({library({symbol("f")}), unused, importer})[0].harmless, Harmless::no);
  auto protected_one = library({symbol("f")});
  protected_one.exports[0].is_protected = true;
  EXPECT_EQ(collide({library({symbol("f")}), protected_one})[0].harmless, Harmless::own);
}

TEST(Collisions, UniqueIsSharedEvenBySymbolicLibraries) {
  auto second = library({symbol("_ZZN1PEvE1x", Binding::unique)});
  second.is_symbolic = true;
  const auto found = collide({library({symbol("_ZZN1PEvE1x", Binding::unique)}), second});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, CollisionKind::unique);
  EXPECT_EQ(found[0].harmless, Harmless::no);
}

TEST(Collisions, InlineCodeIsHarmlessIfItIsTheSame) {
  const auto one = library({symbol("_Z1fv", Binding::weak, "code")});
  EXPECT_EQ(collide({one, one})[0].harmless, Harmless::equal_code);
  const auto other = library({symbol("_Z1fv", Binding::weak, "other")});
  EXPECT_EQ(collide({one, other})[0].kind, CollisionKind::weak);
  EXPECT_EQ(collide({one, other})[0].harmless, Harmless::no);
  const auto data = library({symbol("_Z1fv", Binding::weak)});
  EXPECT_EQ(collide({data, data})[0].harmless, Harmless::no) << "a variable is shared";
}

TEST(Collisions, TheStandardLibrarysTemplatesAreOrdinary) {
  for (const auto* name : {"_ZNSt6vectorIiSaIiEE9push_backEOi", "_ZNKSt5ctypeIcE8do_widenEc", "_ZSt4endlIcE",
                           "_ZTVSt12bad_any_cast", "_ZNSs4_RepE", "_ZN9__gnu_cxx13new_allocatorE",
                           "_ZZNSt19_Sp_make_shared_tag5_S_tiEvE5__tag", "_ZGVZNSt1xE", "_ZTISt9exception"}) {
    const auto one = library({symbol(name, Binding::weak, "a")});
    const auto two = library({symbol(name, Binding::unique, "b")});
    EXPECT_EQ(collide({one, two})[0].harmless, Harmless::cxx_library) << name;
  }
  for (const auto* name : {"_Z4sortv", "_ZN2StE", "_ZN3fooSt", "Stream", "_ZN5S_fooE"}) {
    const auto one = library({symbol(name, Binding::weak, "a")});
    const auto two = library({symbol(name, Binding::weak, "b")});
    EXPECT_EQ(collide({one, two})[0].harmless, Harmless::no) << name;
  }
  const auto strong = library({symbol("_ZNSt3fooE")});
  EXPECT_EQ(collide({strong, strong})[0].harmless, Harmless::no) << "a private copy of the library";
}

TEST(Collisions, KernelsComeFirst) {
  const auto one = library({symbol("a"), symbol("_Z1kPi", Binding::weak, "same"),
                            symbol("_Z16__device_stub__kPi", Binding::weak, "same")});
  const auto found = collide({one, one}, {"_Z1kPi"});
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].kind, CollisionKind::kernel);
  EXPECT_EQ(found[1].kind, CollisionKind::kernel);
  EXPECT_EQ(found[1].harmless, Harmless::no) << "the handle is another's, whatever its bytes";
  EXPECT_EQ(found[2].symbol, "a");
}

TEST(Collisions, VersionsTellSymbolsApart) {
  const auto versioned = [](std::string version) {
    auto made = library({symbol("f")});
    made.exports[0].version = std::move(version);
    return made;
  };
  EXPECT_TRUE(collide({versioned("V1"), versioned("V2")}).empty());
  EXPECT_EQ(collide({versioned("V1"), versioned("V1")}).size(), 1u);
  const auto found = collide({versioned("V1"), versioned("V2"), versioned("")});
  ASSERT_EQ(found.size(), 2u) << "one without a version answers for all";
  EXPECT_EQ(found[0].version, "V1");
  EXPECT_EQ(found[1].definitions.size(), 2u);
}

TEST(Collisions, ObjectsAndDeviceCodeAreNotLoaded) {
  auto object = library({symbol("f")});
  object.type = ElfType::relocatable;
  auto device = library({symbol("f")});
  device.is_of_device = true;
  EXPECT_TRUE(collide({library({symbol("f")}), object, device}).empty());
}

}  // namespace
}  // namespace hallmark::inspect
